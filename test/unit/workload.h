/* SPDX-License-Identifier: Apache-2.0 */
/* A program on the simulated CUDA with the library inside, and consumers that a test plays. */
#ifndef CUPROBE_UNIT_WORKLOAD_H
#define CUPROBE_UNIT_WORKLOAD_H

#include <cuda.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "cuprobe/abi.h"
#include "src/inject/control.h"
#include "src/inject/inject.h"
#include "src/inject/ledger.h"
#include "src/inject/outlet.h"

#define WORKLOAD_PATIENCE_MS 20000
#define WORKLOAD_MAX_THREADS 64

static struct {
	atomic_uint wanted; /* bit n: probe n has a consumer */
	atomic_uint newcomers;
	atomic_int state; /* the last that was published */
	atomic_uint messages;
	atomic_ullong delivered[CUPROBE_PROBE_COUNT];
	atomic_bool stop;
	void (*seen)(enum cuprobe_probe_id probe, const void *data, __u32 count); /* or NULL */
	long deliver_ms; /* how long a consumer keeps the pump with each batch of kernels */
	CUcontext context;
	CUfunction function;
	pthread_t threads[WORKLOAD_MAX_THREADS];
	unsigned int thread_count;
} workload;

static inline void workload_sleep_ms(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static inline __u32 workload_consumers(enum cuprobe_probe_id probe)
{
	return atomic_load(&workload.wanted) >> probe & 1;
}

static inline __u32 workload_newcomers(void)
{
	return atomic_load(&workload.newcomers);
}

static inline void workload_deliver(enum cuprobe_probe_id probe, const void *data, __u32 bytes,
				    __u32 count, __u64 seq)
{
	const struct cuprobe_status *status = data;

	assert_int_equal(seq, atomic_fetch_add(&workload.delivered[probe], count));
	assert_in_range(bytes, 1, CUPROBE_BATCH_BYTES);
	if (probe == CUPROBE_PROBE_kernel && workload.deliver_ms)
		workload_sleep_ms(workload.deliver_ms);
	if (workload.seen)
		workload.seen(probe, data, count);
	for (__u32 i = 0; probe == CUPROBE_PROBE_status && i < count; i++) {
		if (status[i].type == CUPROBE_STATUS_STATE)
			atomic_store(&workload.state, (int)status[i].state.state);
		if (status[i].type == CUPROBE_STATUS_MESSAGE)
			atomic_fetch_add(&workload.messages, 1);
	}
}

/* True once the library has published the state. */
static inline bool workload_await(enum cuprobe_state expected, int patience_ms)
{
	for (int ms = 0; atomic_load(&workload.state) != (int)expected; ms++) {
		if (ms > patience_ms)
			return false;
		cuprobe_control_wake();
		workload_sleep_ms(1);
	}
	return true;
}

/* The library first, with somebody at `status`; then CUDA, as far as a kernel that can be launched.
 */
static inline void workload_init(void)
{
	static const struct cuprobe_outlet outlet = {workload_consumers, workload_deliver,
						     workload_newcomers};
	CUmodule module;
	CUdevice device;

	setenv("MOCK_STRICT", "1", 0);
	setenv("CUPROBE_CUPTI_PATH", MOCK_DIR, 0);
	cuprobe_outlet = &outlet;
	atomic_fetch_or(&workload.wanted, CUPROBE_METADATA_PROBES);
	InitializeInjection();
	assert_int_equal(cuInit(0), CUDA_SUCCESS);
	assert_int_equal(cuDeviceGet(&device, 0), CUDA_SUCCESS);
	assert_int_equal(cuDevicePrimaryCtxRetain(&workload.context, device), CUDA_SUCCESS);
	assert_int_equal(cuCtxSetCurrent(workload.context), CUDA_SUCCESS);
	assert_int_equal(cuModuleLoadData(&module, "kernels"), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&workload.function, module, "_Z3addPf"), CUDA_SUCCESS);
}

static inline void *workload_launch(void *unused)
{
	const struct timespec pause = {.tv_nsec = 5000000}; /* a pump under TSan keeps up */
	CUdeviceptr memory;
	CUstream stream;

	(void)unused;
	assert_int_equal(cuCtxSetCurrent(workload.context), CUDA_SUCCESS);
	assert_int_equal(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	assert_int_equal(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
	while (!atomic_load(&workload.stop)) {
		for (int i = 0; i < 20; i++) {
			assert_int_equal(cuLaunchKernel(workload.function, 1, 1, 1, 32, 1, 1, 0,
							stream, NULL, NULL),
					 CUDA_SUCCESS);
			assert_int_equal(cuMemsetD8Async(memory, 0, 4096, stream), CUDA_SUCCESS);
		}
		assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static inline void workload_start(unsigned int threads)
{
	assert_in_range(threads, 1, WORKLOAD_MAX_THREADS);
	workload.thread_count = threads;
	for (unsigned int i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&workload.threads[i], NULL, workload_launch, NULL),
				 0);
}

static inline void workload_stop(void)
{
	atomic_store(&workload.stop, true);
	for (unsigned int i = 0; i < workload.thread_count; i++)
		pthread_join(workload.threads[i], NULL);
}

/* The law of struct cuprobe_status_ledger; to be called when the pump has ended. */
static inline bool workload_balances(void)
{
	struct cuprobe_status_ledger l;

	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		cuprobe_ledger_read(probe, &l);
		if (l.produced != l.fired + l.discarded + l.invalid + l.lost + l.pending ||
		    l.fired != atomic_load(&workload.delivered[probe]))
			return false;
	}
	return true;
}

#endif
