/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library linked into a program on the simulated CUDA: consumers come and go, again and again,
 * while threads launch. CYCLES sets how often, THREADS how many threads.
 */
#include "test/unit/outlet_fake.h"

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "src/inject/control.h"
#include "src/inject/cupti_buffers.h"
#include "src/inject/inject.h"
#include "src/inject/ledger.h"

#define MAX_THREADS 64
#define PATIENCE_MS 20000

static atomic_uint wanted_probes;
static atomic_int state;
static atomic_ullong delivered[CUPROBE_PROBE_COUNT];
static atomic_bool stop;
static CUcontext context;
static CUfunction function;

static __u32 cycle_consumers(enum cuprobe_probe_id probe)
{
	return atomic_load(&wanted_probes) >> probe & 1;
}

static void cycle_deliver(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
			  __u64 seq)
{
	const struct cuprobe_status *status = data;

	assert_int_equal(seq, atomic_fetch_add(&delivered[probe], count));
	assert_in_range(bytes, 1, CUPROBE_BATCH_BYTES);
	for (__u32 i = 0; probe == CUPROBE_PROBE_status && i < count; i++) {
		if (status[i].type == CUPROBE_STATUS_STATE)
			atomic_store(&state, (int)status[i].state.state);
	}
}

static const struct cuprobe_outlet cycle_outlet = {cycle_consumers, cycle_deliver};

static unsigned int setting(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned int)atoi(text) : otherwise;
}

static void sleep_ms(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void state_await(enum cuprobe_state expected)
{
	for (int ms = 0; atomic_load(&state) != (int)expected; ms++) {
		if (ms > PATIENCE_MS)
			fail_msg("state %d did not come, it is %d", expected, atomic_load(&state));
		cuprobe_control_wake();
		sleep_ms(1);
	}
}

static void *launch_all_the_time(void *unused)
{
	const struct timespec pause = {.tv_nsec = 50000};
	CUdeviceptr memory;
	CUstream stream;

	(void)unused;
	assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
	assert_int_equal(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	assert_int_equal(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
	while (!atomic_load(&stop)) {
		for (int i = 0; i < 20; i++) {
			cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
			cuMemsetD8Async(memory, 0, 4096, stream);
		}
		cuStreamSynchronize(stream);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void cuda_start(void)
{
	CUmodule module;
	CUdevice device;

	assert_int_equal(cuInit(0), CUDA_SUCCESS);
	assert_int_equal(cuDeviceGet(&device, 0), CUDA_SUCCESS);
	assert_int_equal(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
	assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
	assert_int_equal(cuModuleLoadData(&module, "kernels"), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&function, module, "_Z3addPf"), CUDA_SUCCESS);
}

/* Some of the kinds, others each time. */
static __u32 probes_of(unsigned int cycle)
{
	const __u32 data =
		0x1ff & (1u << (cycle % 9) | 1u << (cycle / 3 % 9) | (cycle & 1 ? 0x51 : 0));

	return data | CUPROBE_METADATA_PROBES;
}

static void cycle_once(unsigned int cycle)
{
	atomic_store(&wanted_probes, probes_of(cycle));
	state_await(CUPROBE_STATE_ACTIVE);
	if (cycle % 3)
		sleep_ms(cycle % 5);
	atomic_store(&wanted_probes, CUPROBE_METADATA_PROBES);
	if (cycle % 4 == 3) { /* back before the release is through */
		state_await(CUPROBE_STATE_RELEASING);
		atomic_store(&wanted_probes, probes_of(cycle));
		state_await(CUPROBE_STATE_ACTIVE);
		atomic_store(&wanted_probes, CUPROBE_METADATA_PROBES);
	}
	state_await(CUPROBE_STATE_DORMANT);
}

static long resident_kb(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%*s %ld", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * 4;
}

static void ledgers_balance(void)
{
	struct cuprobe_status_ledger l;

	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		cuprobe_ledger_read(probe, &l);
		assert_int_equal(l.produced,
				 l.fired + l.discarded + l.invalid + l.lost + l.pending);
		assert_int_equal(l.fired, atomic_load(&delivered[probe]));
		assert_int_equal(l.invalid, 0);
		assert_int_equal(l.lost, 0);
	}
}

static void survives_consumers_that_come_and_go(void **test_state)
{
	unsigned int cycles = setting("CYCLES", 100), threads = setting("THREADS", 8);
	pthread_t launchers[MAX_THREADS];
	long warm_kb = 0;

	(void)test_state;
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	for (unsigned int i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&launchers[i], NULL, launch_all_the_time, NULL), 0);
	for (unsigned int cycle = 0; cycle < cycles; cycle++) {
		cycle_once(cycle);
		assert_int_equal(cuprobe_buffers_held(), 0);
		if (cycle == cycles / 2)
			warm_kb = resident_kb();
	}
	print_message("%u cycles, %llu kernels, %ld KB after half of them, %ld KB at the end\n",
		      cycles, (unsigned long long)delivered[CUPROBE_PROBE_kernel], warm_kb,
		      resident_kb());
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(launchers[i], NULL);
	assert_true(delivered[CUPROBE_PROBE_kernel] > 0);
}

static void balances_its_books_at_the_end(void **test_state)
{
	(void)test_state;
	cuprobe_control_finish(2000000000);
	ledgers_balance();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_consumers_that_come_and_go),
		cmocka_unit_test(balances_its_books_at_the_end),
	};

	setenv("MOCK_STRICT", "1", 0);
	setenv("CUPROBE_CUPTI_PATH", MOCK_DIR, 0);
	cuprobe_outlet = &cycle_outlet;
	atomic_store(&wanted_probes, CUPROBE_METADATA_PROBES);
	InitializeInjection();
	cuda_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
