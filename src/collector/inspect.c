// SPDX-License-Identifier: Apache-2.0
#include "src/collector/inspect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elf.h>

#include "cuprobe/abi.h"
#include "src/collector/notes.h"
#include "src/collector/procs.h"

#define VARIABLE "CUDA_INJECTION64_PATH"

/* A look at the mappings of one process. */
struct look {
	struct inspection *inspection;
	pid_t thread;
	struct notes notes; /* of the library */
};

static int look_library(struct look *l, const struct proc_mapping *m)
{
	struct inspection *in = l->inspection;
	char why[256];
	int fd;

	if (in->library)
		return 0;
	fd = proc_open_mapping(l->thread, m);
	if (fd < 0)
		return 0;
	if (!notes_read(&l->notes, fd, why, sizeof(why))) {
		in->library = true;
		in->deleted = m->deleted;
		snprintf(in->path, sizeof(in->path), "%s", m->path);
	}
	close(fd);
	return 0;
}

/* The semaphores lie in the process's own copy of a page of the file. */
static void look_semaphores(struct look *l, const struct proc_mapping *m)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", l->thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; fd >= 0 && i < l->notes.count; i++) {
		const struct probe_site *site = &l->notes.sites[i];
		__u64 at = site->semaphore_offset - m->offset;
		unsigned short value;

		if (site->semaphore_offset < m->offset || at >= m->end - m->start)
			continue;
		if (pread(fd, &value, sizeof(value), (off_t)(m->start + at)) == sizeof(value) &&
		    value)
			l->inspection->consumed |= 1U << site->probe;
	}
	if (fd >= 0)
		close(fd);
}

static int look_mapping(void *arg, const struct proc_mapping *m)
{
	struct look *l = arg;
	struct inspection *in = l->inspection;

	in->driver = in->driver || cuda_driver_named(m->path);
	in->runtime = in->runtime || cuda_runtime_named(m->path);
	if (!library_named(m->path))
		return 0;
	look_library(l, m);
	if (in->library && m->writable && !strcmp(m->path, in->path))
		look_semaphores(l, m);
	return 0;
}

/* Set-user-id and the like: the loader and the driver do not trust the environment then. */
static bool is_secure(pid_t thread)
{
	Elf64_auxv_t entry;
	bool secure = false;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", thread);
	file = fopen(path, "re");
	while (file && fread(&entry, sizeof(entry), 1, file) == 1) {
		if (entry.a_type == AT_SECURE)
			secure = entry.a_un.a_val != 0;
	}
	if (file)
		fclose(file);
	return secure;
}

static void explain_file(struct inspection *in, pid_t thread, const char *path)
{
	struct notes notes = {0};
	char why[256];
	int fd = proc_open_file(thread, path);

	if (fd < 0)
		snprintf(in->why, sizeof(in->why), VARIABLE " names '%s': %s", path, strerror(-fd));
	else if (notes_read(&notes, fd, why, sizeof(why)))
		snprintf(in->why, sizeof(in->why), VARIABLE " names '%s', which is not cuprobe's",
			 path);
	else if (in->driver)
		snprintf(in->why, sizeof(in->why),
			 "has not called cuInit yet, or its driver could not load '%s'", path);
	else
		snprintf(in->why, sizeof(in->why), "has not loaded the driver yet");
	notes_free(&notes);
	if (fd >= 0)
		close(fd);
}

static void explain(struct inspection *in, pid_t thread)
{
	char path[PATH_MAX];
	int err = proc_environment(thread, VARIABLE, path, sizeof(path));

	if (is_secure(thread))
		snprintf(in->why, sizeof(in->why),
			 "a set-user-id program: the environment does not reach its driver");
	else if (err == -ENOENT || (!err && !*path))
		snprintf(in->why, sizeof(in->why), "started without " VARIABLE);
	else if (err)
		snprintf(in->why, sizeof(in->why), "cannot read its environment: %s",
			 strerror(-err));
	else
		explain_file(in, thread, path);
}

static void inspect_owner(struct inspection *in)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", in->pid);
	in->uid = stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

/* In a child that was forked the library has no threads, and does nothing. */
static bool library_runs(pid_t pid)
{
	char path[64], name[32];
	struct dirent *entry;
	bool runs = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && !runs && (entry = readdir(tasks))) {
		proc_name((pid_t)strtol(entry->d_name, NULL, 10), name, sizeof(name));
		runs = !strcmp(name, CUPROBE_CONTROL_THREAD);
	}
	if (tasks)
		closedir(tasks);
	return runs;
}

int inspect_process(struct inspection *ret, pid_t pid)
{
	struct look look = {.inspection = ret, .thread = proc_thread(pid)};
	int err;

	*ret = (struct inspection){.pid = pid};
	if (look.thread < 0)
		return -ESRCH;
	err = proc_each_mapping(look.thread, look_mapping, &look);
	notes_free(&look.notes);
	if (err)
		return err;
	if (!ret->driver && !ret->runtime && !ret->library)
		return 0;
	proc_name(pid, ret->name, sizeof(ret->name));
	inspect_owner(ret);
	if (!ret->library)
		explain(ret, look.thread);
	else if (!library_runs(pid))
		snprintf(ret->why, sizeof(ret->why),
			 "the library does nothing in it: it was forked from a program that had "
			 "used it, or CUPROBE_DISABLE is set");
	return 1;
}
