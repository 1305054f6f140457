/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the three kernels of test/cubin/kernels.cu, whose character is known: one waits for memory,
 * one for its own arithmetic, one at barriers. Each takes turns for as long as asked, so that its
 * share of the GPU's time is known too.
 *
 *	stalls [--seconds 5]
 *
 * Prints "ready" when all is set up, "round US" for the microseconds of each round of turns, and at
 * the end one JSON object: milliseconds of GPU time of each kernel, by events, as stalls_check.py
 * reads it.
 */
#include <ctime>
#include <vector>

#include "../cubin/kernels.cu"
#include "bench.h"
#include "bench_cuda.h"

#define ELEMENTS (64u << 20) /* 256 MiB, more than any L2 */
#define BLOCKS 132
#define THREADS 1024

struct load {
	const char *name;
	double ms;
	unsigned long launches;
};

/* One cycle through all elements, in an order that no cache foresees. */
static unsigned int *permutation(void)
{
	std::vector<unsigned int> next(ELEMENTS);
	unsigned int *device;

	for (unsigned int i = 0; i < ELEMENTS; i++)
		next[i] = (unsigned int)((i * 2654435761ull + 12345) % ELEMENTS);
	CUDA_CHECK(cudaMalloc(&device, ELEMENTS * sizeof(*device)));
	CUDA_CHECK(cudaMemcpy(device, next.data(), ELEMENTS * sizeof(*device),
			      cudaMemcpyHostToDevice));
	return device;
}

static void launch(int which, const unsigned int *next, float *data, float *out)
{
	if (which == 0)
		gather<<<BLOCKS, THREADS>>>(next, (unsigned int *)out, 200);
	else if (which == 1)
		compute<<<BLOCKS, THREADS>>>(out, 4000);
	else
		reduce<1024><<<BLOCKS, THREADS>>>(out, data, 100);
}

static void turn(struct load *load, int which, const unsigned int *next, float *data, float *out)
{
	cudaEvent_t begin, end;
	float ms;

	CUDA_CHECK(cudaEventCreate(&begin));
	CUDA_CHECK(cudaEventCreate(&end));
	CUDA_CHECK(cudaEventRecord(begin));
	for (int i = 0; i < 20; i++)
		launch(which, next, data, out);
	CUDA_CHECK(cudaEventRecord(end));
	CUDA_CHECK(cudaEventSynchronize(end));
	CUDA_CHECK(cudaGetLastError());
	CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
	CUDA_CHECK(cudaEventDestroy(begin));
	CUDA_CHECK(cudaEventDestroy(end));
	load->ms += ms;
	load->launches += 20;
}

int main(int argc, char **argv)
{
	struct load loads[] = {{"gather"}, {"compute"}, {"reduce"}};
	double seconds = (double)bench_option(argc, argv, "--seconds", 5);
	unsigned int *next = permutation();
	float *data, *out;
	uint64_t start, now, last;

	CUDA_CHECK(cudaMalloc(&data, THREADS * sizeof(*data)));
	CUDA_CHECK(cudaMemset(data, 0, THREADS * sizeof(*data)));
	CUDA_CHECK(cudaMalloc(&out, BLOCKS * THREADS * sizeof(*out)));
	for (int which = 0; which < 3; which++)
		launch(which, next, data, out);
	CUDA_CHECK(cudaDeviceSynchronize());
	puts("ready");
	fflush(stdout);
	start = now = bench_clock_ns(CLOCK_MONOTONIC);
	while ((double)(now - start) < seconds * 1e9) {
		for (int which = 0; which < 3; which++)
			turn(&loads[which], which, next, data, out);
		last = now;
		now = bench_clock_ns(CLOCK_MONOTONIC);
		printf("round %.1f\n", (double)(now - last) / 1e3);
		fflush(stdout);
	}
	printf("{");
	for (int which = 0; which < 3; which++)
		printf("%s\"%s\": {\"ms\": %.3f, \"launches\": %lu}", which ? ", " : "",
		       loads[which].name, loads[which].ms, loads[which].launches);
	printf("}\n");
	return 0;
}
