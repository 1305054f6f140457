/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuprobe/abi.h"

/* A thread that launches every `gap_ns`, where a stack costs `cost_ns`. */
struct run {
	__u64 launches, gap_ns, cost_ns;
	__u32 percent;
	/* What comes of it: */
	__u64 stacks, weights, spent_ns, end_ns;
	__u64 marked_weights; /* of each fourth launch */
};

static void run(struct run *r)
{
	__u64 now = 1000000000;
	struct cuprobe_budget b;

	cuprobe_budget_begin(&b, now, 42);
	for (__u64 i = 0; i < r->launches; i++) {
		__u32 weight = cuprobe_budget_weight(&b, now, r->percent);

		now += r->gap_ns;
		r->weights += weight;
		r->marked_weights += i % 4 ? 0 : weight;
		if (!weight)
			continue;
		if (cuprobe_budget_measures(&b))
			cuprobe_budget_spent(&b, r->cost_ns);
		r->stacks++;
		r->spent_ns += r->cost_ns;
		now += r->cost_ns;
	}
	r->end_ns = now - 1000000000;
}

static void all_launches_get_a_stack_that_is_cheap(void **state)
{
	struct run r = {.launches = 100000, .gap_ns = 20000, .cost_ns = 800, .percent = 5};

	(void)state;
	run(&r);
	assert_int_equal(r.stacks, r.launches);
	assert_int_equal(r.weights, r.launches * CUPROBE_LAUNCH_WEIGHT_ONE);
}

static void a_burst_is_paid_for_by_what_was_saved(void **state)
{
	struct run r = {.launches = 2000, .gap_ns = 4000, .cost_ns = 1000, .percent = 5};

	(void)state;
	run(&r);
	assert_int_equal(r.stacks, r.launches);
}

static void with_all_of_the_time_all_get_one(void **state)
{
	struct run r = {.launches = 100000, .gap_ns = 10, .cost_ns = 2000, .percent = 100};

	(void)state;
	run(&r);
	assert_int_equal(r.stacks, r.launches);
}

static void stacks_take_no_more_than_their_share(void **state)
{
	struct run r = {.launches = 1000000, .gap_ns = 4000, .cost_ns = 2000, .percent = 5};

	(void)state;
	run(&r);
	assert_in_range(r.spent_ns * 1000 / r.end_ns, 40, 55);
	assert_in_range(r.stacks * 1000 / r.launches, 90, 130);
}

/* The sums are right for all, and for those that come in a rhythm. */
static void weights_stand_for_all_launches(void **state)
{
	struct run r = {.launches = 4000000, .gap_ns = 3000, .cost_ns = 1500, .percent = 2};
	__u64 all;

	(void)state;
	run(&r);
	all = r.launches * CUPROBE_LAUNCH_WEIGHT_ONE;
	assert_in_range(r.weights, all / 100 * 98, all / 100 * 102);
	assert_in_range(r.marked_weights, all / 400 * 97, all / 400 * 103);
	assert_in_range(r.stacks, 1, r.launches / 10);
}

static void a_costly_moment_is_got_over(void **state)
{
	__u64 now = 1000000000;
	struct cuprobe_budget b;
	__u32 weight = 0;

	(void)state;
	cuprobe_budget_begin(&b, now, 7);
	cuprobe_budget_spent(&b, 50000000);
	for (int i = 0; i < 100000; i++) {
		now += 20000;
		weight = cuprobe_budget_weight(&b, now, 5);
		if (weight && cuprobe_budget_measures(&b))
			cuprobe_budget_spent(&b, 500);
	}
	assert_int_equal(weight, CUPROBE_LAUNCH_WEIGHT_ONE);
}

/* Another program had the core: with few launches there are few measurements to outweigh it. */
static void a_moment_without_the_core_is_no_cost(void **state)
{
	__u64 now = 1000000000;
	struct cuprobe_budget b;

	(void)state;
	cuprobe_budget_begin(&b, now, 7);
	for (int i = 0; i < 5000; i++) {
		now += 20000;
		assert_int_equal(cuprobe_budget_weight(&b, now, 5), CUPROBE_LAUNCH_WEIGHT_ONE);
		if (cuprobe_budget_measures(&b))
			cuprobe_budget_spent(&b, i == 1600 ? 20000000 : 500);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_launches_get_a_stack_that_is_cheap),
		cmocka_unit_test(a_burst_is_paid_for_by_what_was_saved),
		cmocka_unit_test(with_all_of_the_time_all_get_one),
		cmocka_unit_test(stacks_take_no_more_than_their_share),
		cmocka_unit_test(weights_stand_for_all_launches),
		cmocka_unit_test(a_costly_moment_is_got_over),
		cmocka_unit_test(a_moment_without_the_core_is_no_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
