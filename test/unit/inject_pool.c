/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/inject/pool.h"

#define SLOTS 200
#define THREADS 4
#define ROUNDS 20000

static struct cuprobe_pool pool;
static atomic_int owners[SLOTS];
static atomic_int clashes;

static int pool_setup(void **state)
{
	(void)state;
	return cuprobe_pool_init(&pool, 4096, SLOTS);
}

static int pool_teardown(void **state)
{
	(void)state;
	cuprobe_pool_done(&pool);
	return 0;
}

static void gives_nothing_before_it_has_grown(void **state)
{
	(void)state;
	assert_null(cuprobe_pool_get(&pool));
	cuprobe_pool_grow(&pool, 1, true);
	assert_non_null(cuprobe_pool_get(&pool));
	assert_null(cuprobe_pool_get(&pool));
}

static void grows_no_further_than_its_size(void **state)
{
	__u32 given = 0;

	(void)state;
	cuprobe_pool_grow(&pool, 10, true);
	cuprobe_pool_grow(&pool, SLOTS, false);
	while (cuprobe_pool_get(&pool))
		given++;
	assert_int_equal(given, SLOTS);
	assert_int_equal(pool.held_count, SLOTS);
	assert_int_equal(pool.free_count, 0);
}

static void completes_what_is_held_and_only_once(void **state)
{
	struct cuprobe_buffer *buffer;

	(void)state;
	cuprobe_pool_grow(&pool, 2, true);
	assert_null(cuprobe_pool_complete(&pool, pool.memory));
	buffer = cuprobe_pool_get(&pool);
	assert_null(cuprobe_pool_complete(&pool, buffer->data + 8));
	assert_null(cuprobe_pool_complete(&pool, pool.memory + 4096 * SLOTS));
	assert_null(cuprobe_pool_complete(&pool, (const __u8 *)&buffer));
	assert_ptr_equal(cuprobe_pool_complete(&pool, buffer->data), buffer);
	assert_null(cuprobe_pool_complete(&pool, buffer->data));
}

static void gives_no_buffer_again_before_it_was_put(void **state)
{
	struct cuprobe_buffer *buffer;

	(void)state;
	cuprobe_pool_grow(&pool, 1, true);
	buffer = cuprobe_pool_get(&pool);
	assert_ptr_equal(cuprobe_pool_complete(&pool, buffer->data), buffer);
	assert_null(cuprobe_pool_get(&pool));
	cuprobe_pool_put(&pool, buffer);
	assert_ptr_equal(cuprobe_pool_get(&pool), buffer);
}

static void frees_what_a_finalised_cupti_kept_but_nothing_else(void **state)
{
	struct cuprobe_buffer *kept, *late, *current;
	__u32 life;

	(void)state;
	cuprobe_pool_grow(&pool, 3, true);
	kept = cuprobe_pool_get(&pool);
	late = cuprobe_pool_get(&pool);
	life = cuprobe_pool_retire(&pool);
	assert_int_equal(pool.held_count, 0);
	current = cuprobe_pool_get(&pool);
	assert_null(cuprobe_pool_get(&pool));
	assert_ptr_equal(cuprobe_pool_complete(&pool, late->data), late);
	assert_int_equal(pool.held_count, 1);
	cuprobe_pool_reclaim(&pool, life);
	assert_null(cuprobe_pool_complete(&pool, kept->data));
	assert_ptr_equal(cuprobe_pool_get(&pool), kept);
	assert_null(cuprobe_pool_get(&pool));
	assert_ptr_equal(cuprobe_pool_complete(&pool, current->data), current);
}

static void shrinks_down_to_what_is_not_free(void **state)
{
	struct cuprobe_buffer *first, *held, *last;

	(void)state;
	cuprobe_pool_grow(&pool, 100, true);
	first = cuprobe_pool_get(&pool);
	held = cuprobe_pool_get(&pool);
	last = cuprobe_pool_get(&pool);
	memset(last->data, 1, 64);
	cuprobe_pool_complete(&pool, first->data);
	cuprobe_pool_put(&pool, first);
	cuprobe_pool_complete(&pool, last->data);
	cuprobe_pool_put(&pool, last);
	cuprobe_pool_shrink(&pool);
	assert_int_equal(pool.usable, 2);
	assert_int_equal(pool.free_count, 1);
	assert_int_equal(last->data[0], 0);
	assert_ptr_equal(cuprobe_pool_get(&pool), first);
	assert_null(cuprobe_pool_get(&pool));
	assert_ptr_equal(cuprobe_pool_complete(&pool, held->data), held);
	cuprobe_pool_grow(&pool, 1, true);
	assert_ptr_equal(cuprobe_pool_get(&pool), last);
}

static void shrinks_to_nothing(void **state)
{
	(void)state;
	cuprobe_pool_shrink(&pool);
	cuprobe_pool_grow(&pool, SLOTS, true);
	cuprobe_pool_shrink(&pool);
	assert_int_equal(pool.usable, 0);
	assert_null(cuprobe_pool_get(&pool));
	cuprobe_pool_grow(&pool, SLOTS, true);
	assert_int_equal(pool.free_count, SLOTS);
}

static void *take_and_put(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		struct cuprobe_buffer *buffer = cuprobe_pool_get(&pool);
		size_t slot;

		if (!buffer)
			continue;
		slot = (size_t)(buffer - pool.buffers);
		clashes += atomic_fetch_add(&owners[slot], 1) != 0;
		memset(buffer->data, i, 64);
		atomic_fetch_sub(&owners[slot], 1);
		clashes += cuprobe_pool_complete(&pool, buffer->data) != buffer;
		cuprobe_pool_put(&pool, buffer);
	}
	return NULL;
}

static void gives_each_slot_once(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	cuprobe_pool_grow(&pool, 3, true); /* fewer than threads, so that they meet */
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_put, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(clashes, 0);
	assert_int_equal(pool.free_count, 3);
	assert_int_equal(pool.held_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pool_setup, pool_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_nothing_before_it_has_grown),
		TEST(grows_no_further_than_its_size),
		TEST(completes_what_is_held_and_only_once),
		TEST(gives_no_buffer_again_before_it_was_put),
		TEST(frees_what_a_finalised_cupti_kept_but_nothing_else),
		TEST(shrinks_down_to_what_is_not_free),
		TEST(shrinks_to_nothing),
		TEST(gives_each_slot_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
