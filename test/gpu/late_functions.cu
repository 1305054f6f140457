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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

#include "../cubin/kernels.cu"
#include "bench.h"
#include "bench_cuda.h"

#define PCS 4096

static std::mutex launching;
static CUcontext context;
static CUfunction function;
static std::vector<uint32_t> reasons;
static std::vector<CUpti_PCSamplingPCData> pcs(PCS), flushed(PCS);
static std::vector<std::vector<CUpti_PCSamplingStallReason>> stalls(2 * PCS);
static CUpti_PCSamplingData data, flush_data;

static void check(CUptiResult result, const char *what)
{
	if (result != CUPTI_SUCCESS)
		fprintf(stderr, "late_functions: %s: CUPTI error %d\n", what, (int)result);
}

static void room_make(CUpti_PCSamplingData *room, std::vector<CUpti_PCSamplingPCData> &records,
		      size_t first)
{
	for (size_t i = 0; i < PCS; i++) {
		stalls[first + i].resize(reasons.size());
		records[i].size = sizeof(records[i]);
		records[i].stallReason = stalls[first + i].data();
	}
	memset(room, 0, sizeof(*room));
	room->size = sizeof(*room);
	room->collectNumPcs = PCS;
	room->pPcData = records.data();
}

static void sampling_begin(void)
{
	CUpti_PCSamplingEnableParams enable = {CUpti_PCSamplingEnableParamsSize, NULL, context};
	size_t count = 0;
	CUpti_PCSamplingGetNumStallReasonsParams number = {
		CUpti_PCSamplingGetNumStallReasonsParamsSize, NULL, context, &count};
	CUpti_PCSamplingConfigurationInfo info[3] = {};
	CUpti_PCSamplingConfigurationInfoParams params = {
		CUpti_PCSamplingConfigurationInfoParamsSize, NULL, context, 3, info};

	check(cuptiPCSamplingEnable(&enable), "enable");
	check(cuptiPCSamplingGetNumStallReasons(&number), "number of stall reasons");
	reasons.resize(count);
	room_make(&data, pcs, 0);
	room_make(&flush_data, flushed, PCS);
	info[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
	info[0].attributeData.samplingDataBufferData.samplingDataBuffer = &flush_data;
	info[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
	info[1].attributeData.hardwareBufferSizeData.hardwareBufferSize = 32 << 20;
	info[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
	info[2].attributeData.samplingPeriodData.samplingPeriod = 20;
	check(cuptiPCSamplingSetConfigurationAttribute(&params), "configure");
}

struct count {
	unsigned long long total, non_user, records;
};

static void samples_fetch(struct count *count)
{
	CUpti_PCSamplingGetDataParams get = {CUpti_PCSamplingGetDataParamsSize, NULL, context,
					     &data};

	do {
		room_make(&data, pcs, 0);
		check(cuptiPCSamplingGetData(&get), "get data");
		count->total += data.totalSamples;
		count->non_user += data.nonUsrKernelsTotalSamples;
		count->records += data.totalNumPcs;
	} while (data.remainingNumPcs);
}

/* Fetches often enough that the hardware's buffer does not fill up; then says what came. */
static void sampling_end(const char *what, double seconds)
{
	CUpti_PCSamplingDisableParams disable = {CUpti_PCSamplingDisableParamsSize, NULL, context};
	uint64_t end = bench_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	struct count count = {};

	while (bench_clock_ns(CLOCK_MONOTONIC) < end) {
		usleep(50000);
		samples_fetch(&count);
	}
	{
		std::lock_guard<std::mutex> no_launch(launching);
		check(cuptiPCSamplingDisable(&disable), "disable");
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
