/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF program at the probes of one file: in one process, or wherever the file is mapped. */
#ifndef CUPROBE_COLLECTOR_ATTACH_H
#define CUPROBE_COLLECTOR_ATTACH_H

#include <stddef.h>
#include <sys/types.h>

#include <linux/types.h>

struct attachment;

/*
 * Attaches `program_fd` to those of `probes` (bit n: probe n) that the file open at `file_fd` has.
 * pid -1: in all processes, also in those that map the file later. `file_fd` stays the caller's.
 * On failure one line is in `ret_why`.
 */
int attachment_open(struct attachment **ret, int program_fd, int file_fd, pid_t pid, __u32 probes,
		    char *ret_why, size_t size);

/*
 * Detaches those of `probes` from `count` attachments. The kernel waits for a grace period (some
 * 80 ms) for each link, so many threads do it at once.
 */
void attachments_detach(struct attachment *const *attachments, size_t count, __u32 probes);
/* What is still attached is detached. */
void attachment_free(struct attachment *a);

/* The type of the kernel's uprobe events; -ENOENT when it has none. */
int uprobe_event_type(void);

#endif
