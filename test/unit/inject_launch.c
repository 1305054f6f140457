/* SPDX-License-Identifier: Apache-2.0 */
/* Launches and their stacks, as a consumer of the two probes sees them. */
#include "test/unit/workload.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "src/inject/cupti_calls.h"
#include "src/inject/pump.h"

extern char _start[];

#define BIT(name) CUPROBE_PROBE_BIT(CUPROBE_PROBE_##name)
#define WANTED (CUPROBE_METADATA_PROBES | BIT(launch) | BIT(stack))
#define MOST 65536

/* Written by the pump; the tests read it when that is done. */
static struct {
	struct cuprobe_launch launches[MOST];
	struct cuprobe_stack stacks[MOST];
	atomic_uint launch_count, stack_count;
} seen;

static void see(enum cuprobe_probe_id probe, const void *data, __u32 count)
{
	const struct cuprobe_launch *launches = data;
	const struct cuprobe_stack *stacks = data;

	for (__u32 i = 0; i < count; i++) {
		if (probe == CUPROBE_PROBE_launch && seen.launch_count < MOST)
			seen.launches[seen.launch_count++] = launches[i];
		if (probe == CUPROBE_PROBE_stack && seen.stack_count < MOST)
			seen.stacks[seen.stack_count++] = stacks[i];
	}
}

static void drained(void)
{
	__u32 ticket = cuprobe_pump_drain();

	for (int ms = 0; !cuprobe_pump_drained(ticket); ms++) {
		assert_in_range(ms, 0, WORKLOAD_PATIENCE_MS);
		workload_sleep_ms(1);
	}
}

static void seen_forget(void)
{
	drained();
	seen.launch_count = 0;
	seen.stack_count = 0;
}

/* All pieces of a stack, joined. Returns the number of frames. */
static __u32 stack_frames(__u32 id, struct cuprobe_frame *ret, __u32 most)
{
	__u32 frames = 0;

	for (__u32 i = 0; i < seen.stack_count; i++) {
		const struct cuprobe_stack *s = &seen.stacks[i];

		if (s->id != id)
			continue;
		assert_in_range(s->first + s->count, 1, most);
		memcpy(ret + s->first, s->frame, s->count * sizeof(*ret));
		frames = s->frames;
	}
	return frames;
}

static CUresult launch(void)
{
	return cuLaunchKernel(workload.function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static void tells_what_calls_do(void **state)
{
	(void)state;
	assert_int_equal(cuprobe_calls_classes("cudaLaunchKernelExC_v11060_ptsz"),
			 CUPROBE_CALL_LAUNCHES_KERNEL);
	assert_int_equal(cuprobe_calls_classes("__cudaLaunchKernel_v13000"),
			 CUPROBE_CALL_LAUNCHES_KERNEL);
	assert_int_equal(cuprobe_calls_classes("cuLaunchCooperativeKernelMultiDevice"),
			 CUPROBE_CALL_LAUNCHES_KERNEL | CUPROBE_CALL_FENCED);
	assert_int_equal(cuprobe_calls_classes("cudaGraphLaunch_v10000"),
			 CUPROBE_CALL_LAUNCHES_GRAPH);
	assert_int_equal(cuprobe_calls_classes("cuGraphLaunch_ptsz"),
			 CUPROBE_CALL_LAUNCHES_GRAPH | CUPROBE_CALL_USES_GRAPH |
				 CUPROBE_CALL_FENCED);
	assert_int_equal(cuprobe_calls_classes("cuMemcpyDtoHAsync_v2_ptsz"), CUPROBE_CALL_COPIES);
	assert_int_equal(cuprobe_calls_classes("cuMemcpyDtoH_v2"),
			 CUPROBE_CALL_COPIES | CUPROBE_CALL_WAITS);
	assert_int_equal(cuprobe_calls_classes("cuMemcpyHtoD_v2_ptds"), CUPROBE_CALL_COPIES);
	assert_int_equal(cuprobe_calls_classes("cuMemcpyDtoDAsync_v2"),
			 CUPROBE_CALL_COPIES | CUPROBE_CALL_FENCED);
	assert_int_equal(cuprobe_calls_classes("cuMemsetD8Async_ptsz"),
			 CUPROBE_CALL_COPIES | CUPROBE_CALL_FENCED);
	assert_int_equal(cuprobe_calls_classes("cudaMemset2DAsync_v3020"), CUPROBE_CALL_COPIES);
	assert_int_equal(cuprobe_calls_classes("cudaMemcpyBatchAsync_v12080"), CUPROBE_CALL_COPIES);
	assert_int_equal(cuprobe_calls_classes("cuGraphInstantiateWithFlags"),
			 CUPROBE_CALL_USES_GRAPH | CUPROBE_CALL_FENCED);
	assert_int_equal(cuprobe_calls_classes("cuModuleLoadData"), CUPROBE_CALL_FENCED);
	assert_int_equal(cuprobe_calls_classes("cuLibraryGetGlobal"), CUPROBE_CALL_FENCED);
	assert_int_equal(cuprobe_calls_classes("cuStreamBeginCapture_v2"), 0);
	assert_int_equal(cuprobe_calls_classes("cudaLaunchHostFunc_v10000"), 0);
	assert_int_equal(cuprobe_calls_classes("cudaMemGetInfo_v3020"), 0);
	assert_int_equal(cuprobe_calls_classes("cudaDeviceSynchronize_v3020"), 0);
}

static void each_launch_is_told_once(void **state)
{
	CUlaunchConfig config = {.gridDimX = 1,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 32,
				 .blockDimY = 1,
				 .blockDimZ = 1};
	CUdeviceptr memory;

	(void)state;
	assert_int_equal(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
	seen_forget();
	assert_int_equal(launch(), CUDA_SUCCESS);
	assert_int_equal(cuLaunchKernelEx(&config, workload.function, NULL, NULL), CUDA_SUCCESS);
	assert_int_equal(
		cuLaunchCooperativeKernel(workload.function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL),
		CUDA_SUCCESS);
	assert_int_equal(cuMemsetD8(memory, 0, 4096), CUDA_SUCCESS);
	assert_int_equal(cuMemcpyDtoD(memory, memory + 1024, 1024), CUDA_SUCCESS);
	assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
	drained();
	assert_int_equal(seen.launch_count, 5);
	for (__u32 i = 0; i < 5; i++) {
		const struct cuprobe_launch *l = &seen.launches[i];

		assert_true(l->domain_api & CUPROBE_LAUNCH_DRIVER);
		assert_int_not_equal(l->correlation, 0);
		assert_int_not_equal(l->stack, 0);
		assert_int_equal(l->weight, CUPROBE_LAUNCH_WEIGHT_ONE);
		assert_true(!i || l->correlation > l[-1].correlation);
		assert_true(!i || l->time_ns >= l[-1].time_ns);
	}
}

static void a_call_that_fails_is_no_launch(void **state)
{
	(void)state;
	seen_forget();
	assert_int_not_equal(
		cuLaunchKernel(workload.function, 0, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
		CUDA_SUCCESS);
	assert_int_equal(launch(), CUDA_SUCCESS);
	drained();
	assert_int_equal(seen.launch_count, 1);
}

/* True for a return address in the function, which is not long. */
static bool is_in(__u64 pc, void *function)
{
	return pc > (__u64)function && pc - (__u64)function < 4096;
}

static __attribute__((noinline)) CUresult launches_from_here(void)
{
	CUresult result = launch();

	__asm__ volatile("" : "+r"(result)); /* no tail call */
	return result;
}

static void stacks_lead_from_the_launch_to_the_start(void **state)
{
	struct cuprobe_frame frames[1200];
	bool passed = false;
	Dl_info info;
	__u32 count;

	(void)state;
	seen_forget();
	assert_int_equal(launches_from_here(), CUDA_SUCCESS);
	drained();
	count = stack_frames(seen.launches[0].stack, frames, 1200);
	assert_in_range(count, 5, 100);
	for (__u32 i = 0; i < count; i++) {
		assert_int_equal(frames[i].kind, CUPROBE_FRAME_NATIVE);
		passed |= is_in(frames[i].pc, (void *)launches_from_here);
	}
	assert_true(passed);
	assert_true(dladdr((void *)frames[0].pc, &info));
	assert_non_null(strstr(info.dli_fname, "libcupti"));
	assert_true(is_in(frames[count - 1].pc, _start));
}

static void a_stack_is_defined_once_and_again_for_a_newcomer(void **state)
{
	__u32 stack, pieces;

	(void)state;
	seen_forget();
	for (volatile int i = 0; i < 100; i++)
		assert_int_equal(launches_from_here(), CUDA_SUCCESS);
	drained();
	assert_int_equal(seen.launch_count, 100);
	stack = seen.launches[0].stack;
	pieces = seen.stack_count;
	assert_in_range(pieces, 1, 3);
	for (int i = 0; i < 100; i++)
		assert_int_equal(seen.launches[i].stack, stack);
	atomic_fetch_add(&workload.newcomers, 1);
	cuprobe_pump_wake();
	for (int ms = 0; seen.stack_count < 2 * pieces; ms++) {
		assert_in_range(ms, 0, WORKLOAD_PATIENCE_MS);
		workload_sleep_ms(1);
	}
}

static void *thread_launch(void *arg)
{
	assert_int_equal(cuCtxSetCurrent(workload.context), CUDA_SUCCESS);
	for (volatile int i = 0; i < 20; i++)
		assert_int_equal(launches_from_here(), CUDA_SUCCESS);
	return arg;
}

#define THREADS 8

/* All of them one after the other have one stack, and their records are not mixed up. */
static void threads_with_small_stacks_are_followed(void **state)
{
	struct cuprobe_frame frames[100];
	pthread_t threads[THREADS];
	pthread_attr_t attr;
	__u32 count;

	(void)state;
	seen_forget();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], &attr, thread_launch, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_attr_destroy(&attr);
	drained();
	assert_int_equal(seen.launch_count, THREADS * 20);
	count = stack_frames(seen.launches[0].stack, frames, 100);
	assert_in_range(count, 4, 100);
	for (__u32 i = 0; i < count; i++)
		assert_int_equal(frames[i].kind, CUPROBE_FRAME_NATIVE);
	for (__u32 i = 0; i < seen.launch_count; i++)
		assert_int_equal(seen.launches[i].stack, seen.launches[0].stack);
}

static void without_the_probe_stack_none_is_taken(void **state)
{
	(void)state;
	seen_forget();
	atomic_fetch_and(&workload.wanted, ~BIT(stack));
	assert_int_equal(launch(), CUDA_SUCCESS);
	drained();
	atomic_fetch_or(&workload.wanted, BIT(stack));
	assert_int_equal(seen.launch_count, 1);
	assert_int_equal(seen.launches[0].stack, 0);
	assert_int_equal(seen.launches[0].weight, CUPROBE_LAUNCH_WEIGHT_ONE);
}

static void nothing_is_taken_when_nobody_listens(void **state)
{
	(void)state;
	atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES);
	assert_true(workload_await(CUPROBE_STATE_RELEASING, WORKLOAD_PATIENCE_MS) ||
		    atomic_load(&workload.state) == CUPROBE_STATE_DORMANT);
	seen_forget();
	for (int ms = 0; atomic_load(&workload.state) != CUPROBE_STATE_DORMANT; ms++) {
		assert_in_range(ms, 0, WORKLOAD_PATIENCE_MS);
		assert_int_equal(launch(), CUDA_SUCCESS);
		cuprobe_control_wake();
		workload_sleep_ms(1);
	}
	assert_int_equal(launch(), CUDA_SUCCESS);
	atomic_store(&workload.wanted, WANTED);
	assert_true(workload_await(CUPROBE_STATE_ACTIVE, WORKLOAD_PATIENCE_MS));
	drained();
	assert_int_equal(seen.launch_count, 0);
	assert_int_equal(launch(), CUDA_SUCCESS);
	drained();
	assert_int_equal(seen.launch_count, 1);
}

static void balances_its_books_and_lost_nothing(void **state)
{
	(void)state;
	cuprobe_control_finish(2000000000);
	assert_true(workload_balances());
	assert_int_equal(cuprobe_ledger[CUPROBE_PROBE_launch].lost, 0);
	assert_int_equal(cuprobe_ledger[CUPROBE_PROBE_stack].lost, 0);
}

static int start(void **state)
{
	(void)state;
	setenv("CUPROBE_STACK_BUDGET", "100", 1);
	workload.seen = see;
	atomic_store(&workload.wanted, WANTED);
	workload_init();
	return !workload_await(CUPROBE_STATE_ACTIVE, WORKLOAD_PATIENCE_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_calls_do),
		cmocka_unit_test(each_launch_is_told_once),
		cmocka_unit_test(a_call_that_fails_is_no_launch),
		cmocka_unit_test(stacks_lead_from_the_launch_to_the_start),
		cmocka_unit_test(a_stack_is_defined_once_and_again_for_a_newcomer),
		cmocka_unit_test(threads_with_small_stacks_are_followed),
		cmocka_unit_test(without_the_probe_stack_none_is_taken),
		cmocka_unit_test(nothing_is_taken_when_nobody_listens),
		cmocka_unit_test(balances_its_books_and_lost_nothing),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
