// SPDX-License-Identifier: Apache-2.0
#include "src/collector/targets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/collector/attach.h"
#include "src/collector/inspect.h"
#include "src/collector/program.h"
#include "src/collector/watch.h"

#define LOOK_NS 1000000000ULL	/* at all processes, where mappings cannot be watched */
#define PRUNE_NS 10000000000ULL /* a file held for nobody keeps its file system busy */

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}

static struct target *targets_find(const struct targets *t, const struct file_key *key)
{
	for (size_t i = 0; i < t->count; i++) {
		if (file_key_equal(&t->all[i].key, key))
			return &t->all[i];
	}
	return NULL;
}

static int targets_add(struct targets *t, int fd, pid_t pid, char *ret_why, size_t size)
{
	struct target target = {0}, *all;
	int err = file_key_of(&target.key, fd);

	if (!err)
		err = attachment_open(&target.attachment, t->program, fd, pid, t->probes, ret_why,
				      size);
	else
		snprintf(ret_why, size, "%s", strerror(-err));
	if (err)
		return err;
	all = realloc(t->all, (t->count + 1) * sizeof(*all));
	if (!all) {
		attachment_free(target.attachment);
		snprintf(ret_why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	all[t->count++] = target;
	t->all = all;
	return 0;
}

int targets_add_file(struct targets *t, int fd, char *ret_why, size_t size)
{
	return targets_add(t, fd, -1, ret_why, size);
}

/* One look at the mappings of one process. */
struct look {
	struct targets *targets;
	pid_t pid;
	bool own;		 /* attach in this process alone */
	unsigned int found;	 /* libraries */
	struct file_key last[8]; /* a library has several mappings */
	char *why;
	size_t size;
};

static bool look_seen(struct look *l, const struct file_key *key)
{
	for (unsigned int i = 0; i < l->found && i < 8; i++) {
		if (file_key_equal(&l->last[i], key))
			return true;
	}
	l->last[l->found++ % 8] = *key;
	return false;
}

static int look_mapping(void *arg, const struct proc_mapping *m)
{
	struct look *l = arg;
	struct file_key key;
	int fd, err;

	if (!library_named(m->path))
		return 0;
	fd = proc_open_mapping(l->pid, m);
	if (fd < 0) {
		snprintf(l->why, l->size, "cannot open '%s' of process %d: %s", m->path, l->pid,
			 strerror(-fd));
		return l->own ? fd : 0;
	}
	err = file_key_of(&key, fd);
	if (!err && !look_seen(l, &key) && (l->own || !targets_find(l->targets, &key)))
		err = targets_add(l->targets, fd, l->own ? l->pid : -1, l->why, l->size);
	close(fd);
	/* A file that is only named like a library of ours is none of our business. */
	return err == -ENOENT || err == -ENOEXEC || !l->own ? 0 : err;
}

/* The library that the process will load once it uses CUDA. */
static int targets_add_announced(struct targets *t, pid_t pid, char *ret_why, size_t size)
{
	char path[PATH_MAX];
	int fd, err = proc_environment(pid, "CUDA_INJECTION64_PATH", path, sizeof(path));

	if (err)
		return err;
	fd = proc_open_file(pid, path);
	if (fd < 0)
		return fd;
	err = targets_add(t, fd, pid, ret_why, size);
	close(fd);
	return err;
}

static void explain_process(pid_t pid, char *ret_why, size_t size)
{
	struct inspection in;
	int ret = inspect_process(&in, pid);
	char name[64];

	proc_name(pid, name, sizeof(name));
	if (ret == 1)
		snprintf(ret_why, size,
			 "process %d (%s) has no libcuprobe.so: %s: start it again with "
			 "CUDA_INJECTION64_PATH=/path/to/libcuprobe.so",
			 pid, name, in.why);
	else
		snprintf(ret_why, size, "process %d (%s) does not use CUDA: see `cuprobe list`",
			 pid, name);
}

int targets_add_process(struct targets *t, pid_t pid, char *ret_why, size_t size)
{
	struct look look = {.targets = t, .own = true, .why = ret_why, .size = size};
	size_t before = t->count;
	int err;

	look.pid = proc_thread(pid);
	if (look.pid > 0 && look.pid != pid && t->program->multi) {
		snprintf(ret_why, size,
			 "the main thread of process %d has left, so the kernel cannot follow the "
			 "process by itself: use -a",
			 pid);
		return -ESRCH;
	}
	err = look.pid < 0 ? -ESRCH : proc_each_mapping(look.pid, look_mapping, &look);
	if (err == -ESRCH) {
		snprintf(ret_why, size, "there is no process %d", pid);
		return err;
	}
	if (err == -EACCES || err == -EPERM)
		snprintf(ret_why, size, "may not look into process %d: try again with sudo", pid);
	if (err || t->count > before)
		return err;
	err = targets_add_announced(t, look.pid, ret_why, size);
	if (err) {
		explain_process(pid, ret_why, size);
		err = -ENOENT;
	}
	return err;
}

static int look_at(void *arg, pid_t pid)
{
	struct targets *t = arg;
	char why[256];
	struct look look = {.targets = t, .why = why, .size = sizeof(why)};

	look.pid = proc_thread(pid);
	(void)proc_each_mapping(look.pid, look_mapping, &look);
	return 0;
}

static void look_at_mapper(void *arg, pid_t pid)
{
	look_at(arg, pid);
}

int targets_add_all(struct targets *t, char *ret_why, size_t size)
{
	int err;

	/* Watch first: what is mapped meanwhile is seen by the one or the other. */
	if (watch_open(&t->watch))
		t->watch = NULL;
	err = procs_each(look_at, t);
	if (err)
		snprintf(ret_why, size, "cannot read /proc: %s", strerror(-err));
	t->look_ns = now_ns() + LOOK_NS;
	t->prune_ns = now_ns() + PRUNE_NS;
	return err;
}

/* Which of the targets somebody maps. */
struct usage {
	const struct targets *targets;
	bool *used;
	pid_t pid;
};

static int usage_mapping(void *arg, const struct proc_mapping *m)
{
	struct usage *u = arg;
	struct target *target;
	struct file_key key;
	int fd;

	if (!library_named(m->path))
		return 0;
	fd = proc_open_mapping(u->pid, m);
	if (fd < 0)
		return 0;
	target = file_key_of(&key, fd) ? NULL : targets_find(u->targets, &key);
	if (target)
		u->used[target - u->targets->all] = true;
	close(fd);
	return 0;
}

static int usage_process(void *arg, pid_t pid)
{
	struct usage *u = arg;

	u->pid = proc_thread(pid);
	(void)proc_each_mapping(u->pid, usage_mapping, u);
	return 0;
}

static void targets_prune(struct targets *t)
{
	struct usage usage = {.targets = t, .used = calloc(t->count + 1, sizeof(bool))};
	size_t kept = 0;

	if (!usage.used)
		return;
	procs_each(usage_process, &usage);
	for (size_t i = 0; i < t->count; i++) {
		if (usage.used[i])
			t->all[kept++] = t->all[i];
		else
			attachment_free(t->all[i].attachment);
	}
	t->count = kept;
	free(usage.used);
}

void targets_refresh(struct targets *t)
{
	__u64 now = now_ns();

	t->missed = t->missed || !t->watch;
	if (t->watch && watch_read(t->watch, look_at_mapper, t))
		t->missed = true;
	if (t->missed && now >= t->look_ns) {
		t->missed = false;
		procs_each(look_at, t);
		t->look_ns = now_ns() + LOOK_NS;
	}
	if (now >= t->prune_ns) {
		targets_prune(t);
		t->prune_ns = now_ns() + PRUNE_NS;
	}
}

void targets_detach(struct targets *t, bool all)
{
	struct attachment **attachments = malloc((t->count + 1) * sizeof(*attachments));

	if (!attachments)
		return;
	for (size_t i = 0; i < t->count; i++)
		attachments[i] = t->all[i].attachment;
	attachments_detach(attachments, t->count, all);
	free(attachments);
}

void targets_free(struct targets *t)
{
	targets_detach(t, true);
	for (size_t i = 0; i < t->count; i++)
		attachment_free(t->all[i].attachment);
	free(t->all);
	watch_free(t->watch);
	*t = (struct targets){0};
}
