/* SPDX-License-Identifier: Apache-2.0 */
/* What runs on a GPU, and its memory. */
#include "src/inject/cupti_records.h"

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_layout.h"
#include "src/inject/info.h"
#include "src/inject/strings.h"

#define HOST_ID 0x7fffffffu /* INT_MAX in a graph's device: it begins or ends on the host */

static __u32 shared_name(__u64 pointer)
{
	return cuprobe_strings_id_shared((const char *)pointer);
}

/* What a kernel has had since CUDA 11.6, 11.8 and 13.0, where `bytes` reach that far. */
static void kernel_decode_later(struct cuprobe_kernel *restrict out, const __u8 *restrict r,
				__u32 bytes)
{
	out->channel = cuprobe_kernel_channel(r, bytes, CUPROBE_NO_ID);
	out->channel_type = (__u8)cuprobe_kernel_channel_type(r, bytes, 0);
	out->cluster[0] = cuprobe_kernel_cluster_x(r, bytes, 0);
	out->cluster[1] = cuprobe_kernel_cluster_y(r, bytes, 0);
	out->cluster[2] = cuprobe_kernel_cluster_z(r, bytes, 0);
	out->local_memory_total_bytes =
		cuprobe_kernel_local_total_v2(r, bytes, cuprobe_kernel_local_total(r));
	out->device_launched = cuprobe_kernel_device_launched(r, bytes, 0);
}

/* Field by field, because this is the record that comes by the million. */
static void kernel_decode(struct cuprobe_kernel *restrict out, const __u8 *restrict r)
{
	out->queued_ns = cuprobe_record_time(cuprobe_kernel_queued(r));
	out->submitted_ns = cuprobe_record_time(cuprobe_kernel_submitted(r));
	out->completed_ns = cuprobe_record_time(cuprobe_kernel_completed(r));
	out->grid_id = cuprobe_kernel_grid_id(r);
	out->graph_node_id = cuprobe_kernel_graph_node(r);
	out->device = cuprobe_kernel_device(r);
	out->context = cuprobe_kernel_context(r);
	out->stream = cuprobe_kernel_stream(r);
	out->correlation = cuprobe_kernel_correlation(r);
	out->graph_id = cuprobe_kernel_graph(r);
	out->grid[0] = cuprobe_kernel_grid_x(r);
	out->grid[1] = cuprobe_kernel_grid_y(r);
	out->grid[2] = cuprobe_kernel_grid_z(r);
	out->block[0] = cuprobe_kernel_block_x(r);
	out->block[1] = cuprobe_kernel_block_y(r);
	out->block[2] = cuprobe_kernel_block_z(r);
	out->registers_per_thread = cuprobe_kernel_registers(r);
	out->static_shared_bytes = cuprobe_kernel_static_shared(r);
	out->dynamic_shared_bytes = cuprobe_kernel_dynamic_shared(r);
	out->executed_shared_bytes = cuprobe_kernel_executed_shared(r);
	out->local_bytes_per_thread = cuprobe_kernel_local_per_thread(r);
	out->launch_type = cuprobe_kernel_launch_type(r);
	out->cache_config = cuprobe_kernel_cache_config(r);
	out->reserved = 0;
}

void cuprobe_decode_kernel(const __u8 *r, __u32 bytes)
{
	__u64 start = cuprobe_kernel_start(r), end = cuprobe_kernel_end(r);
	struct cuprobe_kernel *out;
	__u32 name;

	if (!cuprobe_record_times(CUPROBE_PROBE_kernel, &start, &end))
		return;
	name = shared_name(cuprobe_kernel_name(r));
	out = cuprobe_batch_add(CUPROBE_PROBE_kernel);
	out->start_ns = start;
	out->end_ns = end;
	out->name = name;
	kernel_decode(out, r);
	kernel_decode_later(out, r, bytes);
	out->priority = cuprobe_info_stream_priority(out->context, out->stream);
}

/* "INT_MAX: on the host" becomes "not a device". */
static __u32 graph_place(__u32 id)
{
	return id == HOST_ID ? CUPROBE_NO_ID : id;
}

void cuprobe_decode_graph(const __u8 *r, __u32 bytes)
{
	__u64 start = cuprobe_graph_start(r), end = cuprobe_graph_end(r);
	struct cuprobe_graph *out;

	if (!cuprobe_record_times(CUPROBE_PROBE_graph, &start, &end))
		return;
	out = cuprobe_batch_add(CUPROBE_PROBE_graph);
	*out = (struct cuprobe_graph){
		.start_ns = start,
		.end_ns = end,
		.device = graph_place(cuprobe_graph_device(r)),
		.context = graph_place(cuprobe_graph_context(r)),
		.stream = cuprobe_graph_stream(r),
		.correlation = cuprobe_graph_correlation(r),
		.graph_id = cuprobe_graph_id(r),
		.end_device = graph_place(cuprobe_graph_end_device(r, bytes, CUPROBE_NO_ID)),
		.end_context = graph_place(cuprobe_graph_end_context(r, bytes, CUPROBE_NO_ID)),
	};
}

static __u8 copy_device_launched(const __u8 *r, __u32 bytes)
{
	return cuprobe_decoding.device_launched ? cuprobe_memcpy_device_launched(r, bytes, 0) : 0;
}

void cuprobe_decode_memcpy(const __u8 *r, __u32 bytes)
{
	__u64 start = cuprobe_memcpy_start(r), end = cuprobe_memcpy_end(r);
	struct cuprobe_memcpy *out;

	if (!cuprobe_record_times(CUPROBE_PROBE_memcpy, &start, &end))
		return;
	out = cuprobe_batch_add(CUPROBE_PROBE_memcpy);
	*out = (struct cuprobe_memcpy){
		.start_ns = start,
		.end_ns = end,
		.bytes = cuprobe_memcpy_bytes(r),
		.graph_node_id = cuprobe_memcpy_graph_node(r),
		.copy_count = cuprobe_memcpy_count(r, bytes, 1),
		.device = cuprobe_memcpy_device(r),
		.context = cuprobe_memcpy_context(r),
		.stream = cuprobe_memcpy_stream(r),
		.correlation = cuprobe_memcpy_correlation(r),
		.src_device = CUPROBE_NO_ID,
		.src_context = CUPROBE_NO_ID,
		.dst_device = CUPROBE_NO_ID,
		.dst_context = CUPROBE_NO_ID,
		.graph_id = cuprobe_memcpy_graph(r),
		.channel = cuprobe_memcpy_channel(r, bytes, CUPROBE_NO_ID),
		.copy_kind = cuprobe_memcpy_kind(r),
		.src_kind = cuprobe_memcpy_src_kind(r),
		.dst_kind = cuprobe_memcpy_dst_kind(r),
		.flags = cuprobe_memcpy_flags(r) & CUPROBE_FLAG_ASYNC,
		.channel_type = (__u8)cuprobe_memcpy_channel_type(r, bytes, 0),
		.device_launched = copy_device_launched(r, bytes),
		.reserved = 0,
	};
}

void cuprobe_decode_peer(const __u8 *r, __u32 bytes)
{
	__u64 start = cuprobe_peer_start(r), end = cuprobe_peer_end(r);
	struct cuprobe_memcpy *out;

	if (!cuprobe_record_times(CUPROBE_PROBE_memcpy, &start, &end))
		return;
	out = cuprobe_batch_add(CUPROBE_PROBE_memcpy);
	*out = (struct cuprobe_memcpy){
		.start_ns = start,
		.end_ns = end,
		.bytes = cuprobe_peer_bytes(r),
		.graph_node_id = cuprobe_peer_graph_node(r),
		.copy_count = 1,
		.device = cuprobe_peer_device(r),
		.context = cuprobe_peer_context(r),
		.stream = cuprobe_peer_stream(r),
		.correlation = cuprobe_peer_correlation(r),
		.src_device = cuprobe_peer_src_device(r),
		.src_context = cuprobe_peer_src_context(r),
		.dst_device = cuprobe_peer_dst_device(r),
		.dst_context = cuprobe_peer_dst_context(r),
		.graph_id = cuprobe_peer_graph(r),
		.channel = cuprobe_peer_channel(r, bytes, CUPROBE_NO_ID),
		.copy_kind = cuprobe_peer_kind(r),
		.src_kind = cuprobe_peer_src_kind(r),
		.dst_kind = cuprobe_peer_dst_kind(r),
		.flags = cuprobe_peer_flags(r) & CUPROBE_FLAG_ASYNC,
		.channel_type = (__u8)cuprobe_peer_channel_type(r, bytes, 0),
		.device_launched = 0,
		.reserved = 0,
	};
}

void cuprobe_decode_memset(const __u8 *r, __u32 bytes)
{
	__u64 start = cuprobe_memset_start(r), end = cuprobe_memset_end(r);
	struct cuprobe_memset *out;

	if (!cuprobe_record_times(CUPROBE_PROBE_memset, &start, &end))
		return;
	out = cuprobe_batch_add(CUPROBE_PROBE_memset);
	*out = (struct cuprobe_memset){
		.start_ns = start,
		.end_ns = end,
		.bytes = cuprobe_memset_bytes(r),
		.graph_node_id = cuprobe_memset_graph_node(r),
		.device = cuprobe_memset_device(r),
		.context = cuprobe_memset_context(r),
		.stream = cuprobe_memset_stream(r),
		.correlation = cuprobe_memset_correlation(r),
		.graph_id = cuprobe_memset_graph(r),
		.value = cuprobe_memset_value(r),
		.channel = cuprobe_memset_channel(r, bytes, CUPROBE_NO_ID),
		.memory_kind = cuprobe_memset_memory_kind(r),
		.flags = cuprobe_memset_flags(r) & CUPROBE_FLAG_ASYNC,
		.channel_type = (__u8)cuprobe_memset_channel_type(r, bytes, 0),
	};
}

void cuprobe_decode_memory(const __u8 *r, __u32 bytes)
{
	__u64 time = cuprobe_memory_time(r), end = time;
	__u32 name, source;
	struct cuprobe_memory *out;

	if (!cuprobe_record_times(CUPROBE_PROBE_memory, &time, &end))
		return;
	name = shared_name(cuprobe_memory_name(r));
	source = shared_name(cuprobe_memory_source(r, bytes, 0));
	out = cuprobe_batch_add(CUPROBE_PROBE_memory);
	*out = (struct cuprobe_memory){
		.time_ns = time,
		.address = cuprobe_memory_address(r),
		.bytes = cuprobe_memory_bytes(r),
		.pc = cuprobe_memory_pc(r),
		.device = cuprobe_memory_device(r),
		.context = cuprobe_memory_context(r),
		.stream = cuprobe_memory_stream(r),
		.correlation = cuprobe_memory_correlation(r),
		.name = name,
		.source = source,
		.op = (__u8)cuprobe_memory_op(r),
		.memory_kind = (__u8)cuprobe_memory_kind(r),
		.flags = cuprobe_memory_async(r) ? CUPROBE_FLAG_ASYNC : 0,
	};
	if (!cuprobe_memory_pool_type(r))
		return;
	out->pool_type = (__u8)cuprobe_memory_pool_type(r);
	out->pool_address = cuprobe_memory_pool_address(r);
	out->pool_release_threshold_bytes = cuprobe_memory_pool_threshold(r);
	if (out->pool_type != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL)
		return; /* of an imported pool the fields hold a process id */
	out->pool_bytes = cuprobe_memory_pool_bytes(r);
	out->pool_used_bytes = cuprobe_memory_pool_used(r, bytes, 0);
}

void cuprobe_decode_pool(const __u8 *r, __u32 bytes)
{
	__u64 time = cuprobe_pool_time(r), end = time;
	__u32 op = cuprobe_pool_op(r);
	struct cuprobe_memory *out;

	if (!cuprobe_record_times(CUPROBE_PROBE_memory, &time, &end))
		return;
	out = cuprobe_batch_add(CUPROBE_PROBE_memory);
	*out = (struct cuprobe_memory){
		.time_ns = time,
		.address = cuprobe_pool_address(r),
		.bytes = cuprobe_pool_bytes(r),
		.pool_address = cuprobe_pool_address(r),
		.pool_bytes = cuprobe_pool_bytes(r),
		.pool_used_bytes = cuprobe_pool_used(r, bytes, 0),
		.pool_release_threshold_bytes = cuprobe_pool_threshold(r),
		.device = cuprobe_pool_device(r),
		.context = CUPROBE_NO_ID,
		.stream = CUPROBE_NO_ID,
		.correlation = cuprobe_pool_correlation(r),
		.op = op ? (__u8)(op - 1 + CUPROBE_MEMORY_POOL_CREATED) : 0,
		.pool_type = (__u8)cuprobe_pool_type(r),
	};
}
