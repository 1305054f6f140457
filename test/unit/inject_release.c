/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI is given back in the way that harms no graph: the simulator breaks them where the real one
 * does (test/mock/cupti_hazard.c). Each case is a process of its own, this program again.
 */
#include <stdio.h>
#include <string.h>

#include "src/inject/cupti_kinds.h"
#include "test/unit/rerun.h"
#include "test/unit/workload.h"

#define BIT(name) (1u << CUPROBE_PROBE_##name)
#define NODES 8
#define WATCHED_MS 900 /* graphs are given up after a second of one thread's calls */

static CUgraphExec graph_make(void)
{
	CUDA_KERNEL_NODE_PARAMS params = {.func = workload.function,
					  .gridDimX = 1,
					  .gridDimY = 1,
					  .gridDimZ = 1,
					  .blockDimX = 32,
					  .blockDimY = 1,
					  .blockDimZ = 1};
	CUgraphNode node;
	CUgraphExec exec;
	CUgraph graph;

	assert_int_equal(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
	for (int i = 0; i < NODES; i++)
		assert_int_equal(cuGraphAddKernelNode(&node, graph, NULL, 0, &params),
				 CUDA_SUCCESS);
	assert_int_equal(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
	assert_int_equal(cuGraphDestroy(graph), CUDA_SUCCESS);
	return exec;
}

/* The same graph again and again, for as long as the program lives. */
static atomic_uint launching; /* threads that have launched a graph */

static void *graph_launch(void *unused)
{
	CUgraphExec exec;
	CUstream stream;

	(void)unused;
	assert_int_equal(cuCtxSetCurrent(workload.context), CUDA_SUCCESS);
	assert_int_equal(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	exec = graph_make();
	assert_int_equal(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
	atomic_fetch_add(&launching, 1);
	while (!atomic_load(&workload.stop)) {
		assert_int_equal(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
		workload_sleep_ms(2);
	}
	return NULL;
}

static void *wait_long(void *unused)
{
	(void)unused;
	assert_int_equal(cuCtxSetCurrent(workload.context), CUDA_SUCCESS);
	workload_sleep_ms(100);
	assert_int_equal(cuStreamSynchronize(NULL), CUDA_SUCCESS);
	return NULL;
}

static void thread_add(void *(*body)(void *))
{
	assert_int_equal(
		pthread_create(&workload.threads[workload.thread_count++], NULL, body, NULL), 0);
}

static void graphs_start(unsigned int threads)
{
	for (unsigned int i = 0; i < threads; i++)
		thread_add(graph_launch);
	while (atomic_load(&launching) < threads)
		workload_sleep_ms(1);
}

static void want(__u32 probes)
{
	atomic_store(&workload.wanted, probes | CUPROBE_METADATA_PROBES);
}

static void attach(__u32 probes)
{
	want(probes);
	assert_true(workload_await(CUPROBE_STATE_ACTIVE, WORKLOAD_PATIENCE_MS));
	workload_sleep_ms(250);
}

/* Returns how long it took until CUPTI was given back. */
static long detach(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	want(0);
	assert_true(workload_await(CUPROBE_STATE_DORMANT, WORKLOAD_PATIENCE_MS));
	clock_gettime(CLOCK_MONOTONIC, &to);
	workload_sleep_ms(50); /* a graph that is broken says so when it is launched */
	return (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
}

/* As when a reader leaves one probe after the other. */
static void want_less(__u32 probes)
{
	want(probes);
	cuprobe_control_wake();
	workload_sleep_ms(1);
}

/* What CUPTI did to the GPU is forgotten only when it was finalised. */
static bool finalised(void)
{
	return !cuprobe_kinds_gpu_used();
}

static unsigned long long delivered(enum cuprobe_probe_id probe)
{
	return atomic_load(&workload.delivered[probe]);
}

static void finalises_beside_the_graphs_of_one_thread(void)
{
	unsigned long long kernels = 0;

	workload_init();
	graphs_start(1);
	for (int i = 0; i < 2; i++) {
		attach(BIT(kernel) | BIT(memcpy) | BIT(api));
		want_less(BIT(memcpy) | BIT(api));
		want_less(BIT(api));
		assert_in_range(detach(), WATCHED_MS, WORKLOAD_PATIENCE_MS);
		assert_true(finalised());
		assert_true(delivered(CUPROBE_PROBE_kernel) > kernels);
		kernels = delivered(CUPROBE_PROBE_kernel);
	}
}

static void only_unsubscribes_beside_the_graphs_of_several(void)
{
	unsigned long long kernels = 0;

	workload_init();
	graphs_start(3);
	for (int i = 0; i < 2; i++) {
		attach(BIT(kernel) | BIT(memcpy));
		detach();
		assert_false(finalised());
		assert_true(atomic_load(&workload.messages) > 0);
		assert_true(delivered(CUPROBE_PROBE_kernel) > kernels);
		kernels = delivered(CUPROBE_PROBE_kernel);
	}
}

static void only_unsubscribes_when_a_thread_comes_while_it_waits(void)
{
	workload_init();
	graphs_start(1);
	attach(BIT(kernel));
	want(0);
	assert_true(workload_await(CUPROBE_STATE_RELEASING, WORKLOAD_PATIENCE_MS));
	thread_add(workload_launch);
	assert_true(workload_await(CUPROBE_STATE_DORMANT, WORKLOAD_PATIENCE_MS));
	assert_false(finalised());
}

static void only_unsubscribes_beside_a_thread_that_waits(void)
{
	workload_init();
	graphs_start(1);
	thread_add(wait_long);
	attach(BIT(kernel));
	detach();
	assert_false(finalised());
}

static void finalises_beside_threads_without_graphs(void)
{
	workload_init();
	workload_start(4);
	for (int i = 0; i < 3; i++) {
		attach(BIT(kernel) | BIT(memset) | BIT(api));
		detach();
		assert_true(finalised());
	}
}

/* With what is shown of a call switched off during the call it could not. */
static void finalises_after_launches_were_told(void)
{
	workload_init();
	workload_start(2);
	for (int i = 0; i < 3; i++) {
		attach(BIT(kernel) | BIT(launch) | BIT(stack));
		want(i == 1 ? BIT(kernel) : BIT(launch));
		workload_sleep_ms(200);
		detach();
		assert_true(finalised());
	}
}

static void never_finalises_once_it_has_unsubscribed(void)
{
	workload_init();
	workload_start(2);
	for (int i = 0; i < 2; i++) {
		attach(BIT(kernel) | BIT(launch));
		detach();
		assert_false(finalised());
	}
}

static void only_unsubscribes_after_a_consumer_left_before_the_others(void)
{
	workload_init();
	graphs_start(1);
	attach(BIT(kernel) | BIT(api));
	want(BIT(api));
	workload_sleep_ms(200);
	detach();
	assert_false(finalised());
	attach(BIT(kernel));
	detach();
	assert_false(finalised());
}

static void traces_no_whole_graphs_that_were_there_before(void)
{
	workload_init();
	graphs_start(1);
	attach(BIT(kernel) | BIT(graph));
	detach();
	assert_int_equal(delivered(CUPROBE_PROBE_graph), 0);
	assert_true(delivered(CUPROBE_PROBE_kernel) > 0);
	assert_true(atomic_load(&workload.messages) > 0);
}

static void traces_whole_graphs_from_the_start(void)
{
	unsigned long long graphs;

	atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES | BIT(kernel) | BIT(graph));
	workload_init();
	graphs_start(1);
	attach(BIT(kernel) | BIT(graph));
	detach();
	graphs = delivered(CUPROBE_PROBE_graph);
	assert_true(graphs > 0);
	assert_int_equal(delivered(CUPROBE_PROBE_kernel), 0);
	assert_false(finalised());
	attach(BIT(kernel) | BIT(graph)); /* too late now */
	detach();
	assert_int_equal(delivered(CUPROBE_PROBE_graph), graphs);
	assert_true(delivered(CUPROBE_PROBE_kernel) > 0);
}

static const struct {
	const char *name;
	void (*run)(void);
	const char *orders; /* for the simulator */
} cases[] = {
#define CASE(name, orders)                                                                         \
	{                                                                                          \
#name, name, orders                                                                \
	}
	CASE(finalises_beside_the_graphs_of_one_thread, ""),
	CASE(only_unsubscribes_beside_the_graphs_of_several, ""),
	CASE(only_unsubscribes_when_a_thread_comes_while_it_waits, ""),
	CASE(only_unsubscribes_beside_a_thread_that_waits, "delay cuStreamSynchronize ms=3000"),
	CASE(finalises_beside_threads_without_graphs, ""),
	CASE(finalises_after_launches_were_told, "delay cuLaunchKernel ms=10"),
	CASE(never_finalises_once_it_has_unsubscribed,
	     "delay cuLaunchKernel ms=10; fail cuptiFinalize CUPTI_ERROR_UNKNOWN nth=1"),
	CASE(only_unsubscribes_after_a_consumer_left_before_the_others, ""),
	CASE(traces_no_whole_graphs_that_were_there_before, ""),
	CASE(traces_whole_graphs_from_the_start, ""),
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static int child_main(const char *name)
{
	for (size_t i = 0; i < CASES; i++) {
		if (strcmp(cases[i].name, name))
			continue;
		cases[i].run();
		workload_stop();
		cuprobe_control_finish(2000000000);
		return workload_balances() ? 0 : 3;
	}
	return 2;
}

/* The simulator ends a child whose CUPTI calls would have broken a graph with status 86. */
static void survives(void **state)
{
	size_t i = (uintptr_t)*state;
	char line[256];
	int status;

	setenv("MOCK_DO", cases[i].orders, 1);
	status = rerun(cases[i].name, line, sizeof(line));
	if (status)
		fail_msg("status 0x%x: %s", (unsigned int)status, line);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[CASES];

	if (argc > 1)
		return child_main(argv[1]);
	for (size_t i = 0; i < CASES; i++)
		tests[i] = (struct CMUnitTest){cases[i].name, survives, NULL, NULL,
					       (void *)(uintptr_t)i};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
