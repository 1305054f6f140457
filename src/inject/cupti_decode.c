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
#include "src/inject/strings.h"

#define SLACK_NS 1000000000ull /* that far outside the session a time is still believed */

/* What holds for the buffer being decoded. */
bool cuprobe_record_cupti_alive;
static __u64 earliest_ns, latest_ns;

__u64 cuprobe_record_time(__u64 cupti_ns)
{
	return cupti_ns ? cupti_ns + (__u64)cuprobe_clock_offset_ns : 0;
}

bool cuprobe_record_times(__u32 probe, __u64 *start, __u64 *end)
{
	*start = cuprobe_record_time(*start);
	*end = cuprobe_record_time(*end);
	if (*start > earliest_ns && *end >= *start && *end <= latest_ns)
		return true;
	cuprobe_ledger[probe].decoded++;
	cuprobe_ledger[probe].invalid++;
	return false;
}

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

static const struct handler *handler_for(const __u8 *record)
{
	__u32 kind;

	memcpy(&kind, record, sizeof(kind));
	if (kind >= sizeof(handlers) / sizeof(handlers[0]) || !handlers[kind].decode)
		return NULL;
	return &handlers[kind];
}

static __u32 handler_bytes(const struct handler *handler, const struct cuprobe_layout *layout)
{
	__u16 bytes;

	memcpy(&bytes, (const __u8 *)layout + handler->layout, sizeof(bytes));
	return bytes;
}

/* A record, the handler of its kind, and its size in this CUPTI. */
struct record {
	__u8 *at;
	const struct handler *handler; /* NULL: a kind that is not known */
	__u32 bytes;
};

static bool record_look(struct record *record, const struct cuprobe_layout *layout, const __u8 *end)
{
	record->handler = handler_for(record->at);
	record->bytes = record->handler ? handler_bytes(record->handler, layout) : 0;
	return record->at + record->bytes <= end;
}

/* Without CUPTI the sizes of the records lead from one to the next, up to the first unknown one. */
static bool record_step(struct record *record, __u8 *data, const __u8 *end)
{
	if (record->at && !record->bytes)
		return false;
	record->at = record->at ? record->at + record->bytes : data;
	return record->at + sizeof(__u32) <= end;
}

static bool record_next(struct record *record, __u8 *data, size_t valid_bytes, bool cupti_alive)
{
	CUpti_Activity *activity = (CUpti_Activity *)(void *)record->at;
	CUptiResult result;

	if (!cupti_alive)
		return record_step(record, data, data + valid_bytes);
	result = cuprobe_cupti.ActivityGetNextRecord(data, valid_bytes, &activity);
	record->at = (__u8 *)activity;
	if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_MAX_LIMIT_REACHED)
		cuprobe_ledger_unknown_add(1); /* the rest of the buffer cannot be read */
	return result == CUPTI_SUCCESS;
}

/* CUPTI's documentation leaves the freeing of this to its client. */
static void record_release(const struct record *record)
{
	if (record->handler->decode == cuprobe_decode_overhead)
		free((void *)cuprobe_overhead_data(record->at, record->bytes, 0));
}

static void record_decode(const struct record *record, __u32 wanted)
{
	__u32 probe = record->handler->probe;

	if (probe == CUPROBE_PROBE_info || (wanted & CUPROBE_PROBE_BIT(probe))) {
		record->handler->decode(record->at, record->bytes);
		return;
	}
	cuprobe_ledger[probe].decoded++;
	cuprobe_ledger[probe].discarded++;
}

void cuprobe_decode_buffer(__u8 *data, size_t valid_bytes, bool cupti_alive)
{
	const struct cuprobe_layout *layout = cuprobe_layout_for(cuprobe_cupti_version);
	__u64 begun_ns = cuprobe_session_begun_ns();
	__u32 wanted = cuprobe_outlet_wanted();
	struct record record = {0};

	cuprobe_record_cupti_alive = cupti_alive;
	earliest_ns = begun_ns > SLACK_NS ? begun_ns - SLACK_NS : 0;
	latest_ns = cuprobe_clock_now() + SLACK_NS;
	cuprobe_strings_period_begin();
	while (record_next(&record, data, valid_bytes, cupti_alive)) {
		if (!record_look(&record, layout, data + valid_bytes) || !record.handler) {
			cuprobe_ledger_unknown_add(1);
			continue;
		}
		record_decode(&record, wanted);
		record_release(&record);
	}
}

void cuprobe_decode_lose(__u8 *data, size_t valid_bytes)
{
	const struct cuprobe_layout *layout = cuprobe_layout_for(cuprobe_cupti_version);
	struct record record = {0};

	while (record_next(&record, data, valid_bytes, true)) {
		if (!record_look(&record, layout, data + valid_bytes) || !record.handler) {
			cuprobe_ledger_unknown_add(1);
			continue;
		}
		cuprobe_ledger_lose(record.handler->probe, 1);
		record_release(&record);
	}
}
