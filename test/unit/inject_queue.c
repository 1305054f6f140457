/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/inject/pool.h"
#include "src/inject/queue.h"

#define THREADS 4
#define EACH 20000

static struct cuprobe_queue queue;
static struct cuprobe_buffer buffers[THREADS][EACH];

static void is_empty_at_first_and_after_taking(void **state)
{
	struct cuprobe_buffer one = {0};

	(void)state;
	assert_true(cuprobe_queue_empty(&queue));
	assert_null(cuprobe_queue_take(&queue));
	cuprobe_queue_push(&queue, &one);
	assert_false(cuprobe_queue_empty(&queue));
	assert_ptr_equal(cuprobe_queue_take(&queue), &one);
	assert_null(one.next);
	assert_true(cuprobe_queue_empty(&queue));
}

static void *push_all(void *mine)
{
	struct cuprobe_buffer *own = mine;

	for (size_t i = 0; i < EACH; i++) {
		own[i].valid_bytes = i;
		cuprobe_queue_push(&queue, &own[i]);
	}
	return NULL;
}

/* Counts the list into `next_of`, the number that must come next from each thread. */
static size_t check_list(struct cuprobe_buffer *list, size_t *next_of)
{
	size_t count = 0;

	for (; list; list = list->next, count++) {
		size_t thread = (size_t)(list - buffers[0]) / EACH;

		assert_int_equal(list->valid_bytes, next_of[thread]++);
	}
	return count;
}

static void keeps_each_threads_order_and_loses_nothing(void **state)
{
	size_t next_of[THREADS] = {0}, count = 0;
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, push_all, buffers[i]), 0);
	while (count < (size_t)THREADS * EACH)
		count += check_list(cuprobe_queue_take(&queue), next_of);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(cuprobe_queue_empty(&queue));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_empty_at_first_and_after_taking),
		cmocka_unit_test(keeps_each_threads_order_and_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
