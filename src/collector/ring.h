/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BPF ring buffer, or shared memory in that layout, read where it lies. libbpf's own reader goes
 * on while more arrives; this one stops at a given place, so that two rings can be read in the
 * order in which they were filled.
 */
#ifndef CUPROBE_COLLECTOR_RING_H
#define CUPROBE_COLLECTOR_RING_H

#include <stddef.h>

#include <linux/types.h>

struct ring {
	__u64 *read;	      /* `position`, where the writer looks at it */
	const __u64 *written; /* position up to which there are samples */
	const char *data;     /* `bytes` bytes, and of the kernel's the same again behind */
	size_t bytes, mapped; /* mapped: of data, readable */
	__u64 position;	      /* up to which we have read */
};

int ring_open(struct ring *r, int map_fd, size_t bytes);
void ring_close(struct ring *r); /* also of one that was not opened */

/* The position behind all that is in the ring now. */
__u64 ring_end(const struct ring *r);
/*
 * Hands out samples up to `end` until `sample` returns non-zero; each is gone after its call. 1
 * when all were handed out, 0 also when one of them is still being written, -EBADMSG when what is
 * next cannot be: there is no going on then.
 */
int ring_read(struct ring *r, __u64 end, int (*sample)(void *arg, const void *data, size_t size),
	      void *arg);

/*
 * The same with all that is in two rings now. What lies in `batches` was written after all that is
 * in `front`, but for what goes there meanwhile: see cuprobe.bpf.c.
 */
int rings_read(struct ring *front, struct ring *batches,
	       int (*sample)(void *arg, const void *data, size_t size), void *arg);

#endif
