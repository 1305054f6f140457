/* SPDX-License-Identifier: Apache-2.0 */
/* Which activity kinds are collected, and the functions that control it. */
#include "test/mock/cupti.h"

#include <string.h>

static _Atomic uint8_t wanted[MOCK_MAX_KINDS];
static _Atomic uint64_t since_ns[MOCK_MAX_KINDS]; /* the driver's clock */
static _Atomic uint32_t wanted_count;
static _Atomic bool latency, event_times, sources;

bool activity_wanted(CUpti_ActivityKind kind)
{
	return (uint32_t)kind < MOCK_MAX_KINDS &&
	       atomic_load_explicit(&wanted[kind], memory_order_relaxed);
}

bool activity_wanted_at(CUpti_ActivityKind kind, uint64_t time_ns)
{
	return activity_wanted(kind) && time_ns >= atomic_load(&since_ns[kind]);
}

bool activity_any(void)
{
	return atomic_load(&wanted_count) > 0;
}

bool activity_latency(void)
{
	return atomic_load_explicit(&latency, memory_order_relaxed);
}

bool activity_sources(void)
{
	return atomic_load_explicit(&sources, memory_order_relaxed);
}

bool activity_event_times(void)
{
	return atomic_load_explicit(&event_times, memory_order_relaxed);
}

void activity_reset(void)
{
	memset((void *)wanted, 0, sizeof(wanted));
	atomic_store(&wanted_count, 0);
	atomic_store(&latency, false);
	atomic_store(&event_times, false);
	atomic_store(&sources, false);
}

MOCK_EXPORT CUptiResult CUPTIAPI
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
			       CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
	CUPTI_BEGIN();
	if (!funcBufferRequested || !funcBufferCompleted)
		return CUPTI_ERROR_INVALID_PARAMETER;
	lane_register(funcBufferRequested, funcBufferCompleted);
	return CUPTI_SUCCESS;
}

static CUptiResult enable(CUpti_ActivityKind kind)
{
	if (!record_bytes(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (!lane_registered())
		drv->violation("kind %d was enabled before the buffer callbacks were registered",
			       (int)kind);
	if (!activity_wanted(kind))
		atomic_store(&since_ns[kind], drv->now());
	if (!atomic_exchange(&wanted[kind], 1))
		atomic_fetch_add(&wanted_count, 1);
	pending_worker_start();
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUPTI_BEGIN();
	return enable(kind);
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	CUptiResult err;

	CUPTI_BEGIN();
	err = enable(kind);
	if (!err)
		record_existing(kind);
	return err;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CUPTI_BEGIN();
	if (!record_bytes(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (atomic_exchange(&wanted[kind], 0)) {
		atomic_fetch_sub(&wanted_count, 1);
		hazard_disabled(kind);
	}
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	uint64_t start;

	CUPTI_BEGIN();
	if (!lane_registered())
		return CUPTI_ERROR_INVALID_OPERATION;
	start = cupti_time();
	if (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
		pending_force();
	else
		pending_drain(true);
	record_overhead_since(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, start);
	lane_flush_all();
	deliver_flush();
	return CUPTI_SUCCESS;
}

/* Only full buffers come back by themselves, and they do so at once: there is nothing to set. */
MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t time)
{
	CUPTI_BEGIN();
	(void)time;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer,
							    size_t validBufferSizeBytes,
							    CUpti_Activity **record)
{
	CUpti_Activity *next = (void *)buffer;
	size_t bytes, at = 0;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*record) {
		at = (size_t)((uint8_t *)*record - buffer) + record_bytes((*record)->kind);
		next = (void *)(buffer + at);
	}
	if (at >= validBufferSizeBytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	bytes = record_bytes(next->kind);
	if (!bytes || at + bytes > validBufferSizeBytes)
		return CUPTI_ERROR_INVALID_KIND;
	*record = next;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context,
								   uint32_t streamId,
								   size_t *dropped)
{
	(void)context;
	(void)streamId;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = lane_dropped();
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityEnableLatencyTimestamps(uint8_t enable_)
{
	CUPTI_BEGIN();
	atomic_store(&latency, enable_ != 0);
	return CUPTI_SUCCESS;
}

/* Which counters there are is settled: those of explicit migration. It needs a running CUDA. */
MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityConfigureUnifiedMemoryCounter(
	CUpti_ActivityUnifiedMemoryCounterConfig *config, uint32_t count)
{
	CUPTI_BEGIN();
	if (!config || !count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return drv->initialized() ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_READY;
}

static CUptiResult attribute_check(const size_t *bytes, const void *value)
{
	return bytes && value ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* Attributes size memory that the simulator does not need; all take effect by being accepted. */
MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attr,
							   size_t *valueSize, void *value)
{
	CUPTI_BEGIN();
	(void)attr;
	return attribute_check(valueSize, value);
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityGetAttribute(CUpti_ActivityAttribute attr,
							   size_t *valueSize, void *value)
{
	CUPTI_BEGIN();
	(void)attr;
	if (attribute_check(valueSize, value))
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(value, 0, *valueSize);
	return CUPTI_SUCCESS;
}

#if MOCK_CUPTI >= 120900
MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t enable_)
{
	CUPTI_BEGIN();
	(void)enable_;
	return CUPTI_SUCCESS;
}

MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityEnableAllocationSource(uint8_t enable_)
{
	CUPTI_BEGIN();
	atomic_store(&sources, enable_ != 0);
	return CUPTI_SUCCESS;
}
#endif

#if MOCK_CUPTI >= 130000
MOCK_EXPORT CUptiResult CUPTIAPI cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable_)
{
	CUPTI_BEGIN();
	atomic_store(&event_times, enable_ != 0);
	return CUPTI_SUCCESS;
}
#endif
