/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completed buffers on their way to the pump: any thread pushes, lock-free; the pump takes all of
 * them at once, which leaves no room for an ABA problem.
 */
#ifndef CUPROBE_INJECT_QUEUE_H
#define CUPROBE_INJECT_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>

struct cuprobe_buffer;

struct cuprobe_queue {
	/* Newest first. A push releases the buffer's content, taking the list acquires it. */
	_Atomic(struct cuprobe_buffer *) head;
};

void cuprobe_queue_push(struct cuprobe_queue *queue, struct cuprobe_buffer *buffer);

/* All buffers in the order in which they were pushed, linked by `next`; NULL when there is none. */
struct cuprobe_buffer *cuprobe_queue_take(struct cuprobe_queue *queue);

bool cuprobe_queue_empty(struct cuprobe_queue *queue);

#endif
