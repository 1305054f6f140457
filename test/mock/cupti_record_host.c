/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what the program did and has, in the layout of the version that is pretended. */
#include "test/mock/cupti.h"
#include "test/mock/cupti_records.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

void record_call(const struct mock_call *call, uint64_t end_ns)
{
	bool runtime = call->domain == CUPTI_CB_DOMAIN_RUNTIME_API;
	CUpti_ActivityAPI r = {
		.kind = runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER,
		.cbid = call->cbid,
		.start = call->enter_ns,
		.end = end_ns,
		.processId = (uint32_t)getpid(),
		.threadId = cupti_thread_id(),
		.correlationId = call->correlation,
		.returnValue = (uint32_t)call->result,
	};

	lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

void record_sync(const struct mock_sync *sync)
{
	record_synchronization r = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = (CUpti_ActivitySynchronizationType)sync->type,
		.start = cupti_from_gpu(sync->start_ns),
		.end = cupti_from_gpu(sync->end_ns),
		.correlationId = sync->correlation,
		.contextId = sync->context->id,
		.streamId = sync->stream ? sync->stream->id : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.cudaEventId = sync->event ? sync->event->id : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
#if MOCK_CUPTI >= 120900
		.cudaEventSyncId = sync->event ? sync->event->sync_id : 0,
		.returnValue = sync->result,
#endif
	};

	/* Of a wait that began before, nobody has noted when. */
	if (activity_wanted_at(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sync->start_ns))
		lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

void record_event(const struct CUevent_st *event, uint32_t correlation)
{
	record_cuda_event r = {
		.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
		.correlationId = correlation,
		.contextId = event->context->id,
		.streamId = event->stream->id,
		.eventId = event->id,
#if MOCK_CUPTI >= 120900
		.deviceId = event->context->device,
		.deviceTimestamp = activity_event_times() ? cupti_from_gpu(event->time_ns) : 0,
		.cudaEventSyncId = event->sync_id,
#endif
	};

	if (activity_wanted(CUPTI_ACTIVITY_KIND_CUDA_EVENT))
		lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

static void memory_pool_part(record_memory4 *r, const struct CUmemPoolHandle_st *pool)
{
	r->memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
	r->memoryPoolConfig.address = pool->address;
	r->memoryPoolConfig.releaseThreshold = pool->release_threshold;
	r->memoryPoolConfig.pool.size = pool->bytes;
	r->memoryPoolConfig.utilizedSize = pool->used;
}

/* The shared object that allocated; the loader's name of it stays. */
static void memory_source(record_memory4 *r, uint64_t pc)
{
#if MOCK_CUPTI >= 120900
	Dl_info info;

	if (activity_sources() && dladdr((void *)(uintptr_t)pc, &info))
		r->source = info.dli_fname;
#else
	(void)r;
	(void)pc;
#endif
}

void record_memory(const struct mock_memory *memory)
{
	record_memory4 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = (CUpti_ActivityMemoryOperationType)memory->op,
		.memoryKind = (CUpti_ActivityMemoryKind)memory->kind,
		.correlationId = memory->correlation,
		.address = memory->address,
		.bytes = memory->bytes,
		.PC = memory->pc,
		.processId = (uint32_t)getpid(),
		.deviceId = memory->context->device,
		.contextId = memory->context->id,
		.streamId =
			memory->stream ? memory->stream->id : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.isAsync = memory->stream != NULL,
	};

	if (!activity_wanted(CUPTI_ACTIVITY_KIND_MEMORY2))
		return;
	r.timestamp = cupti_time();
	if (memory->pool)
		memory_pool_part(&r, memory->pool);
	memory_source(&r, memory->pc);
	lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

void record_pool(uint32_t op, const struct CUmemPoolHandle_st *pool, uint32_t correlation)
{
	record_memory_pool r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
		.memoryPoolOperationType = (CUpti_ActivityMemoryPoolOperationType)op,
		.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
		.correlationId = correlation,
		.processId = (uint32_t)getpid(),
		.deviceId = pool->device,
		.address = pool->address,
		.size = pool->bytes,
		.releaseThreshold = pool->release_threshold,
		.utilizedSize = pool->used,
	};

	if (!activity_wanted(CUPTI_ACTIVITY_KIND_MEMORY_POOL))
		return;
	r.timestamp = cupti_time();
	lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

static void put_overhead(CUpti_ActivityOverheadKind kind, uint64_t start_ns, uint64_t end_ns)
{
	record_overhead r = {
		.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
		.overheadKind = kind,
		.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
		.start = start_ns,
		.end = end_ns,
	};

	r.objectId.pt.processId = (uint32_t)getpid();
	r.objectId.pt.threadId = cupti_thread_id();
	lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

/* Since `start_ns` of the client's clock the thread did nothing but what `kind` says. */
void record_overhead_since(uint32_t kind, uint64_t start_ns)
{
	if (activity_wanted(CUPTI_ACTIVITY_KIND_OVERHEAD))
		put_overhead((CUpti_ActivityOverheadKind)kind, start_ns, cupti_time());
}

static void put_context(const struct CUctx_st *context)
{
	record_context3 r = {
		.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
		.contextId = context->id,
		.deviceId = context->device,
		.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA,
		.nullStreamId = (uint16_t)context->null_stream->id,
	};

	lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

void record_context(const struct CUctx_st *context)
{
	if (activity_wanted(CUPTI_ACTIVITY_KIND_CONTEXT))
		put_context(context);
}

static CUpti_ActivityStreamFlag stream_flag(const struct CUstream_st *stream)
{
	if (stream->is_null)
		return CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL;
	return stream->flags & CU_STREAM_NON_BLOCKING
		       ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
		       : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
}

static void put_stream(const struct CUstream_st *stream)
{
	CUpti_ActivityStream r = {
		.kind = CUPTI_ACTIVITY_KIND_STREAM,
		.contextId = stream->context->id,
		.streamId = stream->id,
		.priority = (uint32_t)stream->priority,
		.flag = stream_flag(stream),
	};

	lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

void record_stream(const struct CUstream_st *stream)
{
	if (activity_wanted(CUPTI_ACTIVITY_KIND_STREAM))
		put_stream(stream);
}

static void put_device(uint32_t device)
{
	static const char uuid[16] = "cuprobe mock GPU";
	record_device5 r = {
		.kind = CUPTI_ACTIVITY_KIND_DEVICE,
		.globalMemoryBandwidth = 3352320000ull * 1000,
		.globalMemorySize = 80ull << 30,
		.constantMemorySize = 65536,
		.l2CacheSize = 52428800,
		.numThreadsPerWarp = 32,
		.coreClockRate = 1980000,
		.numMemcpyEngines = 3,
		.numMultiprocessors = 132,
		.maxIPC = 4,
		.maxWarpsPerMultiprocessor = 64,
		.maxBlocksPerMultiprocessor = 32,
		.maxSharedMemoryPerMultiprocessor = 233472,
		.maxRegistersPerMultiprocessor = 65536,
		.maxRegistersPerBlock = 65536,
		.maxSharedMemoryPerBlock = 49152,
		.maxThreadsPerBlock = 1024,
		.maxBlockDimX = 1024,
		.maxBlockDimY = 1024,
		.maxBlockDimZ = 64,
		.maxGridDimX = 2147483647,
		.maxGridDimY = 65535,
		.maxGridDimZ = 65535,
		.computeCapabilityMajor = 9,
		.computeCapabilityMinor = drv->compute_minor(),
		.id = device,
		.name = "Simulated GPU",
		.isCudaVisible = 1,
	};

	memcpy(&r.uuid, uuid, sizeof(uuid));
	r.uuid.bytes[15] = (char)('0' + device);
	lane_put(lane_mine(), r.kind, &r, sizeof(r));
}

/* What cuptiActivityEnableAndDump gives: what came to be before anybody asked. */
void record_existing(CUpti_ActivityKind kind)
{
	if (kind == CUPTI_ACTIVITY_KIND_DEVICE && drv->initialized()) {
		for (uint32_t device = 0; device < drv->device_count(); device++)
			put_device(device);
	}
	for (struct CUctx_st *context = drv->contexts(); context; context = context->next) {
		if (!context->alive)
			continue;
		if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
			put_context(context);
		for (struct CUstream_st *s = context->streams; s; s = s->next) {
			if (kind == CUPTI_ACTIVITY_KIND_STREAM && s->alive)
				put_stream(s);
		}
	}
}
