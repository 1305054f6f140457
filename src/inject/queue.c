/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/queue.h"

#include <stddef.h>

#include "src/inject/pool.h"

void cuprobe_queue_push(struct cuprobe_queue *queue, struct cuprobe_buffer *buffer)
{
	struct cuprobe_buffer *head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	do {
		buffer->next = head;
	} while (!atomic_compare_exchange_weak_explicit(
		&queue->head, &head, buffer, memory_order_release, memory_order_relaxed));
}

struct cuprobe_buffer *cuprobe_queue_take(struct cuprobe_queue *queue)
{
	struct cuprobe_buffer *newest =
		atomic_exchange_explicit(&queue->head, NULL, memory_order_acquire);
	struct cuprobe_buffer *oldest = NULL;

	while (newest) {
		struct cuprobe_buffer *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

bool cuprobe_queue_empty(struct cuprobe_queue *queue)
{
	return !atomic_load_explicit(&queue->head, memory_order_relaxed);
}
