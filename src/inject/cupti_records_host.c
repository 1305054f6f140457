/* SPDX-License-Identifier: Apache-2.0 */
/* What the CPU does, and what ids stand for. */
#include "src/inject/cupti_records.h"

#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_layout.h"
#include "src/inject/info.h"
#include "src/inject/strings.h"
#include "src/inject/thread.h"

void cuprobe_decode_sync(const __u8 *r, __u32 bytes)
{
	__u64 start = cuprobe_sync_start(r), end = cuprobe_sync_end(r);
	__u64 event_sync = cuprobe_sync_event_sync(r, bytes, 0);
	struct cuprobe_sync *out;

	if (!cuprobe_record_times(CUPROBE_PROBE_sync, &start, &end))
		return;
	out = cuprobe_batch_add(CUPROBE_PROBE_sync);
	*out = (struct cuprobe_sync){
		.start_ns = start,
		.end_ns = end,
		.event_sync_id = event_sync == CUPROBE_NO_ID ? 0 : event_sync,
		.device = cuprobe_info_context_device(cuprobe_sync_context(r)),
		.context = cuprobe_sync_context(r),
		.stream = cuprobe_sync_stream(r),
		.correlation = cuprobe_sync_correlation(r),
		.event = cuprobe_sync_event(r),
		.return_value = cuprobe_sync_return(r, bytes, 0),
		.kind = (__u8)cuprobe_sync_type(r),
	};
}

void cuprobe_decode_event(const __u8 *r, __u32 bytes)
{
	__u32 context = cuprobe_event_context(r);
	struct cuprobe_sync *out = cuprobe_batch_add(CUPROBE_PROBE_sync);

	*out = (struct cuprobe_sync){
		.device_time_ns = cuprobe_event_device_time(r, bytes, 0),
		.event_sync_id = cuprobe_event_sync(r, bytes, 0),
		.device = cuprobe_event_device(r, bytes, cuprobe_info_context_device(context)),
		.context = context,
		.stream = cuprobe_event_stream(r),
		.correlation = cuprobe_event_correlation(r),
		.event = cuprobe_event_id(r),
		.kind = CUPROBE_SYNC_EVENT_RECORD,
	};
}

/* CUPTI's name of an API function, asked for once. */
static __u32 api_name(__u32 domain, __u32 cbid)
{
	static __u32 names[3][2048];
	const char *name = NULL;

	if (cbid >= 2048)
		return 0;
	if (!names[domain][cbid] && cuprobe_decoding.cupti_alive) {
		cuprobe_cupti.GetCallbackName(domain, cbid, &name);
		names[domain][cbid] = cuprobe_strings_id(name);
	}
	return names[domain][cbid];
}

static void api_decode(const __u8 *r, __u32 domain)
{
	__u64 start = cuprobe_api_start(r), end = cuprobe_api_end(r);
	__u32 name;
	struct cuprobe_api *out;

	if (cuprobe_thread_is_ours(cuprobe_api_thread(r))) /* not the program's */
		return;
	if (!cuprobe_record_times(CUPROBE_PROBE_api, &start, &end))
		return;
	name = api_name(domain, cuprobe_api_cbid(r));
	out = cuprobe_batch_add(CUPROBE_PROBE_api);
	*out = (struct cuprobe_api){
		.start_ns = start,
		.end_ns = end,
		.thread = cuprobe_api_thread(r),
		.correlation = cuprobe_api_correlation(r),
		.cbid = cuprobe_api_cbid(r),
		.name = name,
		.return_value = cuprobe_api_return(r),
		.domain = (__u8)domain,
	};
}

void cuprobe_decode_runtime(const __u8 *r, __u32 bytes)
{
	(void)bytes;
	api_decode(r, CUPROBE_API_RUNTIME);
}

void cuprobe_decode_driver(const __u8 *r, __u32 bytes)
{
	(void)bytes;
	api_decode(r, CUPROBE_API_DRIVER);
}

/* CUPTI documents no end for these. */
static bool unified_is_instant(__u32 kind)
{
	return kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT ||
	       kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING ||
	       kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP;
}

void cuprobe_decode_unified(const __u8 *r, __u32 bytes)
{
	__u32 kind = cuprobe_unified_kind(r);
	__u64 start = cuprobe_unified_start(r);
	__u64 end = unified_is_instant(kind) ? start : cuprobe_unified_end(r);
	struct cuprobe_unified_memory *out;

	(void)bytes;
	if (!cuprobe_record_times(CUPROBE_PROBE_unified_memory, &start, &end))
		return;
	out = cuprobe_batch_add(CUPROBE_PROBE_unified_memory);
	*out = (struct cuprobe_unified_memory){
		.start_ns = start,
		.end_ns = end,
		.value = cuprobe_unified_value(r),
		.address = cuprobe_unified_address(r),
		.kind = kind,
		.src_device = cuprobe_unified_src(r),
		.dst_device = cuprobe_unified_dst(r),
		.stream = cuprobe_unified_stream(r),
		.flags = cuprobe_unified_flags(r),
	};
}

static void overhead_object(const __u8 *r, struct cuprobe_overhead *out)
{
	out->thread = out->device = out->context = out->stream = CUPROBE_NO_ID;
	switch (out->object_kind) {
	case CUPTI_ACTIVITY_OBJECT_THREAD:
		out->thread = cuprobe_overhead_object_1(r);
		break;
	case CUPTI_ACTIVITY_OBJECT_STREAM:
		out->stream = cuprobe_overhead_object_2(r);
		__attribute__((fallthrough));
	case CUPTI_ACTIVITY_OBJECT_CONTEXT:
		out->context = cuprobe_overhead_object_1(r);
		__attribute__((fallthrough));
	case CUPTI_ACTIVITY_OBJECT_DEVICE:
		out->device = cuprobe_overhead_object_0(r);
		break;
	}
}

void cuprobe_decode_overhead(const __u8 *r, __u32 bytes)
{
	__u64 start = cuprobe_overhead_start(r), end = cuprobe_overhead_end(r);
	struct cuprobe_overhead *out;

	if (!cuprobe_record_times(CUPROBE_PROBE_overhead, &start, &end))
		return;
	out = cuprobe_batch_add(CUPROBE_PROBE_overhead);
	*out = (struct cuprobe_overhead){
		.start_ns = start,
		.end_ns = end,
		.kind = cuprobe_overhead_kind(r),
		.object_kind = cuprobe_overhead_object(r),
		.correlation = cuprobe_overhead_correlation(r, bytes, 0),
	};
	overhead_object(r, out);
}

void cuprobe_decode_device(const __u8 *r, __u32 bytes)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_DEVICE};
	__u64 uuid[2] = {cuprobe_device_uuid_0(r), cuprobe_device_uuid_1(r)};

	(void)bytes;
	info.device = (struct cuprobe_info_device){
		.memory_bytes = cuprobe_device_memory(r),
		.memory_bandwidth_bytes_per_s = cuprobe_device_bandwidth(r) * 1000,
		.id = cuprobe_device_id(r),
		.name = cuprobe_strings_id((const char *)cuprobe_device_name(r)),
		.compute_major = cuprobe_device_major(r),
		.compute_minor = cuprobe_device_minor(r),
		.multiprocessors = cuprobe_device_sms(r),
		.warp_size = cuprobe_device_warp(r),
		.clock_khz = cuprobe_device_clock(r),
		.l2_bytes = cuprobe_device_l2(r),
		.max_threads_per_block = cuprobe_device_threads_per_block(r),
		.max_warps_per_multiprocessor = cuprobe_device_warps_per_sm(r),
		.max_blocks_per_multiprocessor = cuprobe_device_blocks_per_sm(r),
		.registers_per_block = cuprobe_device_registers_per_block(r),
		.registers_per_multiprocessor = cuprobe_device_registers_per_sm(r),
		.shared_bytes_per_block = cuprobe_device_shared_per_block(r),
		.shared_bytes_per_multiprocessor = cuprobe_device_shared_per_sm(r),
	};
	memcpy(info.device.uuid, uuid, sizeof(uuid));
	cuprobe_info_put(&info);
}

void cuprobe_decode_context(const __u8 *r, __u32 bytes)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_CONTEXT};
	__u32 parent = cuprobe_context_parent(r, bytes, 0);

	info.context = (struct cuprobe_info_context){
		.id = cuprobe_context_id(r),
		.device = cuprobe_context_device(r),
		.null_stream = cuprobe_context_null_stream(r),
		.parent = parent ? parent : CUPROBE_NO_ID,
	};
	cuprobe_info_put(&info);
}

void cuprobe_decode_stream(const __u8 *r, __u32 bytes)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_STREAM};

	(void)bytes;
	info.stream = (struct cuprobe_info_stream){
		.id = cuprobe_stream_id(r),
		.context = cuprobe_stream_context(r),
		.priority = (__s32)cuprobe_stream_priority(r),
		.flags = cuprobe_stream_flag(r),
	};
	cuprobe_info_put(&info);
}
