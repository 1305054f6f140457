/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and memsets, through every entry point that the driver has for them. */
#include "test/mock/driver.h"

#include <string.h>

CUresult CUDAAPI cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dst, const void *src, size_t n, CUstream s);
CUresult CUDAAPI cuMemcpyDtoHAsync_v2_ptsz(void *dst, CUdeviceptr src, size_t n, CUstream s);
CUresult CUDAAPI cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s);
CUresult CUDAAPI cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t n);
CUresult CUDAAPI cuMemcpyDtoH_v2_ptds(void *dst, CUdeviceptr src, size_t n);
CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr dst, unsigned char value, size_t n, CUstream s);

struct transfer {
	uint64_t dst, src, bytes;
	uint32_t copy_kind; /* CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN: by the kinds of memory */
	bool async, per_thread;
	CUstream stream;
};

static uint32_t copy_kind(const struct memory_range *src, const struct memory_range *dst)
{
	bool from_host = src->kind <= CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	bool to_host = dst->kind <= CUPTI_ACTIVITY_MEMORY_KIND_PINNED;

	if (from_host)
		return to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	if (to_host)
		return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	return src->device == dst->device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
					  : CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
}

/* The id of the newest living context on the device, 0 when there is none. */
static uint32_t context_on(uint32_t device)
{
	for (CUcontext context = mock_contexts(); context; context = context->next) {
		if (context->alive && context->device == device)
			return context->id;
	}
	return 0;
}

static struct mock_op transfer_op(const struct transfer *t)
{
	struct memory_range src = {.kind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE}, dst = src;
	struct mock_op op = {.kind = MOCK_COPY};

	memory_find(t->src, &src);
	memory_find(t->dst, &dst);
	op.copy.copy_kind = (uint8_t)(t->copy_kind ? t->copy_kind : copy_kind(&src, &dst));
	op.copy.src_kind = (uint8_t)src.kind;
	op.copy.dst_kind = (uint8_t)dst.kind;
	op.copy.async = t->async;
	op.copy.bytes = t->bytes;
	op.duration_ns = gpu_copy_ns(t->bytes, op.copy.copy_kind);
	if (op.copy.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
		op.kind = MOCK_PEER_COPY;
		op.copy.src_device = src.device;
		op.copy.dst_device = dst.device;
		op.copy.src_context = context_on(src.device);
		op.copy.dst_context = context_on(dst.device);
	}
	return op;
}

static CUresult transfer_run(const struct transfer *t)
{
	CUstream stream;
	CUresult err = context_stream(t->stream, t->per_thread, &stream);
	struct mock_op op;

	if (err)
		return err;
	if (!t->bytes)
		return CUDA_SUCCESS;
	if (!t->dst || !t->src)
		return CUDA_ERROR_INVALID_VALUE;
	op = transfer_op(t);
	err = gpu_submit(stream, &op);
	if (!err && !t->async)
		gpu_wait(stream);
	return err;
}

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))
#define TRANSFER(dst_, src_, n, ...)                                                               \
	transfer_run(&(struct transfer){                                                           \
		.dst = ADDRESS(dst_), .src = ADDRESS(src_), .bytes = (n), __VA_ARGS__})

#define COPY_SYNC(api, dst_type, src_type, kind, per_thread_)                                      \
	MOCK_EXPORT CUresult CUDAAPI api(dst_type dst, src_type src, size_t ByteCount)             \
	{                                                                                          \
		DRIVER_BEGIN(api, dst, src, ByteCount);                                            \
		return DRIVER_END(TRANSFER(dst, src, ByteCount, .copy_kind = (kind),               \
					   .per_thread = (per_thread_)));                          \
	}
#define COPY_ASYNC(api, dst_type, src_type, kind, per_thread_)                                     \
	MOCK_EXPORT CUresult CUDAAPI api(dst_type dst, src_type src, size_t ByteCount,             \
					 CUstream hStream)                                         \
	{                                                                                          \
		DRIVER_BEGIN(api, dst, src, ByteCount, hStream);                                   \
		return DRIVER_END(TRANSFER(dst, src, ByteCount, .copy_kind = (kind),               \
					   .async = true, .per_thread = (per_thread_),             \
					   .stream = hStream));                                    \
	}

#define HTOD CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
#define DTOH CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
#define BY_MEMORY CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN

COPY_SYNC(cuMemcpyHtoD_v2, CUdeviceptr, const void *, HTOD, false)
COPY_SYNC(cuMemcpyHtoD_v2_ptds, CUdeviceptr, const void *, HTOD, true)
COPY_SYNC(cuMemcpyDtoH_v2, void *, CUdeviceptr, DTOH, false)
COPY_SYNC(cuMemcpyDtoH_v2_ptds, void *, CUdeviceptr, DTOH, true)
COPY_SYNC(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr, BY_MEMORY, false)
COPY_SYNC(cuMemcpy, CUdeviceptr, CUdeviceptr, BY_MEMORY, false)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void *, HTOD, false)
COPY_ASYNC(cuMemcpyHtoDAsync_v2_ptsz, CUdeviceptr, const void *, HTOD, true)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, void *, CUdeviceptr, DTOH, false)
COPY_ASYNC(cuMemcpyDtoHAsync_v2_ptsz, void *, CUdeviceptr, DTOH, true)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, BY_MEMORY, false)
COPY_ASYNC(cuMemcpyDtoDAsync_v2_ptsz, CUdeviceptr, CUdeviceptr, BY_MEMORY, true)
COPY_ASYNC(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, BY_MEMORY, false)

MOCK_EXPORT CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext,
					  CUdeviceptr srcDevice, CUcontext srcContext,
					  size_t ByteCount)
{
	DRIVER_BEGIN(cuMemcpyPeer, dstDevice, dstContext, srcDevice, srcContext, ByteCount);
	return DRIVER_END(TRANSFER(dstDevice, srcDevice, ByteCount,
				   .copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP));
}

MOCK_EXPORT CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
					       CUdeviceptr srcDevice, CUcontext srcContext,
					       size_t ByteCount, CUstream hStream)
{
	DRIVER_BEGIN(cuMemcpyPeerAsync, dstDevice, dstContext, srcDevice, srcContext, ByteCount,
		     hStream);
	return DRIVER_END(TRANSFER(dstDevice, srcDevice, ByteCount,
				   .copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, .async = true,
				   .stream = hStream));
}

struct fill {
	uint64_t dst, bytes;
	uint32_t value;
	bool async, per_thread;
	CUstream stream;
};

static CUresult fill_run(const struct fill *fill)
{
	struct memory_range range = {.kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};
	struct mock_op op = {.kind = MOCK_SET};
	CUstream stream;
	CUresult err = context_stream(fill->stream, fill->per_thread, &stream);

	if (err)
		return err;
	if (!fill->bytes)
		return CUDA_SUCCESS;
	if (!memory_find(fill->dst, &range))
		return CUDA_ERROR_INVALID_VALUE;
	op.set.bytes = fill->bytes;
	op.set.value = fill->value;
	op.set.memory_kind = (uint16_t)range.kind;
	op.set.async = fill->async;
	op.duration_ns = gpu_copy_ns(fill->bytes, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
	return gpu_submit(stream, &op);
}

#define FILL_SYNC(api, value_type)                                                                 \
	MOCK_EXPORT CUresult CUDAAPI api(CUdeviceptr dstDevice, value_type value, size_t N)        \
	{                                                                                          \
		DRIVER_BEGIN(api, dstDevice, value, N);                                            \
		return DRIVER_END(fill_run(&(struct fill){                                         \
			.dst = dstDevice, .bytes = N * sizeof(value), .value = value}));           \
	}
#define FILL_ASYNC(api, value_type, per_thread_)                                                   \
	MOCK_EXPORT CUresult CUDAAPI api(CUdeviceptr dstDevice, value_type value, size_t N,        \
					 CUstream hStream)                                         \
	{                                                                                          \
		DRIVER_BEGIN(api, dstDevice, value, N, hStream);                                   \
		return DRIVER_END(fill_run(&(struct fill){.dst = dstDevice,                        \
							  .bytes = N * sizeof(value),              \
							  .value = value,                          \
							  .async = true,                           \
							  .per_thread = (per_thread_),             \
							  .stream = hStream}));                    \
	}

FILL_SYNC(cuMemsetD8_v2, unsigned char)
FILL_SYNC(cuMemsetD32_v2, unsigned int)
FILL_ASYNC(cuMemsetD8Async, unsigned char, false)
FILL_ASYNC(cuMemsetD8Async_ptsz, unsigned char, true)
FILL_ASYNC(cuMemsetD32Async, unsigned int, false)

static CUresult migration_run(uint64_t address, uint64_t bytes, bool to_device, CUstream handle)
{
	struct memory_range range;
	struct mock_op op = {.kind = MOCK_MIGRATION};
	CUstream stream;
	CUresult err = context_stream(handle, false, &stream);

	if (err)
		return err;
	if (!memory_find(address, &range) || range.kind != CUPTI_ACTIVITY_MEMORY_KIND_MANAGED)
		return CUDA_ERROR_INVALID_VALUE;
	op.migration.address = address;
	op.migration.bytes = bytes;
	op.migration.to_device = to_device;
	op.duration_ns = gpu_copy_ns(bytes, HTOD);
	return gpu_submit(stream, &op);
}

MOCK_EXPORT CUresult CUDAAPI cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count,
						   CUmemLocation location, unsigned int flags,
						   CUstream hStream)
{
	DRIVER_BEGIN(cuMemPrefetchAsync_v2, devPtr, count, location, flags, hStream);
	return DRIVER_END(migration_run(devPtr, count, location.type == CU_MEM_LOCATION_TYPE_DEVICE,
					hStream));
}
