/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the driver, of many kinds, to be made again and again; include it in one file. Those
 * that run a kernel, if only one of the driver's, are marked.
 */
#ifndef CUPROBE_TEST_GPU_CALLS_H
#define CUPROBE_TEST_GPU_CALLS_H

#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <vector>

#define MB ((size_t)1 << 20)
#define CALL(call)                                                                                 \
	do {                                                                                       \
		CUresult cuda_err = (call);                                                        \
		if (cuda_err) {                                                                    \
			fprintf(stderr, "%s: CUDA error %d\n", #call, (int)cuda_err);              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* A variable that is zero at first, which a kernel of the driver's sees to; made a cubin once. */
static const char ptx[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 variable[4194304];
.visible .entry touch(.param .u32 value)
{
	.reg .u64 %at;
	.reg .u32 %value;
	ld.param.u32 %value, [value];
	mov.u64 %at, variable;
	st.global.u32 [%at], %value;
	ret;
}
)";

static std::vector<char> image;
static CUdevice device;
static CUcontext program;
static CUfunction touch;
static CUdeviceptr memory, other, managed;
static CUarray array;
static unsigned int value;
static void *arguments[] = {&value};
static thread_local CUgraph graph;
static thread_local CUgraphNode node;
static thread_local CUgraphExec exec;
static thread_local CUDA_KERNEL_NODE_PARAMS node_params;
static thread_local CUstream stream;
static thread_local CUevent event;
static thread_local char *pinned, *pageable;

static void image_make(void)
{
	CUlinkState link;
	size_t bytes;
	void *made;

	CALL(cuLinkCreate(0, NULL, NULL, &link));
	CALL(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof(ptx), "touch", 0, NULL,
			   NULL));
	CALL(cuLinkComplete(link, &made, &bytes));
	image.assign((char *)made, (char *)made + bytes);
	CALL(cuLinkDestroy(link));
}

static void graph_make(void)
{
	CUDA_MEMSET_NODE_PARAMS set = {};
	CUgraphNode added;

	node_params.func = touch;
	node_params.gridDimX = node_params.gridDimY = node_params.gridDimZ = 1;
	node_params.blockDimX = node_params.blockDimY = node_params.blockDimZ = 1;
	node_params.kernelParams = arguments;
	set.dst = other;
	set.elementSize = 1;
	set.width = 65536;
	set.height = 1;
	CALL(cuGraphCreate(&graph, 0));
	CALL(cuGraphAddKernelNode(&node, graph, NULL, 0, &node_params));
	CALL(cuGraphAddMemsetNode(&added, graph, NULL, 0, &set, program));
	CALL(cuGraphInstantiate(&exec, graph, 0));
}

/* What all threads use. */
static void calls_prepare(void)
{
	CUDA_ARRAY_DESCRIPTOR shape = {64, 64, CU_AD_FORMAT_FLOAT, 1};
	CUmodule module;

	CALL(cuInit(0));
	CALL(cuDeviceGet(&device, 0));
	CALL(cuDevicePrimaryCtxRetain(&program, device));
	CALL(cuCtxSetCurrent(program));
	image_make();
	CALL(cuModuleLoadData(&module, image.data()));
	CALL(cuModuleGetFunction(&touch, module, "touch"));
	CALL(cuMemAlloc(&memory, 32 * MB));
	CALL(cuMemAlloc(&other, 32 * MB));
	CALL(cuMemAllocManaged(&managed, MB, CU_MEM_ATTACH_GLOBAL));
	CALL(cuArrayCreate(&array, &shape));
	CALL(cuCtxSynchronize());
}

/* What each thread has of its own. */
static void calls_prepare_thread(void)
{
	CALL(cuCtxSetCurrent(program));
	CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CALL(cuEventCreate(&event, CU_EVENT_DEFAULT));
	CALL(cuMemAllocHost((void **)&pinned, MB));
	pageable = (char *)aligned_alloc(4096, MB);
	graph_make();
}

static void kernel_launch(void)
{
	CALL(cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static void graph_launch(void)
{
	CALL(cuGraphLaunch(exec, stream));
}

static void memory_set(void)
{
	CALL(cuMemsetD8Async(memory, 1, MB, stream));
}

static void memory_set_2d(void)
{
	CALL(cuMemsetD2D8Async(memory, 1024, 1, 100, 100, stream));
}

static void device_copy(void)
{
	CALL(cuMemcpyDtoDAsync(memory, other, 4096, stream));
}

static void device_copy_2d(void)
{
	CUDA_MEMCPY2D copy = {};

	copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.srcDevice = other;
	copy.dstDevice = memory;
	copy.srcPitch = copy.dstPitch = 1024;
	copy.WidthInBytes = copy.Height = 100;
	CALL(cuMemcpy2DAsync(&copy, stream));
}

static void array_copy(void)
{
	CUDA_MEMCPY2D copy = {};

	copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	copy.srcDevice = other;
	copy.dstArray = array;
	copy.srcPitch = 1024;
	copy.WidthInBytes = 64 * sizeof(float);
	copy.Height = 64;
	CALL(cuMemcpy2DAsync(&copy, stream));
}

static void module_load(void)
{
	CUmodule module;

	CALL(cuModuleLoadData(&module, image.data()));
	CALL(cuModuleUnload(module));
}

static void library_load(void)
{
	CUlibrary library;
	CUdeviceptr at;
	size_t bytes;

	CALL(cuLibraryLoadData(&library, image.data(), NULL, NULL, 0, NULL, NULL, 0));
	CALL(cuLibraryGetGlobal(&at, &bytes, library, "variable"));
	CALL(cuLibraryUnload(library));
}

static void host_to_device(void)
{
	CALL(cuMemcpyHtoDAsync(memory, pinned, 4096, stream));
}

static void host_to_device_pageable(void)
{
	CALL(cuMemcpyHtoD(memory, pageable, 65536));
}

static void device_to_host(void)
{
	CALL(cuMemcpyDtoHAsync(pinned, memory, 4096, stream));
}

static void device_to_host_pageable(void)
{
	CALL(cuMemcpyDtoH(pageable, memory, 4096));
}

static void graph_instantiate(void)
{
	CUgraphExec made;

	CALL(cuGraphInstantiate(&made, graph, 0));
	CALL(cuGraphExecDestroy(made));
}

static void graph_upload(void)
{
	CALL(cuGraphUpload(exec, stream));
}

static void graph_change(void)
{
	CUgraphExecUpdateResultInfo info;

	CALL(cuGraphExecKernelNodeSetParams(exec, node, &node_params));
	CALL(cuGraphExecUpdate(exec, graph, &info));
}

static void capture(void)
{
	CUgraph captured;

	CALL(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	CALL(cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
	CALL(cuStreamEndCapture(stream, &captured));
	CALL(cuGraphDestroy(captured));
}

static void function_ask(void)
{
	int registers, blocks;

	CALL(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, touch));
	CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 32, 0));
}

static void memory_make(void)
{
	CUdeviceptr made;

	CALL(cuMemAlloc(&made, MB));
	CALL(cuMemFree(made));
}

static void memory_make_in_stream(void)
{
	CUdeviceptr made;

	CALL(cuMemAllocAsync(&made, MB, stream));
	CALL(cuMemFreeAsync(made, stream));
}

static void memory_prefetch(void)
{
	CUmemLocation location = {};

	location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	CALL(cuMemPrefetchAsync(managed, MB, location, 0, stream));
}

static void memory_register(void)
{
	CALL(cuMemHostRegister(pageable, MB, 0));
	CALL(cuMemHostUnregister(pageable));
}

static void context_make(void)
{
	CUcontext made;

	CALL(cuCtxCreate(&made, NULL, 0, device));
	CALL(cuCtxDestroy(made));
	CALL(cuCtxSetCurrent(program));
}

static void stream_make(void)
{
	CUstream made;

	CALL(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
	CALL(cuStreamDestroy(made));
}

static void event_use(void)
{
	CALL(cuEventRecord(event, stream));
	CALL(cuStreamWaitEvent(stream, event, 0));
	CALL(cuEventSynchronize(event));
}

static void value_write(void)
{
	CALL(cuStreamWriteValue32(stream, memory, 1, 0));
}

static void CUDA_CB nothing(void *)
{
}

static void host_function(void)
{
	CALL(cuLaunchHostFunc(stream, nothing, NULL));
}

static void synchronize(void)
{
	CALL(cuCtxSynchronize());
}

static const struct kind {
	const char *name;
	void (*call)(void);
	bool runs_kernel;
} kinds[] = {
	{"kernel launch", kernel_launch, true},
	{"graph launch", graph_launch, true},
	{"memset", memory_set, true},
	{"memset 2D", memory_set_2d, true},
	{"copy on the device", device_copy, true},
	{"copy on the device 2D", device_copy_2d, true},
	{"copy to an array", array_copy, true},
	{"module load", module_load, true},
	{"library load", library_load, true},
	{"copy to the device", host_to_device, false},
	{"copy to the device, pageable", host_to_device_pageable, false},
	{"copy to the host", device_to_host, false},
	{"copy to the host, pageable", device_to_host_pageable, false},
	{"graph instantiate", graph_instantiate, false},
	{"graph upload", graph_upload, false},
	{"graph change", graph_change, false},
	{"capture", capture, false},
	{"function attributes", function_ask, false},
	{"allocate", memory_make, false},
	{"allocate in a stream", memory_make_in_stream, false},
	{"prefetch", memory_prefetch, false},
	{"register", memory_register, false},
	{"context", context_make, false},
	{"stream", stream_make, false},
	{"event", event_use, false},
	{"write a value", value_write, false},
	{"host function", host_function, false},
	{"synchronize", synchronize, false},
};

/* Makes calls of one kind, not too far ahead of the GPU. */
static void calls_make(const struct kind *kind)
{
	for (int i = 0; i < 50; i++)
		kind->call();
	CALL(cuStreamSynchronize(stream));
}

#endif
