/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts and streams. Context ids count from 1 in the process; stream ids are unique in their
 * context only, and the NULL stream is number 7 of each, as with the real driver.
 */
#include "test/mock/driver.h"

#include <stdlib.h>

#define NULL_STREAM_ID 7
#define FIRST_STREAM_ID 13

static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the lists */
static struct CUctx_st *_Atomic all_contexts; /* newest first; entries stay for ever */
static uint32_t last_context_id;
static __thread CUcontext current;
static __thread CUcontext stack[16];
static __thread unsigned int stack_depth;
static __thread CUstream thread_stream; /* this thread's per-thread default stream */

struct CUctx_st *mock_contexts(void)
{
	return atomic_load_explicit(&all_contexts, memory_order_acquire);
}

struct CUctx_st *mock_current(void)
{
	return current;
}

CUresult context_need(CUcontext *ret_context)
{
	if (!current || !current->alive)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret_context = current;
	return CUDA_SUCCESS;
}

static CUstream stream_new(CUcontext context, unsigned int flags, int priority, bool is_null)
{
	CUstream stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	pthread_mutex_init(&stream->lock, NULL);
	stream->context = context;
	stream->flags = flags;
	stream->priority = priority;
	stream->is_null = is_null;
	stream->alive = true;
	pthread_mutex_lock(&context_lock);
	stream->id = is_null ? NULL_STREAM_ID : context->next_stream_id++;
	stream->next = context->streams;
	context->streams = stream; /* readers of the list take no lock */
	pthread_mutex_unlock(&context_lock);
	return stream;
}

static CUcontext context_new(uint32_t device)
{
	CUcontext context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	context->device = device;
	context->next_stream_id = FIRST_STREAM_ID;
	context->alive = true;
	context->null_stream = stream_new(context, 0, 0, true);
	pthread_mutex_lock(&context_lock);
	context->id = ++last_context_id;
	context->next = atomic_load(&all_contexts);
	atomic_store(&all_contexts, context);
	pthread_mutex_unlock(&context_lock);
	return context;
}

static void context_announce(CUcontext context)
{
	const struct mock_tools *tools = call_tools();

	if (!tools)
		return;
	tools->context(true, context);
	tools->stream(true, context->null_stream);
}

void context_wait(CUcontext context)
{
	for (CUstream stream = context->streams; stream; stream = stream->next) {
		if (stream->alive)
			gpu_wait(stream);
	}
}

static void context_end(CUcontext context)
{
	const struct mock_tools *tools = call_tools();

	context_wait(context);
	if (tools)
		tools->context(false, context);
	context->alive = false;
}

/* The calling thread's own default stream in the context; made at its first use. */
static CUstream context_thread_stream(CUcontext context)
{
	const struct mock_tools *tools = call_tools();

	if (thread_stream && thread_stream->context == context)
		return thread_stream;
	thread_stream = stream_new(context, 0, 0, false);
	if (tools)
		tools->stream(true, thread_stream);
	return thread_stream;
}

/* The stream that a handle means for the calling thread. */
CUresult context_stream(CUstream handle, bool per_thread, CUstream *ret_stream)
{
	bool thread = handle == CU_STREAM_PER_THREAD || (per_thread && !handle);
	CUcontext context;
	CUresult err;

	if (handle && handle != CU_STREAM_LEGACY && !thread) {
		*ret_stream = handle;
		return handle->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
	}
	err = context_need(&context);
	if (!err)
		*ret_stream = thread ? context_thread_stream(context) : context->null_stream;
	return err;
}

static CUcontext context_primary(uint32_t device)
{
	for (CUcontext context = mock_contexts(); context; context = context->next) {
		if (context->alive && context->primary_refs > 0 && context->device == device)
			return context;
	}
	return NULL;
}

static CUresult primary_retain(CUcontext *ret_context, CUdevice device)
{
	static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER; /* one at a time */
	CUcontext context;
	bool made = false;

	if (!ret_context || device < 0 || (uint32_t)device >= mock_device_count())
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&primary_lock);
	context = context_primary((uint32_t)device);
	if (!context) {
		context = context_new((uint32_t)device);
		made = true;
	}
	context->primary_refs++;
	pthread_mutex_unlock(&primary_lock);
	if (made)
		context_announce(context);
	*ret_context = context;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	DRIVER_BEGIN(cuDevicePrimaryCtxRetain, pctx, dev);
	return DRIVER_END(primary_retain(pctx, dev));
}

static CUresult primary_release(CUdevice device)
{
	CUcontext context = device < 0 ? NULL : context_primary((uint32_t)device);

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context->primary_refs == 1)
		context_end(context);
	context->primary_refs--;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	DRIVER_BEGIN(cuDevicePrimaryCtxRelease_v2, dev);
	return DRIVER_END(primary_release(dev));
}

static CUresult primary_state(CUdevice device, unsigned int *ret_flags, int *ret_active)
{
	if (device < 0 || (uint32_t)device >= mock_device_count() || !ret_flags || !ret_active)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_flags = 0;
	*ret_active = context_primary((uint32_t)device) != NULL;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
							int *active)
{
	DRIVER_BEGIN(cuDevicePrimaryCtxGetState, dev, flags, active);
	return DRIVER_END(primary_state(dev, flags, active));
}

static CUresult context_create(CUcontext *ret_context, CUdevice device)
{
	if (!ret_context || device < 0 || (uint32_t)device >= mock_device_count())
		return CUDA_ERROR_INVALID_VALUE;
	if (stack_depth == sizeof(stack) / sizeof(*stack))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret_context = context_new((uint32_t)device);
	stack[stack_depth++] = current;
	current = *ret_context;
	context_announce(current);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *params,
					    unsigned int flags, CUdevice dev)
{
	DRIVER_BEGIN(cuCtxCreate_v4, pctx, params, flags, dev);
	return DRIVER_END(context_create(pctx, dev));
}

static CUresult context_destroy(CUcontext context)
{
	if (!context || !context->alive)
		return CUDA_ERROR_INVALID_CONTEXT;
	context_end(context);
	if (context == current)
		current = stack_depth ? stack[--stack_depth] : NULL;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuCtxDestroy_v2(CUcontext ctx)
{
	DRIVER_BEGIN(cuCtxDestroy_v2, ctx);
	return DRIVER_END(context_destroy(ctx));
}

MOCK_EXPORT CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx)
{
	DRIVER_BEGIN(cuCtxSetCurrent, ctx);
	current = ctx;
	return DRIVER_END(CUDA_SUCCESS);
}

MOCK_EXPORT CUresult CUDAAPI cuCtxGetCurrent(CUcontext *pctx)
{
	DRIVER_BEGIN(cuCtxGetCurrent, pctx);
	if (!pctx)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	*pctx = current;
	return DRIVER_END(CUDA_SUCCESS);
}

MOCK_EXPORT CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext ctx)
{
	DRIVER_BEGIN(cuCtxPushCurrent_v2, ctx);
	if (stack_depth == sizeof(stack) / sizeof(*stack))
		return DRIVER_END(CUDA_ERROR_OUT_OF_MEMORY);
	stack[stack_depth++] = current;
	current = ctx;
	return DRIVER_END(CUDA_SUCCESS);
}

MOCK_EXPORT CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *pctx)
{
	DRIVER_BEGIN(cuCtxPopCurrent_v2, pctx);
	if (pctx)
		*pctx = current;
	current = stack_depth ? stack[--stack_depth] : NULL;
	return DRIVER_END(CUDA_SUCCESS);
}

MOCK_EXPORT CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
	CUcontext context;
	CUresult err;
	DRIVER_BEGIN(cuCtxGetDevice, device);

	err = device ? context_need(&context) : CUDA_ERROR_INVALID_VALUE;
	if (!err)
		*device = (CUdevice)context->device;
	return DRIVER_END(err);
}

static CUresult stream_create(CUstream *ret_stream, unsigned int flags, int priority)
{
	const struct mock_tools *tools = call_tools();
	CUcontext context;
	CUresult err = ret_stream ? context_need(&context) : CUDA_ERROR_INVALID_VALUE;

	if (err)
		return err;
	*ret_stream = stream_new(context, flags, priority, false);
	if (tools)
		tools->stream(true, *ret_stream);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	DRIVER_BEGIN(cuStreamCreate, phStream, Flags);
	return DRIVER_END(stream_create(phStream, Flags, 0));
}

MOCK_EXPORT CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags,
							int priority)
{
	DRIVER_BEGIN(cuStreamCreateWithPriority, phStream, flags, priority);
	return DRIVER_END(stream_create(phStream, flags, priority));
}

/* Handles stay valid for CUPTI, which reports the stream's last work later. */
static CUresult stream_destroy(CUstream stream)
{
	const struct mock_tools *tools = call_tools();

	if (!stream || stream->is_null || !stream->alive)
		return CUDA_ERROR_INVALID_HANDLE;
	if (tools)
		tools->stream(false, stream);
	stream->alive = false;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuStreamDestroy_v2(CUstream hStream)
{
	DRIVER_BEGIN(cuStreamDestroy_v2, hStream);
	return DRIVER_END(stream_destroy(hStream));
}

MOCK_EXPORT CUresult CUDAAPI cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
	DRIVER_BEGIN(cuStreamGetId, hStream, streamId);

	if (!hStream || !streamId)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	*streamId = hStream->id;
	return DRIVER_END(CUDA_SUCCESS);
}

MOCK_EXPORT CUresult CUDAAPI cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
	DRIVER_BEGIN(cuStreamGetCtx, hStream, pctx);

	if (!hStream || !pctx)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	*pctx = hStream->context;
	return DRIVER_END(CUDA_SUCCESS);
}

MOCK_EXPORT CUresult CUDAAPI cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
	DRIVER_BEGIN(cuCtxGetId, ctx, ctxId);

	if (!ctx || !ctxId)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	*ctxId = ctx->id;
	return DRIVER_END(CUDA_SUCCESS);
}
