/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads for completeness: every kind of call there is, and modules that come and go. */
#include "test/mock/app.h"

#include <stdio.h>
#include <string.h>

#define BYTES (64u << 10)

struct everything {
	cudaStream_t stream, other;
	cudaEvent_t event, late;
	cudaMemPool_t pool;
	void *host, *device, *managed;
};

static void everything_init(struct everything *e)
{
	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreateWithFlags(&e->stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithPriority(&e->other, cudaStreamDefault, -5));
	CHECK(cudaEventCreate(&e->event));
	CHECK(cudaEventCreateWithFlags(&e->late, cudaEventDisableTiming));
	CHECK(cudaDeviceGetDefaultMemPool(&e->pool, 0));
	CHECK(cudaMallocHost(&e->host, BYTES));
	CHECK(cudaMalloc(&e->device, BYTES));
	CHECK(cudaMallocManaged(&e->managed, BYTES, cudaMemAttachGlobal));
}

static void everything_memory(const struct everything *e)
{
	struct cudaMemLocation gpu = {.type = cudaMemLocationTypeDevice, .id = 0};
	struct cudaMemLocation cpu = {.type = cudaMemLocationTypeHost, .id = 0};
	void *memory;

	CHECK(cudaMalloc(&memory, BYTES));
	CHECK(cudaFree(memory));
	CHECK(cudaMallocAsync(&memory, BYTES, e->stream));
	CHECK(cudaMemsetAsync(memory, 1, BYTES, e->stream));
	CHECK(cudaFreeAsync(memory, e->stream));
	CHECK(cudaMemPoolTrimTo(e->pool, 0));
	CHECK(cudaMemPrefetchAsync(e->managed, BYTES, gpu, 0, e->stream));
	CHECK(cudaMemPrefetchAsync(e->managed, BYTES, cpu, 0, e->stream));
}

static void everything_copies(const struct everything *e)
{
	CHECK(cudaMemcpy(e->device, e->host, BYTES, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyAsync(e->device, e->host, BYTES, cudaMemcpyHostToDevice, e->stream));
	CHECK(cudaMemcpyAsync(e->device, (char *)e->device + BYTES / 2, BYTES / 2,
			      cudaMemcpyDeviceToDevice, e->stream));
	CHECK(cudaMemcpyPeerAsync(e->device, 0, e->device, 0, BYTES, e->stream));
	CHECK(cudaMemcpyAsync(e->host, e->device, BYTES, cudaMemcpyDeviceToHost, e->stream));
	CHECK(cudaMemset(e->device, 0, BYTES));
}

static void everything_launches(const struct everything *e)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	for (unsigned int api = 0; api < APP_APIS; api++)
		kernel_launch(api, (enum app_api)api, e->stream);
	CHECK(cudaStreamBeginCapture(e->stream, cudaStreamCaptureModeGlobal));
	kernel_launch(0, APP_RUNTIME, e->stream);
	CHECK(cudaMemcpyAsync(e->device, e->host, BYTES, cudaMemcpyHostToDevice, e->stream));
	CHECK(cudaMemsetAsync(e->device, 7, BYTES, e->stream));
	kernel_launch(1, APP_DRIVER, e->stream);
	CHECK(cudaStreamEndCapture(e->stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, e->stream));
	CHECK(cudaGraphLaunch(exec, e->other));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

static void everything_waits(const struct everything *e)
{
	float ms;

	CHECK(cudaEventRecord(e->event, e->stream));
	CHECK(cudaStreamWaitEvent(e->other, e->event, 0));
	CHECK(cudaEventSynchronize(e->event));
	CHECK(cudaEventRecord(e->late, e->other));
	CHECK(cudaEventSynchronize(e->late));
	CHECK(cudaEventElapsedTime(&ms, e->event, e->late));
	CHECK(cudaStreamSynchronize(e->stream));
	CHECK(cudaDeviceSynchronize());
}

int all_run(const struct app_options *options)
{
	struct everything e;
	uint64_t end = app_now() + (uint64_t)(options->seconds * 1e9), done;

	everything_init(&e);
	for (done = 0; done < options->count || (!options->count && app_now() < end); done++) {
		everything_memory(&e);
		everything_copies(&e);
		everything_launches(&e);
		everything_waits(&e);
	}
	CHECK(cudaEventDestroy(e.event));
	CHECK(cudaEventDestroy(e.late));
	return 0;
}

/* Each round's kernel has a name of the same length, so that names may come to lie at one address.
 */
int modules_run(const struct app_options *options)
{
	CUfunction function;
	CUmodule module;
	char name[64];

	CHECK(cudaSetDevice(0));
	for (uint64_t i = 0; i < options->count; i++) {
		snprintf(name, sizeof(name), "kernel_of_module_%08llu", (unsigned long long)i);
		CHECK(cuModuleLoadData(&module, "// a module"));
		CHECK(cuModuleGetFunction(&function, module, name));
		CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
		CHECK(cuCtxSynchronize());
		if (options->rate > 0)
			app_sleep_until(app_now() + (uint64_t)(1e9 / options->rate));
		CHECK(cuModuleUnload(module));
	}
	return 0;
}
