/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library does when CUPTI refuses: each case runs this program again as a child, with the
 * simulator told to fail, and looks at how the child fared.
 */
#include <cupti.h>
#include <stdio.h>
#include <string.h>

#include "test/unit/rerun.h"
#include "test/unit/workload.h"

#define EVERYTHING ((1u << CUPROBE_PROBE_COUNT) - 1)

struct outcome {
	int status; /* of the child, as waitpid() gives it; 0: it ended well */
	int state;  /* while everything was wanted for some time */
	int end;    /* after nobody wanted anything any more */
	unsigned int messages, balances;
	unsigned long long kernels, memsets, apis, unknown; /* delivered */
	unsigned long long produced, lost;		    /* of kernels */
	unsigned long long truth; /* kernel records that the simulator gave away */
};

static int child_main(void)
{
	const char *slow = getenv("DELIVER_MS"), *run = getenv("RUN_MS");
	struct cuprobe_status_ledger ledger;
	int during;

	workload.deliver_ms = slow ? atol(slow) : 0;
	atomic_store(&workload.wanted, getenv("FROM_START") ? EVERYTHING : 0);
	workload_init();
	workload_start(2);
	atomic_store(&workload.wanted, EVERYTHING);
	for (int ms = 0; ms < 2000 && workload.state == CUPROBE_STATE_DORMANT; ms++)
		workload_sleep_ms(1);
	workload_sleep_ms(run ? atol(run) : 400);
	during = workload.state;
	atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES);
	workload_await(CUPROBE_STATE_DORMANT, 5000);
	workload_stop();
	cuprobe_control_finish(2000000000);
	cuprobe_ledger_read(CUPROBE_PROBE_kernel, &ledger);
	printf("%d %d %u %d %llu %llu %llu %llu %llu %llu\n", during, workload.state,
	       workload.messages, workload_balances(), workload.delivered[CUPROBE_PROBE_kernel],
	       workload.delivered[CUPROBE_PROBE_memset], workload.delivered[CUPROBE_PROBE_api],
	       cuprobe_ledger_unknown, ledger.produced, ledger.lost);
	return 0;
}

/* Runs the child with these orders for the simulator. */
static struct outcome with(const char *orders)
{
	struct outcome o;
	char line[256];

	setenv("MOCK_DO", orders, 1);
	o.status = rerun("child", line, sizeof(line));
	assert_int_equal(sscanf(line, "%d %d %u %u %llu %llu %llu %llu %llu %llu", &o.state, &o.end,
				&o.messages, &o.balances, &o.kernels, &o.memsets, &o.apis,
				&o.unknown, &o.produced, &o.lost),
			 10);
	assert_int_equal(o.status, 0);
	assert_int_equal(o.balances, 1);
	o.truth = rerun_truth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL).delivered;
	assert_int_equal(o.produced, o.truth);
	return o;
}

static void delivers_when_nothing_fails(void **state)
{
	struct outcome o = with("");

	(void)state;
	assert_int_equal(o.state, CUPROBE_STATE_ACTIVE);
	assert_int_equal(o.end, CUPROBE_STATE_DORMANT);
	assert_true(o.kernels && o.memsets && o.apis);
	assert_int_equal(o.unknown, 0);
}

static void says_so_when_it_cannot_begin(void **state)
{
	static const char *const calls[] = {"cuptiSubscribe_v2", "cuptiActivityRegisterCallbacks"};
	char orders[128];

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct outcome o;

		snprintf(orders, sizeof(orders), "fail %s CUPTI_ERROR_UNKNOWN", calls[i]);
		o = with(orders);
		assert_int_equal(o.state, CUPROBE_STATE_FAILED);
		assert_int_equal(o.end, CUPROBE_STATE_DORMANT);
		assert_true(o.messages > 0);
		assert_int_equal(o.kernels, 0);
	}
}

static void yields_to_a_rival(void **state)
{
	struct outcome o = with("rival torch");

	(void)state;
	assert_int_equal(o.state, CUPROBE_STATE_YIELDED);
	assert_int_equal(o.kernels, 0);
	assert_true(o.messages > 0);
}

static void goes_on_with_the_kinds_that_are_not_refused(void **state)
{
	struct outcome o;

	(void)state;
	/* The first that is enabled without a dump is the kernels' kind. */
	o = with("fail cuptiActivityEnable CUPTI_ERROR_INSUFFICIENT_PRIVILEGES nth=1");
	assert_int_equal(o.state, CUPROBE_STATE_ACTIVE);
	assert_int_equal(o.kernels, 0);
	assert_true(o.memsets && o.apis);
	assert_true(o.messages > 0);
	o = with("fail cuptiActivityEnable CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
	assert_int_equal(o.state, CUPROBE_STATE_ACTIVE);
	assert_int_equal(o.memsets, 0);
	assert_in_range(o.messages, 1, 3); /* one, and its replays */
	assert_int_equal(o.end, CUPROBE_STATE_DORMANT);
}

static void says_so_when_calls_are_not_shown(void **state)
{
	struct outcome o = with("fail cuptiEnableCallback CUPTI_ERROR_UNKNOWN");

	(void)state;
	assert_int_equal(o.state, CUPROBE_STATE_ACTIVE);
	assert_int_equal(o.end, CUPROBE_STATE_DORMANT);
	assert_true(o.kernels > 0);
	assert_true(o.messages > 0);
}

/* As CUPTI does with unified memory until cuInit() has returned. */
static void tries_again_at_once_what_is_not_ready(void **state)
{
	struct outcome o = with("fail cuptiActivityEnable CUPTI_ERROR_NOT_READY nth=1");

	(void)state;
	assert_true(o.kernels > 0);
	assert_int_equal(o.messages, 0);
}

static void lives_with_every_other_call_failing(void **state)
{
	static const char *const calls[] = {
		"cuptiActivityEnableAndDump",
		"cuptiActivityDisable",
		"cuptiActivityFlushAll",
		"cuptiActivityRegisterTimestampCallback",
		"cuptiActivityGetNumDroppedRecords",
		"cuptiActivityConfigureUnifiedMemoryCounter",
		"cuptiSetThreadIdType",
		"cuptiGetCallbackName",
		"cuptiGetTimestamp",
		"cuptiEnableDomain",
		"cuptiUnsubscribe",
		"cuptiFinalize",
	};
	char orders[128];

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct outcome o;

		snprintf(orders, sizeof(orders), "fail %s CUPTI_ERROR_UNKNOWN", calls[i]);
		o = with(orders);
		if (o.state != CUPROBE_STATE_ACTIVE || o.end != CUPROBE_STATE_DORMANT)
			fail_msg("%s: state %d, then %d", calls[i], o.state, o.end);
		if (strcmp(calls[i], "cuptiActivityFlushAll") && !(o.kernels && o.apis))
			fail_msg("%s: nothing was delivered", calls[i]);
	}
}

/* As a CUPTI that is older than the driver does. */
static void says_so_when_nothing_is_delivered(void **state)
{
	struct outcome late, early;

	(void)state;
	setenv("RUN_MS", "4000", 1);
	late = with("drop all silently=1");
	setenv("FROM_START", "1", 1);
	early = with("drop all silently=1");
	unsetenv("FROM_START");
	unsetenv("RUN_MS");
	assert_int_equal(late.apis + early.apis, 0);
	assert_true(late.messages > 0);
	assert_true(early.messages > 0);
}

static void waits_for_no_flush(void **state)
{
	struct outcome o = with("delay cuptiActivityFlushAll ms=1500 nth=2");

	(void)state;
	assert_int_equal(o.state, CUPROBE_STATE_ACTIVE);
	assert_int_equal(o.end, CUPROBE_STATE_DORMANT);
	assert_true(o.apis > 0);
}

static void takes_buffers_late_from_other_threads_and_out_of_order(void **state)
{
	struct outcome o = with("complete late=20 threads=4 order=random");

	(void)state;
	assert_int_equal(o.end, CUPROBE_STATE_DORMANT);
	assert_in_range(o.kernels, o.truth / 2, o.truth); /* the end is nobody's any more */
}

static void takes_buffers_after_it_has_unsubscribed(void **state)
{
	struct outcome o;

	(void)state;
	setenv("CUPROBE_RELEASE", "unsubscribe", 1);
	o = with("complete after=unsubscribe");
	unsetenv("CUPROBE_RELEASE");
	assert_int_equal(o.end, CUPROBE_STATE_DORMANT);
	assert_int_equal(o.kernels, 0); /* nobody wants them any more */
	assert_true(o.truth > 0);
}

static void counts_exactly_what_it_throws_away(void **state)
{
	struct outcome o;

	(void)state;
	setenv("CUPROBE_POOL_MB", "1", 1);
	setenv("CUPROBE_BUFFER_KB", "64", 1);
	setenv("DELIVER_MS", "300", 1);
	o = with("");
	unsetenv("CUPROBE_POOL_MB");
	unsetenv("CUPROBE_BUFFER_KB");
	unsetenv("DELIVER_MS");
	assert_true(o.lost > 0);
	assert_true(o.kernels > 0);
}

static void invents_no_times(void **state)
{
	struct outcome o = with("set kernel every=3 start=0 end=0");

	(void)state;
	assert_true(o.kernels > 0);
	assert_in_range(o.kernels, o.truth / 3, o.truth * 2 / 3 + 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delivers_when_nothing_fails),
		cmocka_unit_test(says_so_when_it_cannot_begin),
		cmocka_unit_test(yields_to_a_rival),
		cmocka_unit_test(goes_on_with_the_kinds_that_are_not_refused),
		cmocka_unit_test(says_so_when_calls_are_not_shown),
		cmocka_unit_test(tries_again_at_once_what_is_not_ready),
		cmocka_unit_test(lives_with_every_other_call_failing),
		cmocka_unit_test(says_so_when_nothing_is_delivered),
		cmocka_unit_test(waits_for_no_flush),
		cmocka_unit_test(takes_buffers_late_from_other_threads_and_out_of_order),
		cmocka_unit_test(takes_buffers_after_it_has_unsubscribed),
		cmocka_unit_test(counts_exactly_what_it_throws_away),
		cmocka_unit_test(invents_no_times),
	};

	if (argc > 1 && !strcmp(argv[1], "child"))
		return child_main();
	return cmocka_run_group_tests(tests, rerun_setup, rerun_teardown);
}
