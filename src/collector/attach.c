// SPDX-License-Identifier: Apache-2.0
#include "src/collector/attach.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/perf_event.h>

#include "src/collector/notes.h"
#include "src/collector/procs.h"
#include "src/collector/program.h"
#include "src/collector/source.h"

#define EVENT_SOURCE "/sys/bus/event_source/devices/uprobe"
#define DETACH_THREADS 32
#define KNOCK_MS 250 /* the library looks at its semaphores every 50 ms */

struct link {
	int fd; /* -1: detached */
	bool data;
};

struct attachment {
	pthread_t knocker;
	bool knocks; /* there is a knocker */
	size_t count;
	struct link links[];
};

/* The number that follows `prefix` in the first line of a file. */
static int read_number(const char *path, const char *prefix)
{
	FILE *file = fopen(path, "re");
	char line[64];
	int ret = -EINVAL;

	if (!file)
		return -errno;
	if (fgets(line, sizeof(line), file) && !strncmp(line, prefix, strlen(prefix)))
		ret = atoi(line + strlen(prefix));
	fclose(file);
	return ret;
}

int uprobe_event_type(void)
{
	return read_number(EVENT_SOURCE "/type", "");
}

/* The lowest bit of `config` that holds the semaphore's place in the file: "config:32-63". */
static int semaphore_shift(void)
{
	return read_number(EVENT_SOURCE "/format/ref_ctr_offset", "config:");
}

/*
 * An event follows one thread and the memory it belongs to, and is dead once that thread has
 * left; a main thread may leave early. So the library's own threads are the best to follow. When
 * there are none yet, the main thread is.
 */
static pid_t thread_to_follow(pid_t pid)
{
	char path[288], name[16];
	struct dirent *entry;
	pid_t found = proc_thread(pid), main_thread = found;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	directory = opendir(path);
	while (directory && found == main_thread && (entry = readdir(directory))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", pid, entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && !strncmp(name, "cuprobe", 7))
			found = (pid_t)atoi(entry->d_name);
		fclose(file);
	}
	if (directory)
		closedir(directory);
	return found;
}

static int event_open(int type, int shift, const char *path, const struct probe_site *site,
		      pid_t thread)
{
	struct perf_event_attr attr = {
		.type = (__u32)type,
		.size = sizeof(attr),
		.config = site->semaphore_offset << shift,
		.uprobe_path = (__u64)(uintptr_t)path,
		.probe_offset = site->offset,
	};
	long fd = syscall(SYS_perf_event_open, &attr, thread, thread == -1 ? 0 : -1, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* The link keeps the event; returns its descriptor. */
static int site_attach(int program_fd, int event_fd, __u64 cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);

	return bpf_link_create(program_fd, event_fd, BPF_PERF_EVENT, &opts);
}

static bool is_data(unsigned int probe)
{
	return !(PROBES_ALWAYS & 1U << probe);
}

static int attach_event(struct attachment *a, const struct program *program, const char *path,
			const struct probe_site *site, pid_t thread)
{
	int type = uprobe_event_type(), shift = semaphore_shift();
	int event_fd, fd;

	if (type < 0 || shift < 0)
		return -EOPNOTSUPP;
	event_fd = event_open(type, shift, path, site, thread);
	if (event_fd < 0)
		return event_fd;
	fd = site_attach(program->fd, event_fd, site->cookie);
	close(event_fd);
	if (fd < 0)
		return fd;
	a->links[a->count++] = (struct link){fd, is_data(site->probe)};
	return 0;
}

static int attach_events(struct attachment *a, const struct program *program, const char *path,
			 const struct notes *notes, __u32 probes, pid_t pid)
{
	pid_t thread = pid == -1 ? -1 : thread_to_follow(pid);
	int err = 0;

	for (size_t i = 0; !err && i < notes->count; i++) {
		if (probes & 1U << notes->sites[i].probe)
			err = attach_event(a, program, path, &notes->sites[i], thread);
	}
	return err;
}

/* One link for the sites of `probes`, of which there may be none. */
static int attach_multi(struct attachment *a, const struct program *program, const char *path,
			const struct notes *notes, __u32 probes, pid_t pid)
{
	__u64 *offsets = malloc(3 * notes->count * sizeof(*offsets));
	__u64 *semaphores, *cookies;
	__u32 count = 0;
	int fd = 0;

	if (!offsets)
		return -ENOMEM;
	semaphores = offsets + notes->count;
	cookies = semaphores + notes->count;
	for (size_t i = 0; i < notes->count; i++) {
		const struct probe_site *site = &notes->sites[i];

		if (!(probes & 1U << site->probe))
			continue;
		offsets[count] = site->offset;
		semaphores[count] = site->semaphore_offset;
		cookies[count++] = site->cookie;
	}
	if (count) {
		struct multi_sites sites = {offsets, semaphores, cookies, count};

		fd = program_attach_multi(program, path, &sites, pid == -1 ? 0 : pid);
	}
	if (count && fd >= 0)
		a->links[a->count++] = (struct link){fd, !(probes & PROBES_ALWAYS)};
	free(offsets);
	return fd < 0 ? fd : 0;
}

static void *knock_end(void *event)
{
	const struct timespec time = {.tv_nsec = KNOCK_MS * 1000000L};

	nanosleep(&time, NULL);
	close((int)(intptr_t)event);
	return NULL;
}

/*
 * Asks for all definitions by being at the probe `replay` for a moment: where others are attached
 * already, nothing else tells the library that somebody came. An event alone does. When that
 * fails they come with the next regular replay.
 */
static void attachment_knock(struct attachment *a, const char *path, const struct notes *notes,
			     pid_t pid)
{
	int type = uprobe_event_type(), shift = semaphore_shift(), event;

	if (!notes->replay.offset || type < 0 || shift < 0)
		return;
	event = event_open(type, shift, path, &notes->replay,
			   pid == -1 ? -1 : thread_to_follow(pid));
	if (event < 0)
		return;
	a->knocks = !pthread_create(&a->knocker, NULL, knock_end, (void *)(intptr_t)event);
	if (!a->knocks)
		close(event);
}

static int attachment_fill(struct attachment *a, const struct program *program, const char *path,
			   const struct notes *notes, __u32 probes, pid_t pid)
{
	int err;

	if (!program->multi)
		return attach_events(a, program, path, notes, probes, pid);
	err = attach_multi(a, program, path, notes, probes & PROBES_ALWAYS, pid);
	if (!err)
		err = attach_multi(a, program, path, notes, probes & ~PROBES_ALWAYS, pid);
	return err;
}

int attachment_open(struct attachment **ret, const struct program *program, int file_fd, pid_t pid,
		    __u32 probes, char *ret_why, size_t size)
{
	struct attachment *a = NULL;
	struct notes notes = {0};
	char path[32];
	int err;

	err = notes_read(&notes, file_fd, ret_why, size);
	if (err)
		return err;
	err = -ENOMEM;
	a = calloc(1, sizeof(*a) + (notes.count + 2) * sizeof(a->links[0]));
	if (!a)
		goto out;
	/* Names the very file, also one that was deleted or lies in another mount namespace. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	err = attachment_fill(a, program, path, &notes, probes, pid);
	if (!err)
		attachment_knock(a, path, &notes, pid);
	else
		snprintf(ret_why, size, "the kernel does not let us attach to the probes: %s",
			 strerror(-err));
out:
	notes_free(&notes);
	if (err)
		attachment_free(a);
	else
		*ret = a;
	return err;
}

/* Descriptors to close, taken one by one by the threads of a detach. */
struct detach {
	int *fds;
	size_t count;
	size_t next; /* atomic: pairs with itself */
};

static void *detach_thread(void *arg)
{
	struct detach *d = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&d->next, 1, __ATOMIC_RELAXED)) < d->count)
		close(d->fds[i]);
	return NULL;
}

static void detach_run(struct detach *d)
{
	pthread_t threads[DETACH_THREADS];
	size_t started = 0;

	while (started < DETACH_THREADS && started + 1 < d->count &&
	       !pthread_create(&threads[started], NULL, detach_thread, d))
		started++;
	detach_thread(d);
	while (started)
		pthread_join(threads[--started], NULL);
}

static void attachment_take(struct attachment *a, bool all, struct detach *d)
{
	for (size_t i = 0; i < a->count; i++) {
		struct link *l = &a->links[i];

		if (l->fd < 0 || !(all || l->data))
			continue;
		d->fds[d->count++] = l->fd;
		l->fd = -1;
	}
}

void attachments_detach(struct attachment *const *attachments, size_t count, bool all)
{
	struct detach d = {0};
	size_t links = 0;

	for (size_t i = 0; i < count; i++)
		links += attachments[i]->count;
	d.fds = malloc((links + 1) * sizeof(*d.fds));
	if (!d.fds)
		return;
	for (size_t i = 0; i < count; i++)
		attachment_take(attachments[i], all, &d);
	detach_run(&d);
	free(d.fds);
}

void attachment_free(struct attachment *a)
{
	if (!a)
		return;
	attachments_detach(&a, 1, true);
	if (a->knocks)
		pthread_join(a->knocker, NULL);
	free(a);
}
