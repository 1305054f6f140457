/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what GPUs did, in the layout of the version that this libcupti pretends to be. */
#include "test/mock/cupti.h"
#include "test/mock/cupti_records.h"

#include <unistd.h>

#define HOST_ID 0xffffffffu /* in place of a device's */
#define COMPUTE_CHANNEL 3
#define COPY_CHANNEL 11

static _Atomic int64_t last_grid_id;

size_t record_bytes(uint32_t kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return sizeof(record_kernel);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return sizeof(record_memcpy);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return sizeof(CUpti_ActivityMemcpyPtoP4);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return sizeof(CUpti_ActivityMemset4);
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_DEVICE:
		return sizeof(record_device5);
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		return sizeof(record_context3);
	case CUPTI_ACTIVITY_KIND_NAME:
		return sizeof(CUpti_ActivityName);
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return sizeof(record_overhead);
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		return sizeof(record_unified);
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		return sizeof(record_cuda_event);
	case CUPTI_ACTIVITY_KIND_STREAM:
		return sizeof(CUpti_ActivityStream);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return sizeof(record_synchronization);
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return sizeof(CUpti_ActivityExternalCorrelation);
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return sizeof(record_memory4);
	case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
		return sizeof(record_memory_pool);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return sizeof(record_graph_trace);
	default:
		return kind > LAST_KNOWN_KIND && kind < MOCK_MAX_KINDS ? UNKNOWN_KIND_BYTES : 0;
	}
}

static void kernel_shape(record_kernel *r, const struct mock_op *op)
{
	const struct CUfunc_st *function = op->kernel.function;

	r->registersPerThread = (uint16_t)function->registers;
	r->gridX = (int32_t)op->kernel.grid[0];
	r->gridY = (int32_t)op->kernel.grid[1];
	r->gridZ = (int32_t)op->kernel.grid[2];
	r->blockX = (int32_t)op->kernel.block[0];
	r->blockY = (int32_t)op->kernel.block[1];
	r->blockZ = (int32_t)op->kernel.block[2];
	r->clusterX = op->kernel.cluster[0];
	r->clusterY = op->kernel.cluster[1];
	r->clusterZ = op->kernel.cluster[2];
	r->staticSharedMemory = (int32_t)function->static_shared;
	r->dynamicSharedMemory = (int32_t)op->kernel.dynamic_shared;
	r->sharedMemoryExecuted = function->static_shared + op->kernel.dynamic_shared;
	r->localMemoryPerThread = function->local_bytes;
	r->launchType = op->kernel.launch_type;
	r->name = function->name;
}

static void put_kernel(struct lane *lane, const struct mock_launch *launch,
		       const struct mock_op *op, uint64_t start_ns, uint64_t end_ns)
{
	record_kernel r = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.start = start_ns,
		.end = end_ns,
		.completed = end_ns,
		.deviceId = launch->stream->context->device,
		.contextId = launch->stream->context->id,
		.streamId = launch->stream->id,
		.correlationId = launch->correlation,
		.gridId = atomic_fetch_add_explicit(&last_grid_id, 1, memory_order_relaxed) + 1,
		.graphNodeId = op->node_id,
		.graphId = launch->exec ? launch->exec->graph_id : 0,
		.channelID = COMPUTE_CHANNEL,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	kernel_shape(&r, op);
	if (activity_latency()) {
		r.queued = cupti_from_gpu(launch->queued_ns);
		r.submitted = cupti_from_gpu(launch->submitted_ns);
	}
	lane_put(lane, r.kind, &r, sizeof(r));
}

static void put_copy(struct lane *lane, const struct mock_launch *launch, const struct mock_op *op,
		     uint64_t start_ns, uint64_t end_ns)
{
	record_memcpy r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = op->copy.copy_kind,
		.srcKind = op->copy.src_kind,
		.dstKind = op->copy.dst_kind,
		.flags = op->copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = op->copy.bytes,
		.start = start_ns,
		.end = end_ns,
		.deviceId = launch->stream->context->device,
		.contextId = launch->stream->context->id,
		.streamId = launch->stream->id,
		.correlationId = launch->correlation,
		.graphNodeId = op->node_id,
		.graphId = launch->exec ? launch->exec->graph_id : 0,
		.channelID = COPY_CHANNEL,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
#if MOCK_CUPTI >= 120900
		.copyCount = 1,
#endif
	};

	lane_put(lane, r.kind, &r, sizeof(r));
}

static void put_peer_copy(struct lane *lane, const struct mock_launch *launch,
			  const struct mock_op *op, uint64_t start_ns, uint64_t end_ns)
{
	CUpti_ActivityMemcpyPtoP4 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = op->copy.copy_kind,
		.srcKind = op->copy.src_kind,
		.dstKind = op->copy.dst_kind,
		.flags = op->copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = op->copy.bytes,
		.start = start_ns,
		.end = end_ns,
		.deviceId = launch->stream->context->device,
		.contextId = launch->stream->context->id,
		.streamId = launch->stream->id,
		.srcDeviceId = op->copy.src_device,
		.srcContextId = op->copy.src_context,
		.dstDeviceId = op->copy.dst_device,
		.dstContextId = op->copy.dst_context,
		.correlationId = launch->correlation,
		.graphNodeId = op->node_id,
		.graphId = launch->exec ? launch->exec->graph_id : 0,
		.channelID = COPY_CHANNEL,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
	};

	lane_put(lane, r.kind, &r, sizeof(r));
}

static void put_set(struct lane *lane, const struct mock_launch *launch, const struct mock_op *op,
		    uint64_t start_ns, uint64_t end_ns)
{
	CUpti_ActivityMemset4 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.value = op->set.value,
		.bytes = op->set.bytes,
		.start = start_ns,
		.end = end_ns,
		.deviceId = launch->stream->context->device,
		.contextId = launch->stream->context->id,
		.streamId = launch->stream->id,
		.correlationId = launch->correlation,
		.flags = op->set.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0,
		.memoryKind = op->set.memory_kind,
		.graphNodeId = op->node_id,
		.graphId = launch->exec ? launch->exec->graph_id : 0,
		.channelID = COMPUTE_CHANNEL,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	lane_put(lane, r.kind, &r, sizeof(r));
}

static void put_migration(struct lane *lane, const struct mock_launch *launch,
			  const struct mock_op *op, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t device = launch->stream->context->device;
	record_unified r = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.counterKind =
			op->migration.to_device
				? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD
				: CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
		.value = op->migration.bytes,
		.start = start_ns,
		.end = end_ns,
		.address = op->migration.address,
		.srcId = op->migration.to_device ? HOST_ID : device,
		.dstId = op->migration.to_device ? device : HOST_ID,
		.streamId = launch->stream->id,
		.processId = (uint32_t)getpid(),
		.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH,
	};

	lane_put(lane, r.kind, &r, sizeof(r));
}

/* Times are the driver's; both 0 for work whose times are not known. */
void record_op(struct lane *lane, const struct mock_launch *launch, const struct mock_op *op,
	       uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns) {
		start_ns = cupti_from_gpu(start_ns);
		end_ns = cupti_from_gpu(end_ns);
	}
	switch (op->kind) {
	case MOCK_KERNEL:
		put_kernel(lane, launch, op, start_ns, end_ns);
		break;
	case MOCK_COPY:
		put_copy(lane, launch, op, start_ns, end_ns);
		break;
	case MOCK_PEER_COPY:
		put_peer_copy(lane, launch, op, start_ns, end_ns);
		break;
	case MOCK_SET:
		put_set(lane, launch, op, start_ns, end_ns);
		break;
	case MOCK_MIGRATION:
		put_migration(lane, launch, op, start_ns, end_ns);
		break;
	}
}

void record_graph(struct lane *lane, const struct mock_launch *launch, bool finished)
{
	record_graph_trace r = {
		.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
		.correlationId = launch->correlation,
		.start = finished ? cupti_from_gpu(launch->start_ns) : 0,
		.end = finished ? cupti_from_gpu(launch->end_ns) : 0,
		.deviceId = launch->stream->context->device,
		.graphId = launch->exec->graph_id,
		.contextId = launch->stream->context->id,
		.streamId = launch->stream->id,
#if MOCK_CUPTI >= 120400
		.endDeviceId = launch->stream->context->device,
		.endContextId = launch->stream->context->id,
#endif
	};

	lane_put(lane, r.kind, &r, sizeof(r));
}
