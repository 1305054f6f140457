/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of NVTX inside the library. */
#include "test/unit/nvtx_client.h"

#include "src/inject/clock.h"
#include "src/inject/ledger.h"

static uintptr_t slots[SLOTS];

typedef uint64_t (*register_counter_fn)(void *, const struct nvtx_counter_attributes *);
typedef void (*int64_fn)(void *, uint64_t, int64_t);
typedef void (*float64_fn)(void *, uint64_t, double);
typedef void (*sample_fn)(void *, uint64_t, const void *, size_t);
typedef void (*no_value_fn)(void *, uint64_t, uint8_t);
typedef void (*batch_fn)(void *, const struct nvtx_counter_batch *);
typedef uint64_t (*schema_fn)(void *, const struct nvtx_schema_attributes *);
typedef uint64_t (*time_domain_fn)(void *, const struct nvtx_time_attributes *);
typedef int64_t (*timestamp_fn)(void);

static struct nvtx_semantics_time semantics = {
	.head = {.bytes = sizeof(semantics), .id = NVTX_SEMANTICS_TIME, .version = 1},
};

static uint64_t counter(void *domain, const char *name, uint64_t schema, uint64_t id)
{
	const struct nvtx_counter_attributes a = {.bytes = sizeof(a),
						  .schema = schema,
						  .name = name,
						  .semantics = &semantics.head,
						  .id = id};

	return ((register_counter_fn)slots[NVTX_COUNTERS_REGISTER])(domain, &a);
}

static void sample(uint64_t id, const void *value, size_t bytes)
{
	((sample_fn)slots[NVTX_COUNTERS_SAMPLE])(NULL, id, value, bytes);
}

static __u64 lost(void)
{
	return cuprobe_ledger[CUPROBE_PROBE_nvtx].lost;
}

static double real_of(__u64 bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void values_come_with_the_name_of_their_counter(void **state)
{
	void *domain = domain_create("counters");
	uint64_t tokens = counter(domain, "tokens", NVTX_TYPE_INT64, 0);
	uint64_t loss = counter(domain, "loss", NVTX_TYPE_DOUBLE, 0);

	(void)state;
	assert_in_range(tokens, NVTX_COUNTER_FIRST_DYNAMIC, loss - 1);
	((int64_fn)slots[NVTX_COUNTERS_SAMPLE_INT64])(domain, tokens, -7);
	((float64_fn)slots[NVTX_COUNTERS_SAMPLE_FLOAT64])(domain, loss, 0.25);
	pump_all();
	assert_int_equal(event_count, 2);
	assert_int_equal(events[0].kind, CUPROBE_NVTX_COUNTER);
	assert_text(events[0].message, "tokens");
	assert_int_not_equal(events[0].domain, 0);
	assert_int_equal(events[0].payload_type, CUPROBE_NVTX_PAYLOAD_S64);
	assert_int_equal(events[0].payload, (__u64)-7);
	assert_text(events[1].message, "loss");
	assert_int_equal(events[1].payload_type, CUPROBE_NVTX_PAYLOAD_DOUBLE);
	assert_true(real_of(events[1].payload) == 0.25);
}

static void a_counter_registered_again_is_the_same(void **state)
{
	uint64_t id = counter(NULL, "again", NVTX_TYPE_INT64, 0);

	(void)state;
	assert_int_not_equal(id, 0);
	assert_int_equal(counter(NULL, "again", NVTX_TYPE_INT64, 0), id);
	assert_int_not_equal(counter(NULL, "again", NVTX_TYPE_DOUBLE, 0), id);
	assert_int_equal(counter(NULL, "fixed", NVTX_TYPE_INT64, 1 << 24), 1 << 24);
	assert_int_equal(counter(NULL, "text", NVTX_TYPE_STRING, 0), 0);
}

struct traffic {
	__u8 flag;
	__s16 signed_one;
	float ratio;
	__s64 time;
	__u32 per_port[3];
	__u64 bytes;
};

static uint64_t traffic_schema(void)
{
	static const struct nvtx_schema_entry entries[] = {
		{0, NVTX_TYPE_UINT8, "flag", NULL, 0, 0, NULL, NULL},
		{0, NVTX_TYPE_INT16, "signed", NULL, 0, 0, NULL, NULL},
		{0, NVTX_TYPE_FLOAT, "ratio", NULL, 0, 0, NULL, NULL},
		{NVTX_ENTRY_TIMESTAMP, NVTX_TYPE_INT64, "time", NULL, 0, 0, NULL, NULL},
		{NVTX_ENTRY_ARRAY_FIXED, NVTX_TYPE_UINT32, "per port", NULL, 3, 0, NULL, NULL},
		{0, NVTX_TYPE_UINT64, "bytes", NULL, 0, 0, NULL, NULL},
	};
	const struct nvtx_schema_attributes s = {
		.fields = NVTX_SCHEMA_TYPE | NVTX_SCHEMA_ENTRIES | NVTX_SCHEMA_ENTRY_COUNT |
			  NVTX_SCHEMA_STATIC_BYTES,
		.type = NVTX_SCHEMA_STATIC,
		.entries = entries,
		.entry_count = 6,
		.static_bytes = sizeof(struct traffic),
	};

	return ((schema_fn)payload[NVTX_SLOT_SCHEMA_REGISTER])(NULL, &s);
}

static void a_struct_has_a_series_for_each_number(void **state)
{
	const struct traffic t = {1, -2, 0.5f, 99, {3, 4, 5}, 1ull << 63};
	uint64_t id = counter(NULL, "traffic", traffic_schema(), 0);
	__u64 lost_before = lost();
	float ratio;

	(void)state;
	sample(id, &t, sizeof(t));
	pump_all();
	assert_int_equal(event_count, 4);
	assert_text(events[0].message, "traffic.flag");
	assert_int_equal(events[0].payload, 1);
	assert_text(events[1].message, "traffic.signed");
	assert_int_equal(events[1].payload, (__u64)-2);
	assert_int_equal(events[2].payload_type, CUPROBE_NVTX_PAYLOAD_FLOAT);
	memcpy(&ratio, &events[2].payload, sizeof(ratio));
	assert_true(ratio == 0.5f);
	assert_text(events[3].message, "traffic.bytes");
	assert_int_equal(events[3].payload_type, CUPROBE_NVTX_PAYLOAD_U64);
	assert_int_equal(events[3].payload, 1ull << 63);
	assert_int_equal(lost(), lost_before + 1); /* the array */
}

static void a_sample_shorter_than_its_counter_is_not_read_beyond(void **state)
{
	const struct traffic t = {.flag = 1};
	uint64_t id = counter(NULL, "traffic", traffic_schema(), 0);
	__u64 lost_before = lost();

	(void)state;
	sample(id, &t, offsetof(struct traffic, ratio) + 1);
	sample(id, NULL, sizeof(t));
	sample(12345, &t, sizeof(t));
	pump_all();
	assert_int_equal(event_count, 2);
	assert_int_equal(lost(), lost_before + 3 + 5 + 1);
}

static void what_has_no_value_is_nothing_or_zero(void **state)
{
	uint64_t id = counter(NULL, "tokens", NVTX_TYPE_INT64, 0);
	no_value_fn no_value = (no_value_fn)slots[NVTX_COUNTERS_NO_VALUE];

	(void)state;
	no_value(NULL, id, NVTX_NO_VALUE_ZERO);
	no_value(NULL, id, NVTX_NO_VALUE_UNAVAILABLE);
	pump_all();
	assert_int_equal(event_count, 2);
	assert_int_equal(events[0].payload_type, CUPROBE_NVTX_PAYLOAD_S64);
	assert_int_equal(events[0].payload, 0);
	assert_int_equal(events[1].payload_type, CUPROBE_NVTX_PAYLOAD_NONE);
}

/* Two samples, 5 and 6. */
static void submit(uint64_t id, const int64_t *times, size_t time_count)
{
	static const __s64 values[] = {5, 6};
	const struct nvtx_counter_batch b = {.counter = id,
					     .samples = values,
					     .bytes = sizeof(values),
					     .times = times,
					     .times_bytes = time_count * sizeof(times[0])};

	((batch_fn)slots[NVTX_COUNTERS_BATCH])(NULL, &b);
	pump_all();
}

/* One nanosecond ago, and so long after now. */
static void batch(uint64_t id, __s64 late, size_t time_count)
{
	const __s64 now = ((timestamp_fn)payload[NVTX_SLOT_TIMESTAMP])();

	submit(id, (const int64_t[]){now - 1, now + late}, time_count);
}

static void batches_come_at_their_times(void **state)
{
	const __u64 before = cuprobe_clock_now();

	(void)state;
	semantics.domain = NVTX_TIME_OF_TOOL;
	batch(counter(NULL, "batch", NVTX_TYPE_INT64, 0), 0, 2);
	assert_int_equal(event_count, 2);
	assert_int_equal(events[0].payload, 5);
	assert_int_equal(events[1].payload, 6);
	assert_in_range(events[0].time_ns, before - 1, cuprobe_clock_now());
	assert_int_equal(events[1].time_ns, events[0].time_ns + 1);
}

static void batches_of_other_clocks_are_counted(void **state)
{
	__u64 lost_before = lost();

	(void)state;
	semantics.domain = NVTX_TIME_NONE;
	batch(counter(NULL, "no clock", NVTX_TYPE_INT64, 0), 0, 2);
	semantics.domain = 10; /* the processor's */
	batch(counter(NULL, "another clock", NVTX_TYPE_INT64, 0), 0, 2);
	assert_int_equal(event_count, 0);
	assert_int_equal(lost(), lost_before + 4);
}

static void batches_with_wrong_times_are_counted(void **state)
{
	__u64 lost_before = lost();
	uint64_t id;

	(void)state;
	semantics.domain = NVTX_TIME_MONOTONIC;
	id = counter(NULL, "wrong", NVTX_TYPE_INT64, 0);
	batch(id, 3600000000000, 2);
	assert_int_equal(event_count, 1);
	batch(id, 0, 1);
	assert_int_equal(event_count, 1);
	assert_int_equal(lost(), lost_before + 3);
	submit(id, (const int64_t[]){0, -1}, 2); /* 0: what nvtxTimestampGet() says while dormant */
	assert_int_equal(event_count, 1);
	assert_int_equal(lost(), lost_before + 5);
}

static void domains_of_known_clocks_can_be_made(void **state)
{
	struct nvtx_time_attributes a = {.time = NVTX_TIME_MONOTONIC};
	time_domain_fn make = (time_domain_fn)payload[NVTX_SLOT_TIME_DOMAIN];

	(void)state;
	semantics.domain = make(NULL, &a);
	assert_int_not_equal(semantics.domain, NVTX_TIME_NONE);
	batch(counter(NULL, "of a domain", NVTX_TYPE_INT64, 0), 0, 2);
	assert_int_equal(event_count, 2);
	a.time = 10;
	assert_int_equal(make(NULL, &a), NVTX_TIME_NONE);
}

static void slots_are_empty_while_dormant(void **state)
{
	(void)state;
	assert_int_equal(slots[NVTX_COUNTERS_SAMPLE_INT64], NVTX_SLOT_DISABLED);
	assert_int_equal(slots[NVTX_COUNTERS_BATCH], NVTX_SLOT_DISABLED);
	assert_true(slots[NVTX_COUNTERS_REGISTER] > NVTX_SLOT_DISABLED);
}

static int counters_begin(void **state)
{
	return client_begin(state) || client_attach_extension(NVTX_EXTENSION_COUNTERS, slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_empty_while_dormant),
		IN_SESSION(values_come_with_the_name_of_their_counter),
		IN_SESSION(a_counter_registered_again_is_the_same),
		IN_SESSION(a_struct_has_a_series_for_each_number),
		IN_SESSION(a_sample_shorter_than_its_counter_is_not_read_beyond),
		IN_SESSION(what_has_no_value_is_nothing_or_zero),
		IN_SESSION(batches_come_at_their_times),
		IN_SESSION(batches_of_other_clocks_are_counted),
		IN_SESSION(batches_with_wrong_times_are_counted),
		IN_SESSION(domains_of_known_clocks_can_be_made),
	};

	return cmocka_run_group_tests(tests, counters_begin, NULL);
}
