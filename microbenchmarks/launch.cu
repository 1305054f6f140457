/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tiny launch and a tiny copy cost the thread that makes them: bursts short enough for the
 * driver's queue (1024), so that the GPU never holds the thread up, with a wait between bursts.
 *
 *	launch [--serve] [--reps 100] [--burst 900]
 *
 * launch_ns and copy_ns: wall time of the calls, for each call; *_cpu_ns: the thread's CPU time.
 */
#include <vector>

#include "bench.h"
#include "bench_cuda.h"

struct load {
	size_t reps, burst;
	cudaStream_t stream;
	void *host, *device;
};

static __global__ void tiny_kernel(void)
{
}

static void burst_launch(const struct load *l)
{
	for (size_t i = 0; i < l->burst; i++)
		tiny_kernel<<<1, 32, 0, l->stream>>>();
}

static void burst_copy(const struct load *l)
{
	for (size_t i = 0; i < l->burst; i++)
		cudaMemcpyAsync(l->device, l->host, 64, cudaMemcpyHostToDevice, l->stream);
}

static void measure_burst(const struct load *l, void (*burst)(const struct load *),
			  const char *name, const char *cpu_name)
{
	std::vector<double> wall(l->reps), cpu(l->reps);

	for (size_t i = 0; i < l->reps + l->reps / 10; i++) {
		size_t at = i % l->reps; /* the first tenth is warm-up, written over */
		uint64_t cpu_start = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t start = bench_clock_ns(CLOCK_MONOTONIC);

		burst(l);
		wall[at] = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / (double)l->burst;
		cpu[at] = (double)(bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start) /
			  (double)l->burst;
		CUDA_CHECK(cudaStreamSynchronize(l->stream));
	}
	CUDA_CHECK(cudaGetLastError());
	bench_json(name, bench_stat(wall.data(), wall.size()));
	bench_json(cpu_name, bench_stat(cpu.data(), cpu.size()));
}

static int measure(void *arg, const char *label)
{
	const struct load *l = (const struct load *)arg;

	printf("{\"program\":\"launch\",\"label\":\"%s\"", label);
	measure_burst(l, burst_launch, "launch_ns", "launch_cpu_ns");
	measure_burst(l, burst_copy, "copy_ns", "copy_cpu_ns");
	printf("}\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct load l = {};

	l.reps = (size_t)bench_option(argc, argv, "--reps", 100);
	l.burst = (size_t)bench_option(argc, argv, "--burst", 900);
	CUDA_CHECK(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaMallocHost(&l.host, 64));
	CUDA_CHECK(cudaMalloc(&l.device, 64));
	return bench_run(argc, argv, measure, &l);
}
