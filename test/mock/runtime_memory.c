/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, copies and memsets of the simulated libcudart. */
#include "test/mock/runtime.h"

#define DEVICE(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t count,
					   enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(void *devPtr, int value, size_t count,
					   cudaStream_t stream);

MOCK_EXPORT cudaError_t CUDARTAPI cudaMalloc(void **devPtr, size_t size)
{
	RUNTIME_BEGIN(cudaMalloc, v3020, devPtr, size);
	return RUNTIME_END(WITH_CONTEXT(cu.cuMemAlloc_v2((CUdeviceptr *)devPtr, size)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
	RUNTIME_BEGIN(cudaMallocManaged, v6000, devPtr, size, flags);
	return RUNTIME_END(WITH_CONTEXT(cu.cuMemAllocManaged((CUdeviceptr *)devPtr, size, flags)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaFree(void *devPtr)
{
	RUNTIME_BEGIN(cudaFree, v3020, devPtr);
	return RUNTIME_END(WITH_CONTEXT(devPtr ? cu.cuMemFree_v2(DEVICE(devPtr)) : CUDA_SUCCESS));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMallocHost(void **ptr, size_t size)
{
	RUNTIME_BEGIN(cudaMallocHost, v3020, ptr, size);
	return RUNTIME_END(WITH_CONTEXT(cu.cuMemHostAlloc(ptr, size, 0)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
	RUNTIME_BEGIN(cudaHostAlloc, v3020, pHost, size, flags);
	return RUNTIME_END(WITH_CONTEXT(cu.cuMemHostAlloc(pHost, size, flags)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaFreeHost(void *ptr)
{
	RUNTIME_BEGIN(cudaFreeHost, v3020, ptr);
	return RUNTIME_END(WITH_CONTEXT(cu.cuMemFreeHost(ptr)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
	RUNTIME_BEGIN(cudaMallocAsync, v11020, devPtr, size, hStream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuMemAllocAsync((CUdeviceptr *)devPtr, size, hStream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
	RUNTIME_BEGIN(cudaFreeAsync, v11020, devPtr, hStream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuMemFreeAsync(DEVICE(devPtr), hStream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
	RUNTIME_BEGIN(cudaDeviceGetDefaultMemPool, v11020, memPool, device);
	return RUNTIME_END(WITH_CONTEXT(cu.cuDeviceGetDefaultMemPool(memPool, device)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
	RUNTIME_BEGIN(cudaMemPoolTrimTo, v11020, memPool, minBytesToKeep);
	return RUNTIME_END(WITH_CONTEXT(cu.cuMemPoolTrimTo(memPool, minBytesToKeep)));
}

static CUresult copy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return cu.cuMemcpyHtoD_v2(DEVICE(dst), src, count);
	case cudaMemcpyDeviceToHost:
		return cu.cuMemcpyDtoH_v2(dst, DEVICE(src), count);
	default:
		return cu.cuMemcpyDtoD_v2(DEVICE(dst), DEVICE(src), count);
	}
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemcpy(void *dst, const void *src, size_t count,
					     enum cudaMemcpyKind kind)
{
	RUNTIME_BEGIN(cudaMemcpy, v3020, dst, src, count, kind);
	return RUNTIME_END(WITH_CONTEXT(copy(dst, src, count, kind)));
}

static CUresult copy_async(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
			   cudaStream_t stream, bool per_thread)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return (per_thread ? cu.cuMemcpyHtoDAsync_v2_ptsz
				   : cu.cuMemcpyHtoDAsync_v2)(DEVICE(dst), src, count, stream);
	case cudaMemcpyDeviceToHost:
		return (per_thread ? cu.cuMemcpyDtoHAsync_v2_ptsz
				   : cu.cuMemcpyDtoHAsync_v2)(dst, DEVICE(src), count, stream);
	default:
		return (per_thread ? cu.cuMemcpyDtoDAsync_v2_ptsz : cu.cuMemcpyDtoDAsync_v2)(
			DEVICE(dst), DEVICE(src), count, stream);
	}
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemcpyAsync(void *dst, const void *src, size_t count,
						  enum cudaMemcpyKind kind, cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaMemcpyAsync, v3020, dst, src, count, kind, stream);
	return RUNTIME_END(WITH_CONTEXT(copy_async(dst, src, count, kind, stream, false)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t count,
						       enum cudaMemcpyKind kind,
						       cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaMemcpyAsync_ptsz, v7000, dst, src, count, kind, stream);
	return RUNTIME_END(WITH_CONTEXT(copy_async(dst, src, count, kind, stream, true)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemcpyPeer(void *dst, int dstDevice, const void *src,
						 int srcDevice, size_t count)
{
	RUNTIME_BEGIN(cudaMemcpyPeer, v4000, dst, dstDevice, src, srcDevice, count);
	return RUNTIME_END(
		WITH_CONTEXT(cu.cuMemcpyPeer(DEVICE(dst), NULL, DEVICE(src), NULL, count)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src,
						      int srcDevice, size_t count,
						      cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaMemcpyPeerAsync, v4000, dst, dstDevice, src, srcDevice, count, stream);
	return RUNTIME_END(WITH_CONTEXT(
		cu.cuMemcpyPeerAsync(DEVICE(dst), NULL, DEVICE(src), NULL, count, stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemset(void *devPtr, int value, size_t count)
{
	RUNTIME_BEGIN(cudaMemset, v3020, devPtr, value, count);
	return RUNTIME_END(
		WITH_CONTEXT(cu.cuMemsetD8_v2(DEVICE(devPtr), (unsigned char)value, count)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemsetAsync(void *devPtr, int value, size_t count,
						  cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaMemsetAsync, v3020, devPtr, value, count, stream);
	return RUNTIME_END(WITH_CONTEXT(
		cu.cuMemsetD8Async(DEVICE(devPtr), (unsigned char)value, count, stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(void *devPtr, int value, size_t count,
						       cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaMemsetAsync_ptsz, v7000, devPtr, value, count, stream);
	return RUNTIME_END(WITH_CONTEXT(
		cu.cuMemsetD8Async_ptsz(DEVICE(devPtr), (unsigned char)value, count, stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *devPtr, size_t count,
						       struct cudaMemLocation location,
						       unsigned int flags, cudaStream_t stream)
{
	CUmemLocation to = {.type = (CUmemLocationType)location.type, .id = location.id};
	RUNTIME_BEGIN(cudaMemPrefetchAsync, v12020, devPtr, count, location, flags, stream);

	return RUNTIME_END(
		WITH_CONTEXT(cu.cuMemPrefetchAsync_v2(DEVICE(devPtr), count, to, flags, stream)));
}
