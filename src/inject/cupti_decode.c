/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_decode.h"

#include <stdlib.h>
#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/clock.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_layout.h"
#include "src/inject/cupti_records.h"
#include "src/inject/cupti_session.h"
#include "src/inject/ledger.h"
#include "src/inject/outlet.h"
#include "src/inject/parca_kernels.h"
#include "src/inject/strings.h"

#define SLACK_NS 1000000000ull /* that far outside the session a time is still believed */

struct cuprobe_decoding cuprobe_decoding;

struct handler {
	void (*decode)(const __u8 *record, __u32 bytes);
	__u16 layout; /* offset of the record's size in struct cuprobe_layout */
	__u16 probe;
};

#define HANDLER(kind, record, probe)                                                               \
	[CUPTI_ACTIVITY_KIND_##kind] = {cuprobe_decode_##record,                                   \
					offsetof(struct cuprobe_layout, record),                   \
					CUPROBE_PROBE_##probe}
#define API_HANDLER(kind, function)                                                                \
	[CUPTI_ACTIVITY_KIND_##                                                                    \
		kind] = {function, offsetof(struct cuprobe_layout, api), CUPROBE_PROBE_api}

static const struct handler handlers[] = {
	HANDLER(CONCURRENT_KERNEL, kernel, kernel),
	HANDLER(KERNEL, kernel, kernel),
	HANDLER(GRAPH_TRACE, graph, graph),
	HANDLER(MEMCPY, memcpy, memcpy),
	HANDLER(MEMCPY2, peer, memcpy),
	HANDLER(MEMSET, memset, memset),
	HANDLER(MEMORY2, memory, memory),
	HANDLER(MEMORY_POOL, pool, memory),
	HANDLER(SYNCHRONIZATION, sync, sync),
	HANDLER(CUDA_EVENT, event, sync),
	API_HANDLER(RUNTIME, cuprobe_decode_runtime),
	API_HANDLER(DRIVER, cuprobe_decode_driver),
	HANDLER(UNIFIED_MEMORY_COUNTER, unified, unified_memory),
	HANDLER(OVERHEAD, overhead, overhead),
	HANDLER(DEVICE, device, info),
	HANDLER(CONTEXT, context, info),
	HANDLER(STREAM, stream, info),
};

#define KINDS (sizeof(handlers) / sizeof(handlers[0]))

/* The handlers as this version of CUPTI and the consumers of the moment need them. Pump thread. */
static struct ready {
	void (*decode)(const __u8 *record, __u32 bytes); /* NULL: a kind that is not known */
	__u32 bytes;
	__u16 probe;
	bool wanted;
	bool parca; /* kernels that consumers of the provider parcagpu want */
} ready[KINDS];

static __u32 record_kind(const __u8 *record)
{
	__u32 kind;

	memcpy(&kind, record, sizeof(kind));
	return kind;
}

/* How long the record is; 0 when its kind is not known. */
static __u32 record_bytes(__u32 kind, const struct cuprobe_layout *layout)
{
	__u16 bytes = 0;

	if (kind < KINDS && handlers[kind].decode)
		memcpy(&bytes, (const __u8 *)layout + handlers[kind].layout, sizeof(bytes));
	return bytes;
}

static void ready_make(const struct cuprobe_layout *layout)
{
	__u32 wanted = cuprobe_outlet_wanted() | CUPROBE_PROBE_BIT(CUPROBE_PROBE_info);
	bool parca = cuprobe_parca_kernels_begin();

	for (__u32 kind = 0; kind < KINDS; kind++)
		ready[kind] = (struct ready){
			.decode = handlers[kind].decode,
			.bytes = record_bytes(kind, layout),
			.probe = handlers[kind].probe,
			.wanted = wanted >> handlers[kind].probe & 1,
			.parca = parca && handlers[kind].decode == cuprobe_decode_kernel,
		};
}

/* CUPTI's documentation leaves the freeing of this to its client. */
static void record_release(const __u8 *record, __u32 kind, __u32 bytes)
{
	if (kind == CUPTI_ACTIVITY_KIND_OVERHEAD)
		free((void *)cuprobe_overhead_data(record, bytes, 0));
}

static void record_take(const __u8 *record, const __u8 *end)
{
	__u32 kind = record_kind(record);
	const struct ready *how = &ready[kind < KINDS ? kind : 0];

	if (!how->decode || record + how->bytes > end) {
		cuprobe_ledger_unknown_add(1);
		return;
	}
	if (how->parca)
		cuprobe_parca_kernel(record);
	if (how->wanted) {
		how->decode(record, how->bytes);
	} else if (!how->parca) {
		cuprobe_ledger[how->probe].decoded++;
		cuprobe_ledger[how->probe].discarded++;
	}
	record_release(record, kind, how->bytes);
}

/* Any thread: nothing here is the pump's. */
static void record_lose(const __u8 *record, const __u8 *end)
{
	__u32 kind = record_kind(record);
	__u32 bytes = record_bytes(kind, cuprobe_layout_for(cuprobe_cupti_version));

	if (!bytes || record + bytes > end) {
		cuprobe_ledger_unknown_add(1);
		return;
	}
	cuprobe_ledger_lose(handlers[kind].probe, 1);
	record_release(record, kind, bytes);
}

static inline void walk(__u8 *data, size_t valid_bytes,
			void (*take)(const __u8 *record, const __u8 *end))
{
	CUpti_Activity *record = NULL;
	CUptiResult result;

	for (;;) {
		result = cuprobe_cupti.ActivityGetNextRecord(data, valid_bytes, &record);
		if (result != CUPTI_SUCCESS)
			break;
		take((const __u8 *)record, data + valid_bytes);
	}
	if (result != CUPTI_ERROR_MAX_LIMIT_REACHED)
		cuprobe_ledger_unknown_add(1); /* the rest of the buffer cannot be read */
}

/* Without CUPTI the sizes of the records lead from one to the next, up to the first unknown one. */
static void walk_alone(const __u8 *record, const __u8 *end)
{
	__u32 bytes = 1;

	while (bytes && record + sizeof(__u32) <= end) {
		__u32 kind = record_kind(record);

		bytes = kind < KINDS ? ready[kind].bytes : 0;
		record_take(record, end);
		record += bytes;
	}
}

void cuprobe_decode_buffer(__u8 *data, size_t valid_bytes, bool cupti_alive)
{
	const struct cuprobe_layout *layout = cuprobe_layout_for(cuprobe_cupti_version);
	__u64 begun_ns = cuprobe_session_begun_ns();

	cuprobe_decoding = (struct cuprobe_decoding){
		.earliest_ns = begun_ns > SLACK_NS ? begun_ns - SLACK_NS : 0,
		.latest_ns = cuprobe_clock_now() + SLACK_NS,
		.offset_ns = (__u64)cuprobe_clock_offset_ns,
		.cupti_alive = cupti_alive,
		.device_launched = layout->device_launched,
	};
	cuprobe_strings_period_begin();
	ready_make(layout);
	if (cupti_alive)
		walk(data, valid_bytes, record_take);
	else
		walk_alone(data, data + valid_bytes);
}

void cuprobe_decode_lose(__u8 *data, size_t valid_bytes)
{
	walk(data, valid_bytes, record_lose);
}
