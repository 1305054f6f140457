/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BPF ring buffer, read where it lies. libbpf's own reader goes on while more arrives; this one
 * stops at a given place, so that two rings can be read in the order in which they were filled.
 */
#ifndef CUPROBE_COLLECTOR_RING_H
#define CUPROBE_COLLECTOR_RING_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct ring {
	unsigned long *read; /* position up to which we have read; the kernel looks at it */
	const unsigned long *written; /* position up to which there are samples */
	const char *data;	      /* `bytes` bytes, and behind them the same again */
	size_t bytes;
};

int ring_open(struct ring *r, int map_fd, size_t bytes);
void ring_close(struct ring *r); /* also of one that was not opened */

/* The position behind all that is in the ring now. */
__u64 ring_end(const struct ring *r);
/*
 * Hands out samples up to `end` until `sample` returns non-zero; each is gone after its call. True
 * when all were handed out, false also when one of them is still being written.
 */
bool ring_read(struct ring *r, __u64 end, int (*sample)(void *arg, const void *data, size_t size),
	       void *arg);

#endif
