/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU work of which every count is known: each round of each thread does the same number of
 * launches, copies, memsets, graph replays, events, waits and allocations. At the end the truth is
 * printed as one JSON object, for truth_check.py and round_check.py.
 *
 *	mix [--threads 1] [--rounds 10] [--seconds 0] [--nodes 20] [--kernels 50] [--idle-ms 0]
 *	    [--pause-us 0]
 *
 * --seconds: goes on with rounds until that time has passed (and at least --rounds).
 * --idle-ms: sleeps before the end, with the GPU idle.  --pause-us: sleeps after each round.
 *
 * Each round begins with the kernel `mark` with a grid of (round + 1, 1, 1) blocks, so that a
 * capture of any part of the run can be cut into rounds: see round_check.py.
 */
#include <atomic>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

#include "bench.h"
#include "bench_cuda.h"

#define SMALL 4096u    /* bytes of a copy or memset */
#define LARGE 1048576u /* bytes of a pinned copy */

struct settings {
	unsigned int threads, rounds, seconds, nodes, kernels, idle_ms, pause_us;
};

struct lane {
	cudaStream_t stream, second;
	cudaEvent_t event;
	cudaGraphExec_t exec;
	char *device, *other, *pinned;
	char pageable[SMALL];
	float *data;
};

static __global__ void mark(void)
{
}

static __global__ void first_kernel(float *data)
{
	data[threadIdx.x] += 1.0f;
}

template <int N> __global__ void templated_kernel(float *data)
{
	extern __shared__ float shared[];

	shared[threadIdx.x] = data[threadIdx.x] * N;
	data[threadIdx.x] = shared[threadIdx.x];
}

static __global__ void graph_kernel(float *data)
{
	data[threadIdx.x] *= 0.5f;
}

/* `nodes` kernels, one copy from device to device and one memset. */
static void graph_build(struct lane *l, unsigned int nodes)
{
	cudaGraph_t graph;

	CUDA_CHECK(cudaStreamBeginCapture(l->stream, cudaStreamCaptureModeThreadLocal));
	for (unsigned int i = 0; i < nodes; i++)
		graph_kernel<<<1, 32, 0, l->stream>>>(l->data);
	CUDA_CHECK(
		cudaMemcpyAsync(l->other, l->device, SMALL, cudaMemcpyDeviceToDevice, l->stream));
	CUDA_CHECK(cudaMemsetAsync(l->device, 3, SMALL, l->stream));
	CUDA_CHECK(cudaStreamEndCapture(l->stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&l->exec, graph, 0));
	CUDA_CHECK(cudaGraphDestroy(graph));
}

static void lane_init(struct lane *l, const struct settings *s)
{
	CUDA_CHECK(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamCreateWithFlags(&l->second, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreate(&l->event));
	CUDA_CHECK(cudaMalloc(&l->device, LARGE));
	CUDA_CHECK(cudaMalloc(&l->other, LARGE));
	CUDA_CHECK(cudaMalloc(&l->data, 256 * sizeof(float)));
	CUDA_CHECK(cudaMallocHost(&l->pinned, LARGE));
	graph_build(l, s->nodes);
}

static void lane_done(struct lane *l)
{
	CUDA_CHECK(cudaGraphExecDestroy(l->exec));
	CUDA_CHECK(cudaFreeHost(l->pinned));
	CUDA_CHECK(cudaFree(l->data));
	CUDA_CHECK(cudaFree(l->other));
	CUDA_CHECK(cudaFree(l->device));
	CUDA_CHECK(cudaEventDestroy(l->event));
	CUDA_CHECK(cudaStreamDestroy(l->second));
	CUDA_CHECK(cudaStreamDestroy(l->stream));
}

static void round_copies(struct lane *l)
{
	CUDA_CHECK(cudaMemcpyAsync(l->device, l->pinned, LARGE, cudaMemcpyHostToDevice, l->stream));
	CUDA_CHECK(cudaMemcpyAsync(l->device, l->pinned, SMALL, cudaMemcpyHostToDevice, l->stream));
	CUDA_CHECK(
		cudaMemcpyAsync(l->device, l->pageable, SMALL, cudaMemcpyHostToDevice, l->stream));
	CUDA_CHECK(
		cudaMemcpyAsync(l->other, l->device, LARGE, cudaMemcpyDeviceToDevice, l->stream));
	CUDA_CHECK(cudaMemcpyAsync(l->pinned, l->other, LARGE, cudaMemcpyDeviceToHost, l->stream));
	CUDA_CHECK(cudaMemsetAsync(l->other, 0, LARGE, l->stream));
	CUDA_CHECK(cudaMemsetAsync(l->device, 7, SMALL, l->stream));
}

static void round_run(struct lane *l, const struct settings *s, unsigned int round)
{
	void *memory;

	mark<<<round + 1, 32, 0, l->stream>>>();
	for (unsigned int i = 0; i < s->kernels; i++)
		first_kernel<<<1, 32, 0, l->stream>>>(l->data);
	templated_kernel<1><<<dim3(1, 2, 3), 64, 64 * sizeof(float), l->stream>>>(l->data);
	templated_kernel<2><<<1, 128, 128 * sizeof(float), l->stream>>>(l->data);
	round_copies(l);
	CUDA_CHECK(cudaEventRecord(l->event, l->stream));
	CUDA_CHECK(cudaStreamWaitEvent(l->second, l->event, 0));
	first_kernel<<<1, 32, 0, l->second>>>(l->data + 128);
	CUDA_CHECK(cudaStreamSynchronize(l->second));
	CUDA_CHECK(cudaEventSynchronize(l->event));
	CUDA_CHECK(cudaGraphLaunch(l->exec, l->stream));
	CUDA_CHECK(cudaGraphLaunch(l->exec, l->stream));
	CUDA_CHECK(cudaMallocAsync(&memory, LARGE, l->stream));
	CUDA_CHECK(cudaFreeAsync(memory, l->stream));
	CUDA_CHECK(cudaStreamSynchronize(l->stream));
	CUDA_CHECK(cudaMalloc(&memory, LARGE));
	CUDA_CHECK(cudaFree(memory));
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaGetLastError());
}

static void lane_run(const struct settings *s, std::atomic<unsigned int> *rounds)
{
	uint64_t end = bench_clock_ns(CLOCK_MONOTONIC) + s->seconds * 1000000000ull;
	struct lane l = {};
	unsigned int done = 0;

	lane_init(&l, s);
	while (done < s->rounds || (s->seconds && bench_clock_ns(CLOCK_MONOTONIC) < end)) {
		round_run(&l, s, done++);
		if (s->pause_us)
			usleep(s->pause_us);
	}
	CUDA_CHECK(cudaDeviceSynchronize());
	lane_done(&l);
	*rounds += done;
}

/* Per round, and per thread for what lane_init allocates; keep in step with round_run. */
static void truth_print(const struct settings *s, unsigned int rounds)
{
	unsigned int graphs = 2 * rounds, lanes = s->threads;

	printf("{\"rounds\":%u,\"threads\":%u,\"nodes\":%u", rounds, lanes, s->nodes);
	printf(",\"kernels\":{\"mark\":%u,\"first_kernel\":%u,\"templated_kernel<1>\":%u,"
	       "\"templated_kernel<2>\":%u}",
	       rounds, (s->kernels + 1) * rounds, rounds, rounds);
	printf(",\"graph_kernels\":{\"graph_kernel\":%u}", graphs * s->nodes);
	printf(",\"copies\":{\"HtoD\":[%u,%llu],\"DtoH\":[%u,%llu],\"DtoD\":[%u,%llu]}", 3 * rounds,
	       (LARGE + 2ull * SMALL) * rounds, rounds, (unsigned long long)LARGE * rounds, rounds,
	       (unsigned long long)LARGE * rounds);
	printf(",\"graph_copies\":{\"DtoD\":[%u,%llu]}", graphs,
	       (unsigned long long)SMALL * graphs);
	printf(",\"memsets\":[%u,%llu],\"graph_memsets\":[%u,%llu]", 2 * rounds,
	       (unsigned long long)(LARGE + SMALL) * rounds, graphs,
	       (unsigned long long)SMALL * graphs);
	printf(",\"graph_launches\":%u,\"launches\":%u", graphs, (s->kernels + 4) * rounds);
	printf(",\"event_records\":%u,\"event_waits\":%u,\"event_syncs\":%u,\"stream_syncs\":%u,"
	       "\"device_syncs\":%u",
	       rounds, rounds, rounds, 2 * rounds, rounds + lanes);
	printf(",\"allocs\":{\"device\":%u,\"pinned\":%u,\"async\":%u},\"streams\":%u}\n",
	       3 * lanes + rounds, lanes, rounds, 2 * lanes);
}

int main(int argc, char **argv)
{
	std::atomic<unsigned int> rounds(0);
	std::vector<std::thread> threads;
	struct settings s = {};

	s.threads = (unsigned int)bench_option(argc, argv, "--threads", 1);
	s.rounds = (unsigned int)bench_option(argc, argv, "--rounds", 10);
	s.seconds = (unsigned int)bench_option(argc, argv, "--seconds", 0);
	s.nodes = (unsigned int)bench_option(argc, argv, "--nodes", 20);
	s.kernels = (unsigned int)bench_option(argc, argv, "--kernels", 50);
	s.idle_ms = (unsigned int)bench_option(argc, argv, "--idle-ms", 0);
	s.pause_us = (unsigned int)bench_option(argc, argv, "--pause-us", 0);
	CUDA_CHECK(cudaFree(0));
	fprintf(stderr, "mix: pid %d\n", (int)getpid());
	for (unsigned int i = 0; i < s.threads; i++)
		threads.emplace_back(lane_run, &s, &rounds);
	for (std::thread &t : threads)
		t.join();
	if (s.idle_ms)
		usleep(s.idle_ms * 1000u);
	truth_print(&s, rounds);
	return 0;
}
