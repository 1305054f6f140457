/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated libcupti's tie to libcuda, its clock, its ids, and its small queries. */
#include "test/mock/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALIBRATION_NS 20000

const struct mock_driver *drv;
__thread unsigned int cupti_in_buffer_callback, cupti_in_callback;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static _Atomic bool finalized, forked;
static CUpti_TimestampCallbackFunc _Atomic timestamp;
static _Atomic int64_t gpu_offset;
static _Atomic CUpti_ActivityThreadIdType thread_id_type = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
static __thread uint32_t thread_id;
static __thread CUptiResult last_error;

static void cupti_forked(void)
{
	atomic_store(&forked, true);
}

static void cupti_load(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY);

	if (!library)
		return;
	pthread_atfork(NULL, NULL, cupti_forked);
	drv = dlsym(library, "mock_driver_table");
	if (!drv)
		return;
	script_check();
	deliver_init();
}

CUptiResult cupti_begin_detached(const char *function)
{
	int code;

	pthread_once(&load_once, cupti_load);
	if (!drv)
		return CUPTI_ERROR_NOT_INITIALIZED;
	drv->count_cupti(function);
	if (atomic_load(&forked)) {
		drv->violation("%s called in a forked child", function);
		return CUPTI_ERROR_NOT_INITIALIZED;
	}
	if (cupti_in_buffer_callback)
		drv->violation("%s called inside a buffer callback", function);
	if (!drv->fault(function, &code))
		return CUPTI_SUCCESS;
	last_error = (CUptiResult)code;
	return last_error;
}

CUptiResult cupti_begin(const char *function)
{
	CUptiResult err = cupti_begin_detached(function);

	if (err)
		return err;
	if (atomic_exchange(&finalized, false))
		gpu_offset = 0;
	if (drv->attach(&cupti_tools))
		return CUPTI_ERROR_NOT_COMPATIBLE;
	return CUPTI_SUCCESS;
}

static uint64_t clock_read(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

uint64_t cupti_time(void)
{
	CUpti_TimestampCallbackFunc callback =
		atomic_load_explicit(&timestamp, memory_order_relaxed);

	return callback ? callback() : clock_read(CLOCK_REALTIME) + (uint64_t)drv->clock_jump();
}

/*
 * Measured again for every batch of records. A reading of the client's clock that lies between two
 * of the driver's means that both are the same clock. Of five readings the quickest counts, and a
 * new result only where it is another one by more than what reading costs.
 */
void cupti_calibrate(void)
{
	uint64_t before, client, after, best = UINT64_MAX;
	int64_t offset = 0, known = atomic_load(&gpu_offset);

	for (int i = 0; i < 5 && best; i++) {
		before = clock_read(CLOCK_MONOTONIC);
		client = cupti_time();
		after = clock_read(CLOCK_MONOTONIC);
		if (client >= before && client <= after) {
			best = 0;
			offset = 0;
		} else if (after - before < best) {
			best = after - before;
			offset = (int64_t)(client - before);
		}
	}
	if (!best || !known || offset < known - CALIBRATION_NS || offset > known + CALIBRATION_NS)
		atomic_store(&gpu_offset, offset);
}

uint64_t cupti_from_gpu(uint64_t time_ns)
{
	return time_ns + (uint64_t)(atomic_load_explicit(&gpu_offset, memory_order_relaxed) +
				    drv->clock_jump());
}

MOCK_EXPORT CUptiResult CUPTIAPI
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	CUPTI_BEGIN();
	if (!funcTimestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (activity_any())
		drv->violation("the timestamp callback was registered after kinds were enabled");
	atomic_store(&timestamp, funcTimestamp);
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *ret_time)
{
	CUPTI_BEGIN();
	if (!ret_time)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*ret_time = cupti_time();
	return CUPTI_SUCCESS;
}

/* Needs no libcuda, and does not attach. */
MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = CUPTI_VERSION_NUMBER;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetLastError(void)
{
	CUptiResult error = last_error;

	last_error = CUPTI_SUCCESS;
	return error;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	CUPTI_BEGIN();
	if (activity_any())
		drv->violation("the thread id type was changed after kinds were enabled");
	thread_id_type = type;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	CUPTI_BEGIN();
	*type = thread_id_type;
	return CUPTI_SUCCESS;
}

/* The default is the low half of pthread_self, which is no id of the kernel's. */
uint32_t cupti_thread_id(void)
{
	if (thread_id_type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
		return (uint32_t)(uintptr_t)pthread_self();
	if (!thread_id)
		thread_id = (uint32_t)gettid();
	return thread_id;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
	CUPTI_BEGIN();
	if (!contextId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*contextId = context->id;
	return CUPTI_SUCCESS;
}

static CUptiResult stream_id(CUcontext context, CUstream stream, uint32_t *ret_id)
{
	if (!ret_id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!stream || stream == CU_STREAM_LEGACY) {
		if (!context)
			context = drv->current();
		if (!context)
			return CUPTI_ERROR_INVALID_STREAM;
		stream = context->null_stream;
	}
	if (stream == CU_STREAM_PER_THREAD || (context && stream->context != context))
		return CUPTI_ERROR_INVALID_STREAM;
	*ret_id = stream->id;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetStreamId(CUcontext context, CUstream stream,
						  uint32_t *streamId)
{
	CUPTI_BEGIN();
	return stream_id(context, stream, streamId);
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream,
						    uint8_t perThreadStream, uint32_t *streamId)
{
	CUPTI_BEGIN();
	(void)perThreadStream;
	return stream_id(context, stream, streamId);
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
	CUPTI_BEGIN();
	if (!deviceId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!context)
		context = drv->current();
	if (!context)
		return CUPTI_ERROR_INVALID_DEVICE;
	*deviceId = context->device;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t *pId)
{
	CUPTI_BEGIN();
	if (!graph || !pId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = graph->id;
	return CUPTI_SUCCESS;
}

#if MOCK_CUPTI >= 120400
MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId)
{
	CUPTI_BEGIN();
	if (!graphExec || !pId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = graphExec->id;
	return CUPTI_SUCCESS;
}
#endif

MOCK_EXPORT CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
	CUPTI_BEGIN();
	if (!node || !nodeId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*nodeId = node->op.node_id;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiDeviceSupported(CUdevice dev, int *support)
{
	CUPTI_BEGIN();
	if (!support)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (dev < 0 || (uint32_t)dev >= drv->device_count())
		return CUPTI_ERROR_INVALID_DEVICE;
	*support = 1;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiDeviceVirtualizationMode(CUdevice dev,
							       CUpti_DeviceVirtualizationMode *mode)
{
	CUPTI_BEGIN();
	if (dev < 0 || (uint32_t)dev >= drv->device_count())
		return CUPTI_ERROR_INVALID_DEVICE;
	if (!mode)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*mode = CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE;
	return CUPTI_SUCCESS;
}

static void finalize(void)
{
	pending_worker_stop();
	pc_finalized();
	callback_reset();
	activity_reset();
	lane_reset();
	atomic_store(&timestamp, NULL);
	thread_id_type = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
	atomic_store(&finalized, true);
	drv->detach(&cupti_tools);
}

/* NVIDIA asks for it to be called in the EXIT callback of an API function. */
MOCK_EXPORT CUptiResult CUPTIAPI cuptiFinalize(void)
{
	uint32_t calls;
	bool alone;

	CUPTI_BEGIN();
	if (!cupti_in_callback)
		drv->violation("cuptiFinalize called outside the EXIT callback of an API function");
	alone = hazard_finalize_begin(&calls);
	finalize();
	hazard_finalize_end(alone, calls);
	return CUPTI_SUCCESS;
}
