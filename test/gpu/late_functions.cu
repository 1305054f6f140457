/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes CUPTI attribute samples to functions that were loaded before sampling began? Tries the
 * driver's own calls, one after another, on a thread of its own while a kernel runs, each in a
 * period of sampling of its own, and prints how many samples were attributed and how many were not.
 * No launch is under way when sampling ends: CUPTI and the driver would wait for each other.
 *
 *	late_functions [--seconds 2]	links with libcupti; needs no cuprobe
 */
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "../cubin/kernels.cu"
#include "bench.h"
#include "bench_cuda.h"
#include "sampling.h"

static std::mutex launching;
static CUfunction function;

/* Fetches often enough that the hardware's buffer does not fill up; then says what came. */
static void sampling_end(const char *what, double seconds)
{
	uint64_t end = bench_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	struct count count = {};

	while (bench_clock_ns(CLOCK_MONOTONIC) < end) {
		usleep(50000);
		samples_fetch(&count);
	}
	{
		std::lock_guard<std::mutex> no_launch(launching);
		sampling_disable();
	}
	printf("%-44s %9llu samples, %9llu non-user, %6llu records\n", what, count.total,
	       count.non_user, count.records);
	fflush(stdout);
}

static void nothing(void)
{
}

static void functions_load(void)
{
	CUmodule module;
	unsigned int count = 0;

	if (cuFuncGetModule(&module, function) || cuModuleGetFunctionCount(&count, module))
		return;
	std::vector<CUfunction> all(count);
	if (cuModuleEnumerateFunctions(all.data(), count, module))
		return;
	for (CUfunction f : all)
		cuFuncLoad(f);
}

static void attributes_ask(void)
{
	int value;

	cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
	cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1);
}

static void module_look_up_again(void)
{
	const char *name;
	CUfunction again;
	CUmodule module;

	if (!cuFuncGetModule(&module, function) && !cuFuncGetName(&name, function))
		cuModuleGetFunction(&again, module, name);
}

static void kernel_of_library(void)
{
	const char *name;
	CUfunction again;
	CUlibrary library;
	CUkernel kernel;
	cudaKernel_t handle;

	if (cudaGetKernel(&handle, (const void *)compute))
		return;
	kernel = (CUkernel)handle;
	cuKernelGetFunction(&again, kernel);
	cuKernelGetName(&name, kernel);
	cuKernelGetLibrary(&library, kernel);
	cuLibraryGetKernel(&kernel, library, name);
	cuKernelGetFunction(&again, kernel);
}

static void occupancy_ask(void)
{
	int blocks;

	cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0);
}

int main(int argc, char **argv)
{
	struct {
		const char *name;
		void (*call)(void);
	} const tries[] = {
		{"nothing", nothing},
		{"cuFuncGetModule, enumerate, cuFuncLoad", functions_load},
		{"cuFuncGetAttribute, cuFuncSetAttribute", attributes_ask},
		{"cuModuleGetFunction again", module_look_up_again},
		{"cuKernelGetFunction, cuLibraryGetKernel", kernel_of_library},
		{"cuOccupancyMaxActiveBlocks...", occupancy_ask},
	};
	double seconds = argc == 3 && !strcmp(argv[1], "--seconds") ? atof(argv[2]) : 2;
	std::atomic<bool> stop(false);
	float *out;

	CUDA_CHECK(cudaMalloc(&out, 132 * 1024 * sizeof(*out)));
	compute<<<132, 1024>>>(out, 1000);
	CUDA_CHECK(cudaDeviceSynchronize());
	if (cuCtxGetCurrent(&context) || cudaGetFuncBySymbol(&function, (const void *)compute))
		return 1;
	std::thread runs([&] {
		while (!stop) {
			usleep(10); /* leaves the mutex to others */
			std::lock_guard<std::mutex> lock(launching);
			compute<<<132, 1024>>>(out, 1000);
			CUDA_CHECK(cudaDeviceSynchronize());
		}
	});
	for (const auto &one : tries) {
		sampling_begin();
		one.call();
		sampling_end(one.name, seconds);
	}
	stop = true;
	runs.join();
	return 0;
}
