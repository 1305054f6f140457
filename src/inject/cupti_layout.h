/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields of CUPTI's records lie, so that one library reads what CUPTI 11 to 13 write,
 * whatever header it was built with. Between versions NVIDIA appends fields to a record and never
 * moves one: an offset holds for every version whose record reaches that far, and how far that is
 * comes from the version. test/unit/inject_layout.c holds all of it against the headers.
 *
 * X(name, member of NVIDIA's struct, type, offset), in groups: what every version has, then what
 * each later struct added.
 */
#ifndef CUPROBE_INJECT_CUPTI_LAYOUT_H
#define CUPROBE_INJECT_CUPTI_LAYOUT_H

#include <string.h>

#include <linux/types.h>

#define CUPROBE_KERNEL_FIELDS(X) /* CUpti_ActivityKernel5, CUDA 11.0 */                            \
	X(kernel_cache_config, cacheConfig, __u8, 4)                                               \
	X(kernel_registers, registersPerThread, __u16, 6)                                          \
	X(kernel_start, start, __u64, 16)                                                          \
	X(kernel_end, end, __u64, 24)                                                              \
	X(kernel_completed, completed, __u64, 32)                                                  \
	X(kernel_device, deviceId, __u32, 40)                                                      \
	X(kernel_context, contextId, __u32, 44)                                                    \
	X(kernel_stream, streamId, __u32, 48)                                                      \
	X(kernel_grid_x, gridX, __u32, 52)                                                         \
	X(kernel_grid_y, gridY, __u32, 56)                                                         \
	X(kernel_grid_z, gridZ, __u32, 60)                                                         \
	X(kernel_block_x, blockX, __u32, 64)                                                       \
	X(kernel_block_y, blockY, __u32, 68)                                                       \
	X(kernel_block_z, blockZ, __u32, 72)                                                       \
	X(kernel_static_shared, staticSharedMemory, __u32, 76)                                     \
	X(kernel_dynamic_shared, dynamicSharedMemory, __u32, 80)                                   \
	X(kernel_local_per_thread, localMemoryPerThread, __u32, 84)                                \
	X(kernel_local_total, localMemoryTotal, __u32, 88)                                         \
	X(kernel_correlation, correlationId, __u32, 92)                                            \
	X(kernel_grid_id, gridId, __u64, 96)                                                       \
	X(kernel_name, name, __u64, 104)                                                           \
	X(kernel_queued, queued, __u64, 120)                                                       \
	X(kernel_submitted, submitted, __u64, 128)                                                 \
	X(kernel_launch_type, launchType, __u8, 136)                                               \
	X(kernel_executed_shared, sharedMemoryExecuted, __u32, 140)                                \
	X(kernel_graph_node, graphNodeId, __u64, 144)                                              \
	X(kernel_graph, graphId, __u32, 156)
#define CUPROBE_KERNEL7_FIELDS(X) /* CUDA 11.6 */                                                  \
	X(kernel_channel, channelID, __u32, 168)                                                   \
	X(kernel_channel_type, channelType, __u32, 172)
#define CUPROBE_KERNEL8_FIELDS(X) /* CUDA 11.8 */                                                  \
	X(kernel_cluster_x, clusterX, __u32, 176)                                                  \
	X(kernel_cluster_y, clusterY, __u32, 180)                                                  \
	X(kernel_cluster_z, clusterZ, __u32, 184)                                                  \
	X(kernel_local_total_v2, localMemoryTotal_v2, __u64, 192)
#define CUPROBE_KERNEL10_FIELDS(X) /* CUDA 13.0 */                                                 \
	X(kernel_device_launched, isDeviceLaunched, __u8, 208)

#define CUPROBE_MEMCPY_FIELDS(X) /* CUpti_ActivityMemcpy4, CUDA 11.1 */                            \
	X(memcpy_kind, copyKind, __u8, 4)                                                          \
	X(memcpy_src_kind, srcKind, __u8, 5)                                                       \
	X(memcpy_dst_kind, dstKind, __u8, 6)                                                       \
	X(memcpy_flags, flags, __u8, 7)                                                            \
	X(memcpy_bytes, bytes, __u64, 8)                                                           \
	X(memcpy_start, start, __u64, 16)                                                          \
	X(memcpy_end, end, __u64, 24)                                                              \
	X(memcpy_device, deviceId, __u32, 32)                                                      \
	X(memcpy_context, contextId, __u32, 36)                                                    \
	X(memcpy_stream, streamId, __u32, 40)                                                      \
	X(memcpy_correlation, correlationId, __u32, 44)                                            \
	X(memcpy_graph_node, graphNodeId, __u64, 64)                                               \
	X(memcpy_graph, graphId, __u32, 72)
#define CUPROBE_MEMCPY5_FIELDS(X) /* CUDA 11.6 */                                                  \
	X(memcpy_channel, channelID, __u32, 76)                                                    \
	X(memcpy_channel_type, channelType, __u32, 80)
#define CUPROBE_MEMCPY6_FIELDS(X) /* CUDA 12.8 */ X(memcpy_count, copyCount, __u64, 88)
#define CUPROBE_MEMCPY6_13_FIELDS(X) /* padding before CUDA 13.0 */                                \
	X(memcpy_device_launched, isDeviceLaunched, __u8, 84)

#define CUPROBE_PEER_FIELDS(X) /* CUpti_ActivityMemcpyPtoP3, CUDA 11.1 */                          \
	X(peer_kind, copyKind, __u8, 4)                                                            \
	X(peer_src_kind, srcKind, __u8, 5)                                                         \
	X(peer_dst_kind, dstKind, __u8, 6)                                                         \
	X(peer_flags, flags, __u8, 7)                                                              \
	X(peer_bytes, bytes, __u64, 8)                                                             \
	X(peer_start, start, __u64, 16)                                                            \
	X(peer_end, end, __u64, 24)                                                                \
	X(peer_device, deviceId, __u32, 32)                                                        \
	X(peer_context, contextId, __u32, 36)                                                      \
	X(peer_stream, streamId, __u32, 40)                                                        \
	X(peer_src_device, srcDeviceId, __u32, 44)                                                 \
	X(peer_src_context, srcContextId, __u32, 48)                                               \
	X(peer_dst_device, dstDeviceId, __u32, 52)                                                 \
	X(peer_dst_context, dstContextId, __u32, 56)                                               \
	X(peer_correlation, correlationId, __u32, 60)                                              \
	X(peer_graph_node, graphNodeId, __u64, 72)                                                 \
	X(peer_graph, graphId, __u32, 80)
#define CUPROBE_PEER4_FIELDS(X) /* CUDA 11.6 */                                                    \
	X(peer_channel, channelID, __u32, 84)                                                      \
	X(peer_channel_type, channelType, __u32, 88)

#define CUPROBE_MEMSET_FIELDS(X) /* CUpti_ActivityMemset3, CUDA 11.1 */                            \
	X(memset_value, value, __u32, 4)                                                           \
	X(memset_bytes, bytes, __u64, 8)                                                           \
	X(memset_start, start, __u64, 16)                                                          \
	X(memset_end, end, __u64, 24)                                                              \
	X(memset_device, deviceId, __u32, 32)                                                      \
	X(memset_context, contextId, __u32, 36)                                                    \
	X(memset_stream, streamId, __u32, 40)                                                      \
	X(memset_correlation, correlationId, __u32, 44)                                            \
	X(memset_flags, flags, __u16, 48)                                                          \
	X(memset_memory_kind, memoryKind, __u16, 50)                                               \
	X(memset_graph_node, graphNodeId, __u64, 64)                                               \
	X(memset_graph, graphId, __u32, 72)
#define CUPROBE_MEMSET4_FIELDS(X) /* CUDA 11.6 */                                                  \
	X(memset_channel, channelID, __u32, 76)                                                    \
	X(memset_channel_type, channelType, __u32, 80)

#define CUPROBE_MEMORY_FIELDS(X) /* CUpti_ActivityMemory2, CUDA 11.2 */                            \
	X(memory_op, memoryOperationType, __u32, 4)                                                \
	X(memory_kind, memoryKind, __u32, 8)                                                       \
	X(memory_correlation, correlationId, __u32, 12)                                            \
	X(memory_address, address, __u64, 16)                                                      \
	X(memory_bytes, bytes, __u64, 24)                                                          \
	X(memory_time, timestamp, __u64, 32)                                                       \
	X(memory_pc, PC, __u64, 40)                                                                \
	X(memory_device, deviceId, __u32, 52)                                                      \
	X(memory_context, contextId, __u32, 56)                                                    \
	X(memory_stream, streamId, __u32, 60)                                                      \
	X(memory_name, name, __u64, 64)                                                            \
	X(memory_async, isAsync, __u32, 72)                                                        \
	X(memory_pool_type, memoryPoolConfig.memoryPoolType, __u32, 80)                            \
	X(memory_pool_address, memoryPoolConfig.address, __u64, 88)                                \
	X(memory_pool_threshold, memoryPoolConfig.releaseThreshold, __u64, 96)                     \
	X(memory_pool_bytes, memoryPoolConfig.pool, __u64, 104)
#define CUPROBE_MEMORY3_FIELDS(X) /* CUDA 11.6 */                                                  \
	X(memory_pool_used, memoryPoolConfig.utilizedSize, __u64, 112)
#define CUPROBE_MEMORY4_FIELDS(X) /* CUDA 12.6 */ X(memory_source, source, __u64, 120)

#define CUPROBE_POOL_FIELDS(X) /* CUpti_ActivityMemoryPool, CUDA 11.2 */                           \
	X(pool_op, memoryPoolOperationType, __u32, 4)                                              \
	X(pool_type, memoryPoolType, __u32, 8)                                                     \
	X(pool_correlation, correlationId, __u32, 12)                                              \
	X(pool_device, deviceId, __u32, 20)                                                        \
	X(pool_address, address, __u64, 32)                                                        \
	X(pool_bytes, size, __u64, 40)                                                             \
	X(pool_threshold, releaseThreshold, __u64, 48)                                             \
	X(pool_time, timestamp, __u64, 56)
#define CUPROBE_POOL2_FIELDS(X) /* CUDA 11.6 */ X(pool_used, utilizedSize, __u64, 64)

#define CUPROBE_SYNC_FIELDS(X) /* CUpti_ActivitySynchronization */                                 \
	X(sync_type, type, __u32, 4)                                                               \
	X(sync_start, start, __u64, 8)                                                             \
	X(sync_end, end, __u64, 16)                                                                \
	X(sync_correlation, correlationId, __u32, 24)                                              \
	X(sync_context, contextId, __u32, 28)                                                      \
	X(sync_stream, streamId, __u32, 32)                                                        \
	X(sync_event, cudaEventId, __u32, 36)
#define CUPROBE_SYNC2_FIELDS(X) /* CUDA 12.8 */                                                    \
	X(sync_event_sync, cudaEventSyncId, __u64, 40)                                             \
	X(sync_return, returnValue, __u32, 48)

#define CUPROBE_EVENT_FIELDS(X) /* CUpti_ActivityCudaEvent */                                      \
	X(event_correlation, correlationId, __u32, 4)                                              \
	X(event_context, contextId, __u32, 8)                                                      \
	X(event_stream, streamId, __u32, 12)                                                       \
	X(event_id, eventId, __u32, 16)
#define CUPROBE_EVENT2_FIELDS(X) /* CUDA 12.8 */                                                   \
	X(event_device, deviceId, __u32, 24)                                                       \
	X(event_device_time, deviceTimestamp, __u64, 40)                                           \
	X(event_sync, cudaEventSyncId, __u64, 48)

#define CUPROBE_API_FIELDS(X) /* CUpti_ActivityAPI */                                              \
	X(api_cbid, cbid, __u32, 4)                                                                \
	X(api_start, start, __u64, 8)                                                              \
	X(api_end, end, __u64, 16)                                                                 \
	X(api_thread, threadId, __u32, 28)                                                         \
	X(api_correlation, correlationId, __u32, 32)                                               \
	X(api_return, returnValue, __u32, 36)

#define CUPROBE_UNIFIED_FIELDS(X) /* CUpti_ActivityUnifiedMemoryCounter2 */                        \
	X(unified_kind, counterKind, __u32, 4)                                                     \
	X(unified_value, value, __u64, 8)                                                          \
	X(unified_start, start, __u64, 16)                                                         \
	X(unified_end, end, __u64, 24)                                                             \
	X(unified_address, address, __u64, 32)                                                     \
	X(unified_src, srcId, __u32, 40)                                                           \
	X(unified_dst, dstId, __u32, 44)                                                           \
	X(unified_stream, streamId, __u32, 48)                                                     \
	X(unified_flags, flags, __u32, 56)

#define CUPROBE_OVERHEAD_FIELDS(X) /* CUpti_ActivityOverhead */                                    \
	X(overhead_kind, overheadKind, __u32, 4)                                                   \
	X(overhead_object, objectKind, __u32, 8)                                                   \
	X(overhead_object_0, objectId.dcs.deviceId, __u32, 12)                                     \
	X(overhead_object_1, objectId.dcs.contextId, __u32, 16)                                    \
	X(overhead_object_2, objectId.dcs.streamId, __u32, 20)                                     \
	X(overhead_start, start, __u64, 24)                                                        \
	X(overhead_end, end, __u64, 32)
#define CUPROBE_OVERHEAD2_FIELDS(X) /* CUDA 12.3 */                                                \
	X(overhead_correlation, correlationId, __u32, 40)
#define CUPROBE_OVERHEAD3_FIELDS(X) /* CUDA 12.4 */ X(overhead_data, overheadData, __u64, 48)

#define CUPROBE_GRAPH_FIELDS(X) /* CUpti_ActivityGraphTrace, CUDA 11.7 */                          \
	X(graph_correlation, correlationId, __u32, 4)                                              \
	X(graph_start, start, __u64, 8)                                                            \
	X(graph_end, end, __u64, 16)                                                               \
	X(graph_device, deviceId, __u32, 24)                                                       \
	X(graph_id, graphId, __u32, 28)                                                            \
	X(graph_context, contextId, __u32, 32)                                                     \
	X(graph_stream, streamId, __u32, 36)
#define CUPROBE_GRAPH2_FIELDS(X) /* CUDA 12.3 */                                                   \
	X(graph_end_device, endDeviceId, __u32, 48)                                                \
	X(graph_end_context, endContextId, __u32, 52)

#define CUPROBE_STREAM_FIELDS(X) /* CUpti_ActivityStream */                                        \
	X(stream_context, contextId, __u32, 4)                                                     \
	X(stream_id, streamId, __u32, 8)                                                           \
	X(stream_priority, priority, __u32, 12)                                                    \
	X(stream_flag, flag, __u32, 16)

#define CUPROBE_CONTEXT_FIELDS(X) /* CUpti_ActivityContext */                                      \
	X(context_id, contextId, __u32, 4)                                                         \
	X(context_device, deviceId, __u32, 8)                                                      \
	X(context_null_stream, nullStreamId, __u16, 14)
#define CUPROBE_CONTEXT2_FIELDS(X) /* CUDA 12.4 */ X(context_parent, parentContextId, __u32, 16)

#define CUPROBE_DEVICE_FIELDS(X) /* CUpti_ActivityDevice3, CUDA 11.0 */                            \
	X(device_bandwidth, globalMemoryBandwidth, __u64, 8)                                       \
	X(device_memory, globalMemorySize, __u64, 16)                                              \
	X(device_l2, l2CacheSize, __u32, 28)                                                       \
	X(device_warp, numThreadsPerWarp, __u32, 32)                                               \
	X(device_clock, coreClockRate, __u32, 36)                                                  \
	X(device_sms, numMultiprocessors, __u32, 44)                                               \
	X(device_warps_per_sm, maxWarpsPerMultiprocessor, __u32, 52)                               \
	X(device_blocks_per_sm, maxBlocksPerMultiprocessor, __u32, 56)                             \
	X(device_shared_per_sm, maxSharedMemoryPerMultiprocessor, __u32, 60)                       \
	X(device_registers_per_sm, maxRegistersPerMultiprocessor, __u32, 64)                       \
	X(device_registers_per_block, maxRegistersPerBlock, __u32, 68)                             \
	X(device_shared_per_block, maxSharedMemoryPerBlock, __u32, 72)                             \
	X(device_threads_per_block, maxThreadsPerBlock, __u32, 76)                                 \
	X(device_major, computeCapabilityMajor, __u32, 104)                                        \
	X(device_minor, computeCapabilityMinor, __u32, 108)                                        \
	X(device_id, id, __u32, 112)                                                               \
	X(device_uuid_0, uuid.bytes[0], __u64, 120)                                                \
	X(device_uuid_1, uuid.bytes[8], __u64, 128)                                                \
	X(device_name, name, __u64, 136)

/* X(record, bytes in the oldest version that is read): what all of the groups above begin with. */
#define CUPROBE_LAYOUTS(X)                                                                         \
	X(kernel, 160)                                                                             \
	X(memcpy, 80)                                                                              \
	X(peer, 88)                                                                                \
	X(memset, 80)                                                                              \
	X(memory, 112)                                                                             \
	X(pool, 64)                                                                                \
	X(sync, 40)                                                                                \
	X(event, 24)                                                                               \
	X(api, 40)                                                                                 \
	X(unified, 64)                                                                             \
	X(overhead, 40)                                                                            \
	X(graph, 48)                                                                               \
	X(stream, 24)                                                                              \
	X(context, 16)                                                                             \
	X(device, 152)

/* Bytes of each record as the CUPTI of one version writes it. */
struct cuprobe_layout {
	__u32 since; /* cuptiGetVersion() */
#define CUPROBE_LAYOUT_MEMBER(record, base) __u16 record;
	CUPROBE_LAYOUTS(CUPROBE_LAYOUT_MEMBER)
#undef CUPROBE_LAYOUT_MEMBER
	__u8 device_launched; /* the padding byte of copies has become isDeviceLaunched */
};

/* The layout that this version writes; of a newer one than is known, what is known. */
const struct cuprobe_layout *cuprobe_layout_for(__u32 cupti_version);

/* A field that is in every version, read from a record: cuprobe_kernel_start(record). */
#define CUPROBE_DEFINE_FIELD(name, member, type, offset)                                           \
	static inline type cuprobe_##name(const __u8 *record)                                      \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		memcpy(&value, record + (offset), sizeof(value));                                  \
		return value;                                                                      \
	}

/* A field that a record of `bytes` bytes may lack: cuprobe_kernel_channel(record, bytes, unknown).
 */
#define CUPROBE_DEFINE_LATER_FIELD(name, member, type, offset)                                     \
	static inline type cuprobe_##name(const __u8 *record, __u32 bytes, type unknown)           \
	{                                                                                          \
		type value = unknown;                                                              \
                                                                                                   \
		if (bytes >= (offset) + sizeof(value))                                             \
			memcpy(&value, record + (offset), sizeof(value));                          \
		return value;                                                                      \
	}

CUPROBE_KERNEL_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_KERNEL7_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_KERNEL8_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_KERNEL10_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_MEMCPY_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_MEMCPY5_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_MEMCPY6_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_MEMCPY6_13_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_PEER_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_PEER4_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_MEMSET_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_MEMSET4_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_MEMORY_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_MEMORY3_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_MEMORY4_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_POOL_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_POOL2_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_SYNC_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_SYNC2_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_EVENT_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_EVENT2_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_API_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_UNIFIED_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_OVERHEAD_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_OVERHEAD2_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_OVERHEAD3_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_GRAPH_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_GRAPH2_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_STREAM_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_CONTEXT_FIELDS(CUPROBE_DEFINE_FIELD)
CUPROBE_CONTEXT2_FIELDS(CUPROBE_DEFINE_LATER_FIELD)
CUPROBE_DEVICE_FIELDS(CUPROBE_DEFINE_FIELD)

#endif
