/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory: addresses that nothing lies behind, remembered so that a copy knows what kind of
 * memory its ends are. Copies and memsets take time on the simulated GPU and move no bytes.
 */
#include "test/mock/driver.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS 0x7f0000000000ull
#define ALIGNMENT 512
#define DEVICE_BYTES (80ull << 30)
#define POOL_ADDRESS 0x10000000ull

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static struct memory_range *ranges;				/* sorted by address */
static size_t range_count, range_room;
static uint64_t next_address = FIRST_ADDRESS;
static struct CUmemPoolHandle_st default_pools[16];

/* The index of the first range that ends behind `address`. */
static size_t range_after(uint64_t address)
{
	size_t low = 0, high = range_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ranges[middle].address + ranges[middle].bytes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static CUresult range_add(const struct memory_range *range)
{
	size_t at;

	if (range_count == range_room) {
		size_t room = range_room ? 2 * range_room : 256;
		void *grown = realloc(ranges, room * sizeof(*ranges));

		if (!grown)
			return CUDA_ERROR_OUT_OF_MEMORY;
		ranges = grown;
		range_room = room;
	}
	at = range_after(range->address);
	memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(*ranges));
	ranges[at] = *range;
	range_count++;
	return CUDA_SUCCESS;
}

bool memory_find(uint64_t address, struct memory_range *ret_range)
{
	size_t at;
	bool found;

	pthread_mutex_lock(&memory_lock);
	at = range_after(address);
	found = at < range_count && ranges[at].address <= address;
	if (found)
		*ret_range = ranges[at];
	pthread_mutex_unlock(&memory_lock);
	return found;
}

static bool range_remove(uint64_t address, struct memory_range *ret_range)
{
	size_t at;
	bool found;

	pthread_mutex_lock(&memory_lock);
	at = range_after(address);
	found = at < range_count && ranges[at].address == address;
	if (found) {
		*ret_range = ranges[at];
		range_count--;
		memmove(&ranges[at], &ranges[at + 1], (range_count - at) * sizeof(*ranges));
		if (ret_range->pool)
			ret_range->pool->used -= ret_range->bytes;
	}
	pthread_mutex_unlock(&memory_lock);
	return found;
}

static void memory_report(uint32_t op, const struct memory_range *range, CUcontext context,
			  CUstream stream, void *pc)
{
	const struct mock_tools *tools = call_tools();
	struct mock_memory memory = {.op = op,
				     .kind = range->kind,
				     .correlation = call_correlation(),
				     .address = range->address,
				     .bytes = range->bytes,
				     .pc = (uint64_t)(uintptr_t)pc,
				     .context = context,
				     .stream = stream,
				     .pool = range->pool};

	if (tools)
		tools->memory(&memory);
}

/* `range` comes with bytes and kind; its address too where it is host memory. */
static CUresult memory_add(struct memory_range *range, CUcontext context, CUstream stream, void *pc)
{
	CUresult err;

	if (!range->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (range->bytes > DEVICE_BYTES)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range->device = context->device;
	pthread_mutex_lock(&memory_lock);
	if (!range->address) {
		range->address = next_address;
		next_address += (range->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	err = range_add(range);
	if (!err && range->pool) {
		range->pool->used += range->bytes;
		if (range->pool->bytes < range->pool->used)
			range->pool->bytes = range->pool->used;
	}
	pthread_mutex_unlock(&memory_lock);
	if (!err)
		memory_report(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, range, context,
			      stream, pc);
	return err;
}

static CUresult memory_alloc(CUdeviceptr *ret_address, size_t bytes, uint32_t kind, void *pc)
{
	struct memory_range range = {.bytes = bytes, .kind = kind};
	CUcontext context;
	CUresult err = ret_address ? context_need(&context) : CUDA_ERROR_INVALID_VALUE;

	if (!err)
		err = memory_add(&range, context, NULL, pc);
	if (!err)
		*ret_address = range.address;
	return err;
}

MOCK_EXPORT CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	DRIVER_BEGIN(cuMemAlloc_v2, dptr, bytesize);
	return DRIVER_END(memory_alloc(dptr, bytesize, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
				       __builtin_return_address(0)));
}

MOCK_EXPORT CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize,
					       unsigned int flags)
{
	DRIVER_BEGIN(cuMemAllocManaged, dptr, bytesize, flags);
	return DRIVER_END(memory_alloc(dptr, bytesize, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED,
				       __builtin_return_address(0)));
}

static CUresult memory_free(uint64_t address, CUstream stream, void *pc)
{
	struct memory_range range;
	CUcontext context;
	CUresult err = context_need(&context);

	if (err || !address)
		return err;
	if (!range_remove(address, &range))
		return CUDA_ERROR_INVALID_VALUE;
	memory_report(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, &range, context, stream, pc);
	if (range.kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED)
		free((void *)(uintptr_t)address);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuMemFree_v2(CUdeviceptr dptr)
{
	DRIVER_BEGIN(cuMemFree_v2, dptr);
	return DRIVER_END(memory_free(dptr, NULL, __builtin_return_address(0)));
}

static CUresult host_alloc(void **ret_memory, size_t bytes, void *pc)
{
	struct memory_range range = {.bytes = bytes, .kind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED};
	CUcontext context;
	CUresult err = ret_memory ? context_need(&context) : CUDA_ERROR_INVALID_VALUE;

	if (err)
		return err;
	*ret_memory = calloc(1, bytes);
	if (!*ret_memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range.address = (uint64_t)(uintptr_t)*ret_memory;
	return memory_add(&range, context, NULL, pc);
}

MOCK_EXPORT CUresult CUDAAPI cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
	DRIVER_BEGIN(cuMemHostAlloc, pp, bytesize, Flags);
	return DRIVER_END(host_alloc(pp, bytesize, __builtin_return_address(0)));
}

MOCK_EXPORT CUresult CUDAAPI cuMemFreeHost(void *p)
{
	DRIVER_BEGIN(cuMemFreeHost, p);
	return DRIVER_END(memory_free((uint64_t)(uintptr_t)p, NULL, __builtin_return_address(0)));
}

/* The default pool of a device comes to be at its first use. */
static CUmemoryPool pool_default(uint32_t device)
{
	CUmemoryPool pool = &default_pools[device];
	const struct mock_tools *tools = call_tools();
	bool made = false;

	pthread_mutex_lock(&memory_lock);
	if (!pool->address) {
		pool->address = POOL_ADDRESS + device * 4096;
		pool->device = device;
		made = true;
	}
	pthread_mutex_unlock(&memory_lock);
	if (made && tools)
		tools->pool(CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED, pool,
			    call_correlation());
	return pool;
}

static CUresult pool_trim(CUmemoryPool pool, size_t keep)
{
	const struct mock_tools *tools = call_tools();

	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&memory_lock);
	pool->bytes = pool->used > keep ? pool->used : keep;
	pthread_mutex_unlock(&memory_lock);
	if (tools)
		tools->pool(CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED, pool,
			    call_correlation());
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
	DRIVER_BEGIN(cuMemPoolTrimTo, pool, minBytesToKeep);
	return DRIVER_END(pool_trim(pool, minBytesToKeep));
}

static CUresult default_pool(CUmemoryPool *ret_pool, CUdevice device)
{
	if (!ret_pool || device < 0 || (uint32_t)device >= mock_device_count())
		return CUDA_ERROR_INVALID_VALUE;
	*ret_pool = pool_default((uint32_t)device);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
	DRIVER_BEGIN(cuDeviceGetDefaultMemPool, pool_out, dev);
	return DRIVER_END(default_pool(pool_out, dev));
}

static CUresult memory_alloc_async(CUdeviceptr *ret_address, size_t bytes, CUstream handle,
				   void *pc)
{
	struct memory_range range = {.bytes = bytes, .kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};
	CUstream stream;
	CUresult err =
		ret_address ? context_stream(handle, false, &stream) : CUDA_ERROR_INVALID_VALUE;

	if (err)
		return err;
	range.pool = pool_default(stream->context->device);
	err = memory_add(&range, stream->context, stream, pc);
	if (!err)
		*ret_address = range.address;
	return err;
}

MOCK_EXPORT CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
	DRIVER_BEGIN(cuMemAllocAsync, dptr, bytesize, hStream);
	return DRIVER_END(memory_alloc_async(dptr, bytesize, hStream, __builtin_return_address(0)));
}

static CUresult memory_free_async(CUdeviceptr address, CUstream handle, void *pc)
{
	CUstream stream;
	CUresult err = context_stream(handle, false, &stream);

	return err ? err : memory_free(address, stream, pc);
}

MOCK_EXPORT CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
	DRIVER_BEGIN(cuMemFreeAsync, dptr, hStream);
	return DRIVER_END(memory_free_async(dptr, hStream, __builtin_return_address(0)));
}
