/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what was put into a buffer on a thread of its own, while the next buffer is being filled:
 * a trace is some GB, and half of its price is copying and compressing them.
 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_BEHIND_H
#define CUPROBE_COLLECTOR_OUTPUT_BEHIND_H

#include <stddef.h>

struct behind;

/*
 * `write` is called on the thread, in order, until it returns something else than 0. `*ret_buffer`
 * is the first buffer, of `room` bytes.
 */
int behind_open(struct behind **ret, size_t room,
		int (*write)(void *arg, const char *data, size_t bytes), void *arg,
		char **ret_buffer);
/* Hands `bytes` bytes of the buffer over; `*buffer` is another then. What `write` has returned. */
int behind_swap(struct behind *b, size_t bytes, char **buffer);
/* Until all was written; what `write` has returned. */
int behind_wait(struct behind *b);
void behind_free(struct behind *b);

#endif
