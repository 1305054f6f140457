/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated GPU: a stream is a timeline, work gets its start and end when it is enqueued, and
 * is done when the clock has passed its end. So no thread is needed to run it, and nothing can be
 * late.
 */
#include "test/mock/driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ull
#define SUBMIT_NS 1200 /* from the call to the first op, on an idle stream */
#define SPIN_NS 60000  /* shorter waits than that are not worth a sleep */

static bool instant;
static uint64_t fixed_kernel_ns;

uint64_t mock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

void gpu_init(void)
{
	const char *mode = mock_setting("MOCK_GPU"), *kernel = mock_setting("MOCK_KERNEL_NS");

	instant = mode && !strcmp(mode, "instant");
	fixed_kernel_ns = kernel ? strtoull(kernel, NULL, 10) : 0;
}

bool gpu_instant(void)
{
	return instant;
}

static uint64_t name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
	return hash;
}

/* Matrix products take longer than what is done element by element. */
static bool name_is_heavy(const char *name)
{
	static const char *const heavy[] = {"gemm", "nvjet", "flash", "cutlass"};

	for (unsigned int i = 0; i < sizeof(heavy) / sizeof(*heavy); i++) {
		if (strstr(name, heavy[i]))
			return true;
	}
	return false;
}

/* The same kernel takes about the same time in every run. */
uint64_t gpu_kernel_ns(const char *name)
{
	uint64_t hash = name_hash(name);

	if (instant)
		return 1;
	if (fixed_kernel_ns)
		return fixed_kernel_ns;
	return name_is_heavy(name) ? 9000 + hash % 18000 : 1500 + hash % 4000;
}

uint64_t gpu_copy_ns(uint64_t bytes, uint32_t copy_kind)
{
	uint64_t bytes_per_us = 25000;

	if (instant)
		return 1;
	if (copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
		bytes_per_us = 1500000;
	else if (copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
		bytes_per_us = 300000;
	return 900 + bytes * 1000 / bytes_per_us;
}

void gpu_wait_until(uint64_t time_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(time_ns / NSEC_PER_SEC),
			      .tv_nsec = (long)(time_ns % NSEC_PER_SEC)};

	while (mock_now() < time_ns) {
		if (mock_now() + SPIN_NS < time_ns)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
}

uint64_t gpu_done_at(CUstream stream)
{
	uint64_t done;

	pthread_mutex_lock(&stream->lock);
	done = stream->busy_until_ns;
	pthread_mutex_unlock(&stream->lock);
	return done;
}

void gpu_wait(CUstream stream)
{
	gpu_wait_until(gpu_done_at(stream));
}

void gpu_hold(CUstream stream, uint64_t time_ns)
{
	pthread_mutex_lock(&stream->lock);
	if (stream->busy_until_ns < time_ns)
		stream->busy_until_ns = time_ns;
	pthread_mutex_unlock(&stream->lock);
}

/* What a kernel takes this time: within 6 % of what it always takes, as clocks and caches have it.
 */
uint64_t gpu_vary(uint64_t duration_ns, uint64_t seed)
{
	uint64_t spread = duration_ns / 8;

	if (instant || fixed_kernel_ns || !spread)
		return duration_ns;
	return duration_ns - spread / 2 + (seed * 0x9e3779b97f4a7c15ull >> 32) % spread;
}

/* A full queue makes the caller wait, as a full push buffer does. */
static void gpu_reserve(CUstream stream)
{
	uint64_t oldest;

	pthread_mutex_lock(&stream->lock);
	oldest = stream->queue[stream->queue_head % MOCK_QUEUE_DEPTH];
	pthread_mutex_unlock(&stream->lock);
	if (!instant)
		gpu_wait_until(oldest);
}

static void gpu_schedule(CUstream stream, struct mock_launch *launch, uint64_t duration_ns)
{
	uint64_t now = mock_now();

	pthread_mutex_lock(&stream->lock);
	launch->queued_ns = now;
	launch->submitted_ns = now + (instant ? 0 : SUBMIT_NS / 2);
	launch->start_ns = now + (instant ? 0 : SUBMIT_NS);
	if (launch->start_ns < stream->busy_until_ns)
		launch->start_ns = stream->busy_until_ns;
	launch->end_ns = launch->start_ns + duration_ns;
	stream->busy_until_ns = launch->end_ns;
	stream->queue[stream->queue_head++ % MOCK_QUEUE_DEPTH] = launch->end_ns;
	pthread_mutex_unlock(&stream->lock);
}

CUresult gpu_run(CUstream stream, const struct mock_op *ops, uint32_t count,
		 struct CUgraphExec_st *exec)
{
	const struct mock_tools *tools = call_tools();
	struct mock_launch launch = {.ops = ops,
				     .op_count = count,
				     .exec = exec,
				     .stream = stream,
				     .correlation = call_correlation()};

	gpu_reserve(stream);
	gpu_schedule(stream, &launch, exec ? exec->duration_ns : ops->duration_ns);
	if (exec)
		atomic_fetch_add_explicit(&exec->launches, 1, memory_order_relaxed);
	else
		truth_op(ops, 1);
	if (tools)
		tools->launch(&launch);
	return CUDA_SUCCESS;
}

CUresult gpu_submit(CUstream stream, const struct mock_op *op)
{
	struct mock_op varied = *op;

	if (stream->capture)
		return graph_append(stream->capture, op, NULL);
	varied.duration_ns = gpu_vary(op->duration_ns, call_correlation());
	return gpu_run(stream, &varied, 1, NULL);
}
