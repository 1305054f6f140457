/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF program at the probes of one file: in one process, or wherever the file is mapped. */
#ifndef CUPROBE_COLLECTOR_ATTACH_H
#define CUPROBE_COLLECTOR_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cuprobe/abi.h"

struct attachment;
struct program;

/*
 * Attaches the program to those of `probes` (bit n: probe n) that the file open at `file_fd` has.
 * pid -1: in all processes, also in those that map the file later. `file_fd` stays the caller's.
 * On failure one line is in `ret_why`.
 */
int attachment_open(struct attachment **ret, const struct program *program, int file_fd, pid_t pid,
		    __u32 probes, char *ret_why, size_t size);

/*
 * Detaches, of `count` attachments, the data (all but PROBES_ALWAYS), or all. The kernel waits
 * for a grace period (some 80 ms) for each link, so many threads do it at once.
 */
void attachments_detach(struct attachment *const *attachments, size_t count, bool all);
/* What is still attached is detached. */
void attachment_free(struct attachment *a);

/* The type of the kernel's uprobe events; -ENOENT when it has none. */
int uprobe_event_type(void);

#endif
