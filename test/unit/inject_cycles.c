/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumers come and go, again and again, while threads launch. CYCLES sets how often, THREADS how
 * many threads.
 */
#include "test/unit/workload.h"

#include <stdio.h>

#include "src/inject/cupti_buffers.h"
#include "test/resident.h"

#define LONG_MS 150 /* a flush comes by in that time, so that something is delivered */

#define GROWTH_KB 16384 /* in the second half of the cycles; a sanitizer's shadow included */

static unsigned int setting(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned int)atoi(text) : otherwise;
}

/* Some of the kinds, others each time. */
static __u32 probes_of(unsigned int cycle)
{
	__u32 data = 1u << cycle % 9 | 1u << cycle / 3 % 9;

	if (cycle % 4 > 1)
		data |= CUPROBE_PROBE_BIT(CUPROBE_PROBE_launch) |
			CUPROBE_PROBE_BIT(CUPROBE_PROBE_stack);
	return data | (cycle & 1 ? 0x51 : 0) | CUPROBE_METADATA_PROBES;
}

static void state_await(enum cuprobe_state expected)
{
	if (!workload_await(expected, WORKLOAD_PATIENCE_MS))
		fail_msg("state %d did not come, it is %d", expected, workload.state);
}

/* Until a release has begun, which may be over before we look. */
static void release_await(void)
{
	for (int ms = 0; atomic_load(&workload.state) == CUPROBE_STATE_ACTIVE; ms++) {
		if (ms > WORKLOAD_PATIENCE_MS)
			fail_msg("the release does not begin");
		workload_sleep_ms(1);
	}
}

static void cycle_once(unsigned int cycle)
{
	atomic_store(&workload.wanted, probes_of(cycle));
	state_await(CUPROBE_STATE_ACTIVE);
	if (cycle % 25 == 0)
		workload_sleep_ms(LONG_MS);
	else if (cycle % 3)
		workload_sleep_ms(cycle % 5);
	atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES);
	if (cycle % 4 == 3) { /* back before the release is through */
		release_await();
		atomic_store(&workload.wanted, probes_of(cycle));
		state_await(CUPROBE_STATE_ACTIVE);
		atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES);
	}
	state_await(CUPROBE_STATE_DORMANT);
}

static void survives_consumers_that_come_and_go(void **state)
{
	unsigned int cycles = setting("CYCLES", 1000);
	long warm_kb = 0;

	(void)state;
	workload_start(setting("THREADS", 8));
	for (unsigned int cycle = 0; cycle < cycles; cycle++) {
		cycle_once(cycle);
		assert_int_equal(cuprobe_buffers_held(), 0);
		if (cycle == cycles / 2)
			warm_kb = resident_kb();
	}
	print_message("%u cycles, %llu kernels, %ld KB after half of them, %ld KB at the end\n",
		      cycles, workload.delivered[CUPROBE_PROBE_kernel], warm_kb, resident_kb());
	workload_stop();
	assert_in_range(resident_kb(), 0, warm_kb + GROWTH_KB);
	assert_true(workload.delivered[CUPROBE_PROBE_kernel] > 0);
}

/* Records of before, of a thread that was held up between two lives of CUPTI: rightly refused. */
#define HELD_UP 2

static void balances_its_books_and_lost_nothing(void **state)
{
	(void)state;
	cuprobe_control_finish(2000000000);
	assert_true(workload_balances());
	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		const struct cuprobe_ledger *l = &cuprobe_ledger[probe];

		if (l->invalid > HELD_UP || l->lost)
			fail_msg("probe %u: %llu invalid, %llu lost", probe,
				 (unsigned long long)l->invalid, (unsigned long long)l->lost);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_consumers_that_come_and_go),
		cmocka_unit_test(balances_its_books_and_lost_nothing),
	};

	workload_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
