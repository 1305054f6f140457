/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PC sampling on the simulator: every sample arrives, and whatever CUPTI refuses costs samples and
 * nothing else. Each case runs this program again as a child.
 */
#include <cupti.h>
#include <stdio.h>
#include <string.h>

#include "test/unit/rerun.h"
#include "test/unit/workload.h"

#define BIT(name) (1u << CUPROBE_PROBE_##name)
#define CYCLES 40
#define GROWTH_KB 16384 /* in the second half of the cycles; a sanitizer's shadow included */

struct outcome {
	int status, state, end;
	unsigned int messages, balances;
	unsigned long long samples, not_issued, non_user, dropped, other; /* delivered */
	unsigned long long correlated, reasons, kernels;
	unsigned long long truth; /* samples that the simulator made */
};

static struct outcome seen;

static void sample_seen(const struct cuprobe_pc_sample *s)
{
	unsigned long long *const sums[] = {&seen.samples, &seen.non_user, &seen.dropped,
					    &seen.other};

	assert_in_range(s->kind, 0, 3);
	*sums[s->kind] += s->samples;
	seen.not_issued += s->not_issued;
	seen.correlated += s->correlation != 0;
	assert_true(s->kind || (s->crc && s->function && s->not_issued <= s->samples));
}

static void record_seen(enum cuprobe_probe_id probe, const void *data, __u32 count)
{
	const struct cuprobe_pc_sample *samples = data;
	const struct cuprobe_info *infos = data;

	for (__u32 i = 0; i < count; i++) {
		if (probe == CUPROBE_PROBE_pc_sample)
			sample_seen(&samples[i]);
		seen.reasons +=
			probe == CUPROBE_PROBE_info && infos[i].type == CUPROBE_INFO_STALL_REASON;
	}
}

static long resident_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*s %ld", &pages), 1);
	fclose(file);
	return pages * 4;
}

/* Contexts that come and go while kernels run in others. */
static void contexts_come_and_go(void)
{
	CUfunction function;
	CUcontext context;
	CUmodule module;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(cuCtxCreate(&context, NULL, 0, 0), CUDA_SUCCESS);
		assert_int_equal(cuModuleLoadData(&module, "another"), CUDA_SUCCESS);
		assert_int_equal(cuModuleGetFunction(&function, module, "_Z3subPf"), CUDA_SUCCESS);
		for (int launch = 0; launch < 50; launch++)
			cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
		assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
		assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
		assert_int_equal(cuCtxDestroy(context), CUDA_SUCCESS);
	}
}

/* A thread that runs no kernels but the driver's. */
static void *memory_used(void *unused)
{
	CUdeviceptr memory;
	CUmodule module;

	(void)unused;
	assert_int_equal(cuCtxSetCurrent(workload.context), CUDA_SUCCESS);
	assert_int_equal(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
	while (!atomic_load(&workload.stop)) {
		assert_int_equal(cuModuleLoadData(&module, "variables"), CUDA_SUCCESS);
		assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
		for (int i = 0; i < 20; i++) {
			assert_int_equal(cuMemsetD8Async(memory, 0, 4096, NULL), CUDA_SUCCESS);
			assert_int_equal(cuMemcpyDtoDAsync(memory, memory + 2048, 2048, NULL),
					 CUDA_SUCCESS);
		}
		assert_int_equal(cuStreamSynchronize(NULL), CUDA_SUCCESS);
	}
	return NULL;
}

static void on_and_off(void)
{
	long warm_kb = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, memory_used, NULL), 0);
	for (int i = 0; i < CYCLES; i++) {
		atomic_store(&workload.wanted, BIT(pc_sample) | CUPROBE_METADATA_PROBES);
		assert_true(workload_await(CUPROBE_STATE_ACTIVE, 5000));
		workload_sleep_ms(i % 25 ? 5 : 250);
		atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES);
		assert_true(workload_await(CUPROBE_STATE_DORMANT, 5000));
		if (i == CYCLES / 2)
			warm_kb = resident_kb();
	}
	assert_in_range(resident_kb(), 0, warm_kb + GROWTH_KB);
	atomic_store(&workload.stop, true);
	pthread_join(thread, NULL);
}

static int child_main(const char *what)
{
	__u32 wanted = BIT(pc_sample) | BIT(module) | BIT(kernel) | CUPROBE_METADATA_PROBES;

	workload.seen = record_seen;
	if (strcmp(what, "late") && strcmp(what, "cycles"))
		atomic_store(&workload.wanted, wanted);
	workload_init();
	workload_start(2);
	if (!strcmp(what, "late"))
		atomic_store(&workload.wanted, wanted);
	if (!strcmp(what, "contexts"))
		contexts_come_and_go();
	if (!strcmp(what, "cycles"))
		on_and_off();
	workload_sleep_ms(getenv("RUN_MS") ? atol(getenv("RUN_MS")) : 500);
	seen.state = workload.state;
	workload_stop();
	workload_sleep_ms(250);
	atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES);
	for (int ms = 0; ms < 5000 && workload.state != CUPROBE_STATE_DORMANT; ms++) {
		cuCtxSynchronize(); /* the call that finalising waits for */
		workload_sleep_ms(1);
	}
	seen.end = workload.state;
	cuprobe_control_finish(2000000000);
	printf("%d %d %u %d %llu %llu %llu %llu %llu %llu %llu %llu\n", seen.state, seen.end,
	       workload.messages, workload_balances(), seen.samples, seen.not_issued, seen.non_user,
	       seen.dropped, seen.other, seen.correlated, seen.reasons,
	       workload.delivered[CUPROBE_PROBE_kernel]);
	return 0;
}

static struct outcome run(const char *what, const char *orders)
{
	struct outcome o;
	char line[512];

	setenv("MOCK_DO", orders, 1);
	o.status = rerun(what, line, sizeof(line));
	assert_int_equal(sscanf(line, "%d %d %u %u %llu %llu %llu %llu %llu %llu %llu %llu",
				&o.state, &o.end, &o.messages, &o.balances, &o.samples,
				&o.not_issued, &o.non_user, &o.dropped, &o.other, &o.correlated,
				&o.reasons, &o.kernels),
			 12);
	if (o.status || !o.balances || o.end != CUPROBE_STATE_DORMANT)
		fail_msg("%s, %s: status %d, balances %u, ends in state %d", what, orders, o.status,
			 o.balances, o.end);
	o.truth = rerun_truth(CUPTI_ACTIVITY_KIND_PC_SAMPLING).made;
	return o;
}

static void every_sample_arrives(void **state)
{
	struct outcome o = run("start", "");

	(void)state;
	assert_true(o.samples > 100);
	assert_int_equal(o.samples, o.truth);
	assert_true(o.not_issued > 0 && o.not_issued < o.samples);
	assert_int_equal(o.non_user + o.dropped + o.other, 0);
	assert_true(o.reasons >= 9 && o.kernels > 0);
	assert_int_equal(o.messages, 0);
	assert_int_equal(o.correlated, 0);
}

static void what_remains_is_fetched_too(void **state)
{
	struct outcome o;

	(void)state;
	setenv("MOCK_PC_ROUND", "1", 1);
	o = run("start", "");
	unsetenv("MOCK_PC_ROUND");
	assert_true(o.samples > 100);
	assert_int_equal(o.samples, o.truth);
}

static void functions_of_before_are_known_once_launched(void **state)
{
	struct outcome o = run("late", "");

	(void)state;
	assert_true(o.samples > 100);
	assert_int_equal(o.samples, o.truth);
	assert_int_equal(o.non_user, 0);
}

static void a_context_may_end_while_it_is_sampled(void **state)
{
	struct outcome o = run("contexts", "");

	(void)state;
	assert_int_equal(o.samples, o.truth);
}

static void windows_close_by_themselves(void **state)
{
	struct outcome o;

	(void)state;
	setenv("CUPROBE_PC_MODE", "serialized", 1);
	setenv("CUPROBE_PC_WINDOW_MS", "20", 1);
	setenv("CUPROBE_PC_EVERY_MS", "60", 1);
	o = run("contexts", "");
	unsetenv("CUPROBE_PC_MODE");
	assert_true(o.samples > 0 && o.correlated > 0);
	assert_int_equal(o.samples, o.truth);
}

static void what_cannot_begin_is_said_once(void **state)
{
	static const char *const calls[] = {
		"cuptiPCSamplingEnable",
		"cuptiPCSamplingGetNumStallReasons",
		"cuptiPCSamplingGetStallReasons",
		"cuptiPCSamplingSetConfigurationAttribute",
	};
	char orders[128];

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct outcome o;

		snprintf(orders, sizeof(orders), "fail %s CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
			 calls[i]);
		o = run("start", orders);
		assert_int_equal(o.samples, 0);
		assert_in_range(o.messages, 1, 3); /* one, and its replays */
		assert_true(o.kernels > 0);
		snprintf(orders, sizeof(orders), "fail %s CUPTI_ERROR_HARDWARE_BUSY nth=1",
			 calls[i]);
		setenv("RUN_MS", "1800", 1);
		o = run("start", orders);
		unsetenv("RUN_MS");
		assert_in_range(o.messages, 1, 4);
		assert_true(o.non_user + o.samples > 0); /* tried again */
	}
}

/* They could not be held back while sampling is switched. */
static void nothing_is_sampled_when_launches_are_not_shown(void **state)
{
	struct outcome o = run("start", "fail cuptiEnableCallback CUPTI_ERROR_UNKNOWN");

	(void)state;
	assert_int_equal(o.truth, 0);
	assert_true(o.messages > 0);
	assert_true(o.kernels > 0);
}

static void other_calls_that_fail_cost_little(void **state)
{
	static const char *const orders[] = {
		"fail cuptiPCSamplingGetConfigurationAttribute CUPTI_ERROR_UNKNOWN",
		"fail cuptiPCSamplingDisable CUPTI_ERROR_UNKNOWN",
		"fail cuptiPCSamplingGetData CUPTI_ERROR_UNKNOWN nth=2",
		"fail cuptiPCSamplingGetData CUPTI_ERROR_OUT_OF_MEMORY nth=2",
		"fail cuptiPCSamplingSetConfigurationAttribute CUPTI_ERROR_OUT_OF_MEMORY nth=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct outcome o = run("start", orders[i]);

		if (!(o.samples > 0 && o.kernels > 0))
			fail_msg("%s: %llu samples, %llu kernels", orders[i], o.samples, o.kernels);
	}
}

static void what_always_fails_is_given_up(void **state)
{
	static const char *const results[] = {"CUPTI_ERROR_OUT_OF_MEMORY", "CUPTI_ERROR_UNKNOWN"};
	char orders[128];

	(void)state;
	setenv("RUN_MS", "3000", 1);
	for (size_t i = 0; i < 2; i++) {
		struct outcome o;

		snprintf(orders, sizeof(orders), "fail cuptiPCSamplingGetData %s", results[i]);
		o = run("start", orders);
		assert_int_equal(o.state, CUPROBE_STATE_ACTIVE);
		assert_in_range(o.messages, 1, 3);
		assert_true(o.kernels > 0);
	}
	unsetenv("RUN_MS");
}

static void windows_that_fail_are_given_up(void **state)
{
	struct outcome o;

	(void)state;
	setenv("CUPROBE_PC_MODE", "serialized", 1);
	o = run("start", "fail cuptiPCSamplingStart CUPTI_ERROR_UNKNOWN");
	assert_true(o.kernels > 0);
	o = run("start", "fail cuptiPCSamplingStop CUPTI_ERROR_UNKNOWN nth=1");
	assert_true(o.kernels > 0);
	unsetenv("CUPROBE_PC_MODE");
}

static void readers_may_come_and_go(void **state)
{
	struct outcome o = run("cycles", "");

	(void)state;
	assert_true(o.samples > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_arrives),
		cmocka_unit_test(what_remains_is_fetched_too),
		cmocka_unit_test(functions_of_before_are_known_once_launched),
		cmocka_unit_test(a_context_may_end_while_it_is_sampled),
		cmocka_unit_test(windows_close_by_themselves),
		cmocka_unit_test(what_cannot_begin_is_said_once),
		cmocka_unit_test(nothing_is_sampled_when_launches_are_not_shown),
		cmocka_unit_test(other_calls_that_fail_cost_little),
		cmocka_unit_test(what_always_fails_is_given_up),
		cmocka_unit_test(windows_that_fail_are_given_up),
		cmocka_unit_test(readers_may_come_and_go),
	};

	if (argc > 1)
		return child_main(argv[1]);
	setenv("MOCK_KERNEL_NS", "100000", 1);
	return cmocka_run_group_tests(tests, rerun_setup, rerun_teardown);
}
