/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX inside the library: events that are handed in when they are over. */
#include "test/unit/nvtx_client.h"

#include "src/inject/clock.h"
#include "src/inject/ledger.h"

typedef uint64_t (*schema_fn)(void *, const struct nvtx_schema_attributes *);
typedef int (*push_payload_fn)(void *, const struct nvtx_payload *, size_t);
typedef void (*submit_fn)(void *, const struct nvtx_payload *, size_t);
typedef void (*submit_batch_fn)(void *, const struct nvtx_event_batch *);

struct transfer {
	__s64 begin, end;
	const char *name;
	__u32 bytes;
};

/* Of a struct transfer whose times are of that clock; `mark`: the first of them alone is one. */
static uint64_t transfer_schema(__u64 clock, bool mark)
{
	const struct nvtx_semantics_time time = {
		.head = {.bytes = sizeof(time), .id = NVTX_SEMANTICS_TIME, .version = 1},
		.domain = clock,
	};
	const struct nvtx_schema_entry entries[] = {
		{NVTX_ENTRY_TIMESTAMP | (mark ? NVTX_ENTRY_OF_MARK : NVTX_ENTRY_OF_BEGIN),
		 NVTX_TYPE_INT64, "begin", NULL, 0, 0, &time.head, NULL},
		{NVTX_ENTRY_TIMESTAMP | (mark ? NVTX_ENTRY_HIDE : NVTX_ENTRY_OF_END),
		 NVTX_TYPE_INT64, "end", NULL, 0, 0, &time.head, NULL},
		{NVTX_ENTRY_MESSAGE, NVTX_TYPE_STRING, NULL, NULL, 0, 0, NULL, NULL},
		{0, NVTX_TYPE_UINT32, "bytes", NULL, 0, 0, NULL, NULL},
	};
	const struct nvtx_schema_attributes s = {
		.fields = NVTX_SCHEMA_TYPE | NVTX_SCHEMA_ENTRIES | NVTX_SCHEMA_ENTRY_COUNT |
			  NVTX_SCHEMA_STATIC_BYTES,
		.type = NVTX_SCHEMA_STATIC,
		.entries = entries,
		.entry_count = 4,
		.static_bytes = sizeof(struct transfer),
	};

	return ((schema_fn)payload[NVTX_SLOT_SCHEMA_REGISTER])(NULL, &s);
}

static void submit(uint64_t schema, const struct transfer *t)
{
	const struct nvtx_payload p = {schema, sizeof(*t), t};

	((submit_fn)payload[NVTX_SLOT_EVENT_SUBMIT])(NULL, &p, 1);
	pump_all();
}

static struct transfer transfer_now(void)
{
	const __s64 now = (__s64)cuprobe_clock_now();

	return (struct transfer){now - 2, now - 1, "transfer", 512};
}

static __u64 lost(void)
{
	return cuprobe_ledger[CUPROBE_PROBE_nvtx].lost;
}

static void a_range_is_when_it_was(void **state)
{
	const struct transfer t = transfer_now();

	(void)state;
	submit(transfer_schema(NVTX_TIME_MONOTONIC, false), &t);
	assert_int_equal(event_count, 2);
	assert_int_equal(events[0].kind, CUPROBE_NVTX_START);
	assert_int_equal(events[0].time_ns, t.begin);
	assert_text(events[0].message, "transfer");
	assert_text(events[0].payload, "{bytes: 512}");
	assert_int_equal(events[1].kind, CUPROBE_NVTX_END);
	assert_int_equal(events[1].time_ns, t.end);
	assert_int_not_equal(events[0].range, 0);
	assert_int_equal(events[1].range, events[0].range);
}

static void so_is_a_mark(void **state)
{
	const struct transfer t = transfer_now();

	(void)state;
	submit(transfer_schema(NVTX_TIME_OF_TOOL, true), &t);
	assert_int_equal(event_count, 1);
	assert_int_equal(events[0].kind, CUPROBE_NVTX_MARK);
	assert_int_equal(events[0].time_ns, t.begin);
}

static void so_are_all_of_a_batch(void **state)
{
	const struct transfer t[] = {transfer_now(), transfer_now(), transfer_now()};
	const struct nvtx_event_batch batch = {.schema =
						       transfer_schema(NVTX_TIME_MONOTONIC, false),
					       .bytes = sizeof(t) - 1,
					       .events = t};

	(void)state;
	((submit_batch_fn)payload[NVTX_SLOT_EVENT_BATCH])(NULL, &batch);
	pump_all();
	assert_int_equal(event_count, 4);
	assert_int_equal(events[2].time_ns, t[1].begin);
	assert_int_not_equal(events[2].range, events[0].range);
}

static void what_cannot_have_been_is_counted(void **state)
{
	const struct transfer t = transfer_now();
	const struct transfer backwards = {t.end, t.begin, "backwards", 0};
	const struct transfer to_come = {t.begin, t.begin + 3600000000000, "to come", 0};
	const struct nvtx_event_batch unknown = {.schema = 12345, .bytes = sizeof(t), .events = &t};
	uint64_t schema = transfer_schema(NVTX_TIME_MONOTONIC, false);
	__u64 before = lost();

	(void)state;
	submit(schema, &backwards);
	submit(schema, &to_come);
	submit(transfer_schema(NVTX_TIME_NONE, false), &t);
	submit(12345, &t);
	((submit_batch_fn)payload[NVTX_SLOT_EVENT_BATCH])(NULL, &unknown);
	pump_all();
	assert_int_equal(event_count, 0);
	assert_int_equal(lost(), before + 5);
}

static void other_events_are_now_whatever_times_they_have(void **state)
{
	const struct transfer t = transfer_now();
	const struct nvtx_payload p = {transfer_schema(NVTX_TIME_MONOTONIC, false), sizeof(t), &t};

	(void)state;
	CALL(payload[NVTX_SLOT_PUSH], push_payload_fn, NULL, &p, 1);
	pump_all();
	assert_int_equal(event_count, 1);
	assert_true(events[0].time_ns > (__u64)t.end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(a_range_is_when_it_was),
		IN_SESSION(so_is_a_mark),
		IN_SESSION(so_are_all_of_a_batch),
		IN_SESSION(what_cannot_have_been_is_counted),
		IN_SESSION(other_events_are_now_whatever_times_they_have),
	};

	return cmocka_run_group_tests(tests, client_begin, NULL);
}
