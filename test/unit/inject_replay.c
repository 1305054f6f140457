/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions are told again to those that come later, however little the library sees of them. */
#include "test/unit/workload.h"

#define SETTLE_MS 2500	/* past what the first consumer gets: at once, and a second later */
#define PERIOD_MS 12000 /* every 10 s */

static unsigned long long definitions(void)
{
	return atomic_load(&workload.delivered[CUPROBE_PROBE_string]);
}

static bool tells_again_within(int patience_ms)
{
	unsigned long long before = definitions();

	for (int ms = 0; ms < patience_ms; ms++) {
		if (definitions() > before)
			return true;
		workload_sleep_ms(1);
	}
	return false;
}

static void attach_first(void)
{
	atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES | 1u << CUPROBE_PROBE_kernel);
	assert_true(workload_await(CUPROBE_STATE_ACTIVE, WORKLOAD_PATIENCE_MS));
	workload_sleep_ms(SETTLE_MS);
	assert_false(tells_again_within(1000));
}

static void tells_newcomers_that_ask_at_once(void **state)
{
	(void)state;
	attach_first();
	atomic_fetch_add(&workload.newcomers, 1); /* the probe `replay` is attached */
	assert_true(tells_again_within(1000));
	workload_sleep_ms(SETTLE_MS);
	atomic_fetch_sub(&workload.newcomers, 1); /* and detached */
	assert_true(tells_again_within(1000));
	workload_sleep_ms(SETTLE_MS);
	assert_false(tells_again_within(1000));
}

static void tells_newcomers_that_say_nothing_later(void **state)
{
	(void)state;
	assert_true(tells_again_within(PERIOD_MS));
	assert_true(tells_again_within(PERIOD_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_newcomers_that_ask_at_once),
		cmocka_unit_test(tells_newcomers_that_say_nothing_later),
	};

	workload_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
