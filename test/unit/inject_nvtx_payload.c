/* SPDX-License-Identifier: Apache-2.0 */
/* Extended payloads of NVTX inside the library. */
#include "test/unit/nvtx_client.h"

typedef uint64_t (*schema_fn)(void *, const struct nvtx_schema_attributes *);
typedef uint64_t (*enum_fn)(void *, const struct nvtx_enum_attributes *);
typedef int (*push_payload_fn)(void *, const struct nvtx_payload *, size_t);

struct sample {
	__u8 flag;
	__s32 number;
	double ratio;
	__u32 color;
	const char *note;
	float values[3];
};

static __u64 sample_schema(void)
{
	const struct nvtx_enum_entry words[] = {{"idle", 0, 0}, {"busy", 1, 0}};
	const struct nvtx_enum_attributes e = {
		.fields = NVTX_ENUM_BYTES, .entries = words, .entry_count = 2, .bytes = 1};
	__u64 mode = ((enum_fn)payload[NVTX_SLOT_ENUM_REGISTER])(NULL, &e);
	const struct nvtx_schema_entry entries[] = {
		{0, mode, "mode", NULL, 0, 0, NULL, NULL},
		{0, NVTX_TYPE_INT32, "number", NULL, 0, 0, NULL, NULL},
		{0, NVTX_TYPE_DOUBLE, "ratio", NULL, 0, offsetof(struct sample, ratio), NULL, NULL},
		{0, NVTX_TYPE_COLOR, "color", NULL, 0, offsetof(struct sample, color), NULL, NULL},
		{NVTX_ENTRY_MESSAGE, NVTX_TYPE_STRING, NULL, NULL, 0, offsetof(struct sample, note),
		 NULL, NULL},
		{NVTX_ENTRY_ARRAY_FIXED, NVTX_TYPE_FLOAT, "values", NULL, 3,
		 offsetof(struct sample, values), NULL, NULL},
	};
	const struct nvtx_schema_attributes s = {
		.fields = NVTX_SCHEMA_TYPE | NVTX_SCHEMA_ENTRIES | NVTX_SCHEMA_ENTRY_COUNT |
			  NVTX_SCHEMA_STATIC_BYTES,
		.type = NVTX_SCHEMA_STATIC,
		.entries = entries,
		.entry_count = 6,
		.static_bytes = sizeof(struct sample),
	};

	assert_int_not_equal(mode, 0);
	return ((schema_fn)payload[NVTX_SLOT_SCHEMA_REGISTER])(NULL, &s);
}

static void extended_payloads_are_text(void **state)
{
	const struct sample sample = {1, -3, 0.1, 0xff112233, "from the payload", {1, 2.5, 3}};
	const struct nvtx_payload p = {sample_schema(), sizeof(sample), &sample};

	(void)state;
	assert_int_not_equal(p.schema, 0);
	CALL(payload[NVTX_SLOT_PUSH], push_payload_fn, NULL, &p, 1);
	pump_all();
	assert_int_equal(events[0].payload_type, CUPROBE_NVTX_PAYLOAD_TEXT);
	assert_text(events[0].payload, "{mode: busy, number: -3, ratio: 0.1, values: [1, 2.5, 3]}");
	assert_text(events[0].message, "from the payload");
	assert_int_equal(events[0].color, 0xff112233);
}

static void a_payload_shorter_than_its_schema_is_not_read_beyond(void **state)
{
	const struct sample sample = {.number = 4};
	const struct nvtx_payload p = {sample_schema(), offsetof(struct sample, ratio) + 4,
				       &sample};

	(void)state;
	CALL(payload[NVTX_SLOT_PUSH], push_payload_fn, NULL, &p, 1);
	pump_all();
	assert_text(events[0].payload, "{mode: idle, number: 4, ratio: ?}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(extended_payloads_are_text),
		IN_SESSION(a_payload_shorter_than_its_schema_is_not_read_beyond),
	};

	return cmocka_run_group_tests(tests, client_begin, NULL);
}
