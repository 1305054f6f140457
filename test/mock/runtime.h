/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the simulated libcudart share. Like the real one it finds libcuda.so.1 with
 * dlopen at the first call, and does its work through the driver's functions.
 */
#ifndef CUPROBE_MOCK_RUNTIME_H
#define CUPROBE_MOCK_RUNTIME_H

#include "test/mock/tools.h"

#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#define MOCK_EXPORT __attribute__((visibility("default")))

/* Not in the public headers without CUDA_API_PER_THREAD_DEFAULT_STREAM. */
CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
				     unsigned int gridDimZ, unsigned int blockDimX,
				     unsigned int blockDimY, unsigned int blockDimZ,
				     unsigned int sharedMemBytes, CUstream hStream,
				     void **kernelParams, void **extra);
CUresult CUDAAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f,
				       void **kernelParams, void **extra);
CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream);
CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream hStream);
CUresult CUDAAPI cuEventRecord_ptsz(CUevent hEvent, CUstream hStream);
CUresult CUDAAPI cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dst, const void *src, size_t n, CUstream s);
CUresult CUDAAPI cuMemcpyDtoHAsync_v2_ptsz(void *dst, CUdeviceptr src, size_t n, CUstream s);
CUresult CUDAAPI cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s);
CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr dst, unsigned char value, size_t n, CUstream s);

#define RUNTIME_FOR_EACH_DRIVER_FUNCTION(X)                                                        \
	X(cuInit)                                                                                  \
	X(cuDriverGetVersion)                                                                      \
	X(cuGetErrorName)                                                                          \
	X(cuDeviceGetCount)                                                                        \
	X(cuDeviceGetName)                                                                         \
	X(cuDeviceGetUuid_v2)                                                                      \
	X(cuDeviceGetAttribute)                                                                    \
	X(cuDeviceTotalMem_v2)                                                                     \
	X(cuDeviceGetDefaultMemPool)                                                               \
	X(cuDevicePrimaryCtxRetain)                                                                \
	X(cuDevicePrimaryCtxRelease_v2)                                                            \
	X(cuCtxSetCurrent)                                                                         \
	X(cuCtxSynchronize)                                                                        \
	X(cuModuleLoadData)                                                                        \
	X(cuModuleGetFunction)                                                                     \
	X(cuMemAlloc_v2)                                                                           \
	X(cuMemAllocManaged)                                                                       \
	X(cuMemAllocAsync)                                                                         \
	X(cuMemFree_v2)                                                                            \
	X(cuMemFreeAsync)                                                                          \
	X(cuMemHostAlloc)                                                                          \
	X(cuMemFreeHost)                                                                           \
	X(cuMemPoolTrimTo)                                                                         \
	X(cuMemcpyHtoD_v2)                                                                         \
	X(cuMemcpyDtoH_v2)                                                                         \
	X(cuMemcpyDtoD_v2)                                                                         \
	X(cuMemcpyHtoDAsync_v2)                                                                    \
	X(cuMemcpyHtoDAsync_v2_ptsz)                                                               \
	X(cuMemcpyDtoHAsync_v2)                                                                    \
	X(cuMemcpyDtoHAsync_v2_ptsz)                                                               \
	X(cuMemcpyDtoDAsync_v2)                                                                    \
	X(cuMemcpyDtoDAsync_v2_ptsz)                                                               \
	X(cuMemcpyPeer)                                                                            \
	X(cuMemcpyPeerAsync)                                                                       \
	X(cuMemsetD8_v2)                                                                           \
	X(cuMemsetD8Async)                                                                         \
	X(cuMemsetD8Async_ptsz)                                                                    \
	X(cuMemPrefetchAsync_v2)                                                                   \
	X(cuStreamCreate)                                                                          \
	X(cuStreamCreateWithPriority)                                                              \
	X(cuStreamDestroy_v2)                                                                      \
	X(cuStreamSynchronize)                                                                     \
	X(cuStreamSynchronize_ptsz)                                                                \
	X(cuStreamQuery)                                                                           \
	X(cuStreamWaitEvent)                                                                       \
	X(cuStreamBeginCapture_v2)                                                                 \
	X(cuStreamEndCapture)                                                                      \
	X(cuEventCreate)                                                                           \
	X(cuEventDestroy_v2)                                                                       \
	X(cuEventRecord)                                                                           \
	X(cuEventRecord_ptsz)                                                                      \
	X(cuEventSynchronize)                                                                      \
	X(cuEventQuery)                                                                            \
	X(cuEventElapsedTime_v2)                                                                   \
	X(cuLaunchKernel)                                                                          \
	X(cuLaunchKernel_ptsz)                                                                     \
	X(cuLaunchKernelEx)                                                                        \
	X(cuLaunchKernelEx_ptsz)                                                                   \
	X(cuLaunchCooperativeKernel)                                                               \
	X(cuGraphCreate)                                                                           \
	X(cuGraphAddKernelNode_v2)                                                                 \
	X(cuGraphDestroy)                                                                          \
	X(cuGraphInstantiateWithFlags)                                                             \
	X(cuGraphExecDestroy)                                                                      \
	X(cuGraphLaunch)                                                                           \
	X(cuGraphLaunch_ptsz)

struct runtime {
	const struct mock_driver *driver; /* NULL: there is no usable libcuda.so.1 */
#define RUNTIME_MEMBER(name) __typeof__(name) *name;
	RUNTIME_FOR_EACH_DRIVER_FUNCTION(RUNTIME_MEMBER)
#undef RUNTIME_MEMBER
};

extern struct runtime cu; /* filled by runtime_load */

cudaError_t runtime_load(void);		 /* libcuda is there */
cudaError_t runtime_need(void);		 /* and the calling thread has a context */
cudaError_t runtime_last(cudaError_t e); /* remembers an error for cudaGetLastError */

/* A kernel that the program registered; its handle is the cudaKernel_t of CUDA 12 and later. */
struct CUkern_st;
cudaError_t kernel_function(const void *host_function, CUfunction *ret_function);
cudaError_t kernel_handle_function(cudaKernel_t kernel, CUfunction *ret_function);
const char *kernel_name(const void *host_function);
const char *kernel_handle_name(cudaKernel_t kernel);

/* As DRIVER_BEGIN; `version` is the suffix of the function's callback id. */
#define RUNTIME_CALL(api, version)                                                                 \
	struct mock_call call_ = {                                                                 \
		.domain = CUPTI_CB_DOMAIN_RUNTIME_API,                                             \
		.cbid = CUPTI_RUNTIME_TRACE_CBID_##api##_##version,                                \
		.name = #api "_" #version,                                                         \
		.function = #api,                                                                  \
	}
#define RUNTIME_PARAMS(api, version, ...)                                                          \
	api##_##version##_params params_ = {__VA_ARGS__};                                          \
	RUNTIME_CALL(api, version);                                                                \
	call_.params = &params_
#define RUNTIME_ENTER()                                                                            \
	do {                                                                                       \
		if (runtime_load())                                                                \
			return runtime_last(cudaErrorInsufficientDriver);                          \
		if (cu.driver->call_begin(&call_))                                                 \
			return runtime_last(                                                       \
				(cudaError_t)cu.driver->call_end(&call_, call_.result));           \
	} while (0)
#define RUNTIME_BEGIN(api, version, ...)                                                           \
	RUNTIME_PARAMS(api, version, __VA_ARGS__);                                                 \
	RUNTIME_ENTER()
#define RUNTIME_END(result) runtime_last((cudaError_t)cu.driver->call_end(&call_, (int)(result)))

/* `call` where the thread has got a context, else the reason why it has none. */
#define WITH_CONTEXT(call)                                                                         \
	({                                                                                         \
		cudaError_t need_ = runtime_need();                                                \
		need_ ? need_ : (cudaError_t)(call);                                               \
	})

#endif
