/* SPDX-License-Identifier: Apache-2.0 */
/* The files whose probes a session is attached to. */
#ifndef CUPROBE_COLLECTOR_TARGETS_H
#define CUPROBE_COLLECTOR_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/collector/procs.h"

struct attachment;
struct program;
struct watch;

struct target {
	struct file_key key;
	struct attachment *attachment;
};

struct targets {
	const struct program *program;
	__u32 probes; /* attached to */
	struct target *all;
	size_t count;
	struct watch *watch;	 /* of new files, when all processes are meant */
	bool missed;		 /* the watch did not see everything */
	__u64 look_ns, prune_ns; /* when to look at all processes again */
};

/*
 * Attach: the file at `fd`, wherever it is mapped; the libraries of one process, in it alone; the
 * libraries of all processes, now and later. On failure one line is in `ret_why`.
 */
int targets_add_file(struct targets *t, int fd, char *ret_why, size_t size);
int targets_add_process(struct targets *t, pid_t pid, char *ret_why, size_t size);
int targets_add_all(struct targets *t, char *ret_why, size_t size);

/* After targets_add_all, often: attaches files that are new, lets those go that nobody maps. */
void targets_refresh(struct targets *t);
/* The data, or all. */
void targets_detach(struct targets *t, bool all);
void targets_free(struct targets *t);

#endif
