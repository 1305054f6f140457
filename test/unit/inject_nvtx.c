/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX inside the library: a client made here calls the slots that the library fills, and what it
 * fires is looked at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/inject/batch.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/ledger.h"
#include "src/inject/nvtx.h"
#include "src/inject/nvtx_abi.h"
#include "src/inject/outlet.h"

#define RECORDS_MOST (1u << 21)

/* A client as NVTX's headers make one. */
static uintptr_t core[NVTX_CORE_COUNT], core2[NVTX_CORE2_COUNT], payload[64];
static uintptr_t *core_table[NVTX_CORE_COUNT + 1], *core2_table[NVTX_CORE2_COUNT + 1];

static int client_table(int module, uintptr_t ***ret_slots, unsigned int *ret_count)
{
	if (module == NVTX_MODULE_CORE) {
		*ret_slots = core_table;
		*ret_count = NVTX_CORE_COUNT;
		return 1;
	}
	if (module == NVTX_MODULE_CORE2) {
		*ret_slots = core2_table;
		*ret_count = NVTX_CORE2_COUNT;
		return 1;
	}
	return 0;
}

static const struct nvtx_callbacks callbacks = {sizeof(callbacks), client_table};
static struct nvtx_segment segment = {0, 63, payload};
static const struct nvtx_extension extension = {
	.version = 3,
	.bytes = sizeof(extension),
	.module = NVTX_EXTENSION_PAYLOAD,
	.segment_count = 1,
	.segments = &segment,
};

#define CALL(slot, type, ...)                                                                      \
	((slot) > NVTX_SLOT_DISABLED ? ((type)(slot))(__VA_ARGS__) : (NVTX_LEVEL_UNKNOWN))

typedef int (*push_a_fn)(const char *);
typedef int (*push_w_fn)(const wchar_t *);
typedef int (*pop_fn)(void);
typedef int (*push_ex_fn)(void *, const struct nvtx_attributes *);
typedef int (*domain_pop_fn)(void *);
typedef uint64_t (*start_fn)(const char *);
typedef void (*end_fn)(uint64_t);
typedef void *(*create_fn)(const char *);
typedef void *(*register_fn)(void *, const char *);
typedef void (*category_fn)(void *, uint32_t, const char *);
typedef uint64_t (*schema_fn)(void *, const struct nvtx_schema_attributes *);
typedef uint64_t (*enum_fn)(void *, const struct nvtx_enum_attributes *);
typedef int (*push_payload_fn)(void *, const struct nvtx_payload *, size_t);

static int push(const char *message)
{
	return CALL(core[NVTX_CORE_PUSH_A], push_a_fn, message);
}

static int pop(void)
{
	return CALL(core[NVTX_CORE_POP], pop_fn);
}

static int push_ex(void *domain, const struct nvtx_attributes *a)
{
	return CALL(core2[NVTX_CORE2_PUSH_EX], push_ex_fn, domain, a);
}

static uint64_t start(const char *message)
{
	return ((start_fn)core[NVTX_CORE_START_A])(message);
}

static void end(uint64_t range)
{
	((end_fn)core[NVTX_CORE_END])(range);
}

static void *domain_create(const char *name)
{
	return ((create_fn)core2[NVTX_CORE2_DOMAIN_CREATE_A])(name);
}

static void *string_register(const char *text)
{
	return ((register_fn)core2[NVTX_CORE2_REGISTER_STRING_A])(NULL, text);
}

/* What was fired. */
static __u32 attached;
static struct cuprobe_nvtx *events;
static __u32 event_count;
static struct cuprobe_info infos[256];
static __u32 info_count;
static struct {
	__u32 id;
	char *text;
} strings[1u << 16];
static __u32 string_count;

static __u32 outlet_consumers(enum cuprobe_probe_id probe)
{
	return attached >> probe & 1;
}

static void take_string(const struct cuprobe_string *s)
{
	if (!s->offset) {
		assert_true(string_count < sizeof(strings) / sizeof(strings[0]));
		strings[string_count].id = s->id;
		strings[string_count++].text = calloc(1, s->total_bytes + 1);
	}
	memcpy(strings[string_count - 1].text + s->offset, s->text, s->bytes);
}

static void outlet_deliver(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
			   __u64 seq)
{
	(void)seq;
	if (probe == CUPROBE_PROBE_nvtx) {
		assert_true(event_count + count <= RECORDS_MOST);
		memcpy(events + event_count, data, bytes);
		event_count += count;
	}
	for (__u32 i = 0; probe == CUPROBE_PROBE_string && i < count; i++)
		take_string((const struct cuprobe_string *)data + i);
	for (__u32 i = 0; probe == CUPROBE_PROBE_info && i < count; i++)
		infos[info_count++ % 256] = ((const struct cuprobe_info *)data)[i];
}

static __u32 outlet_newcomers(void)
{
	return 0;
}

static const struct cuprobe_outlet outlet = {outlet_consumers, outlet_deliver, outlet_newcomers};

static const char *text_of(__u32 id)
{
	for (__u32 i = 0; i < string_count; i++) {
		if (strings[i].id == id)
			return strings[i].text;
	}
	return NULL;
}

static void pump_all(void)
{
	for (int i = 0; i < 100; i++)
		cuprobe_nvtx_pump();
	cuprobe_batch_fire_aged(~0ull);
}

static int session_begin(void **state)
{
	(void)state;
	attached = CUPROBE_METADATA_PROBES | CUPROBE_PROBE_BIT(CUPROBE_PROBE_nvtx);
	cuprobe_nvtx_control(true);
	pump_all();
	event_count = 0;
	return 0;
}

static int session_end(void **state)
{
	(void)state;
	cuprobe_nvtx_control(false);
	pump_all();
	attached = 0;
	return 0;
}

static int group_begin(void **state)
{
	(void)state;
	events = malloc(RECORDS_MOST * sizeof(*events));
	cuprobe_env.pool_mb = 64;
	cuprobe_guard_init();
	cuprobe_outlet = &outlet;
	for (int i = 1; i < NVTX_CORE_COUNT; i++)
		core_table[i] = &core[i];
	for (int i = 1; i < NVTX_CORE2_COUNT; i++)
		core2_table[i] = &core2[i];
	for (int i = 0; i < 64; i++)
		payload[i] = NVTX_SLOT_DISABLED;
	if (cuprobe_nvtx_attach(&callbacks, NULL) || cuprobe_nvtx_attach(NULL, &extension))
		return -1;
	return cuprobe_nvtx_attach(&callbacks, NULL);
}

static void event_slots_are_empty_while_dormant(void **state)
{
	(void)state;
	assert_int_equal(core[NVTX_CORE_PUSH_A], 0);
	assert_int_equal(core[NVTX_CORE_MARK_EX], 0);
	assert_int_equal(core2[NVTX_CORE2_POP], 0);
	assert_int_equal(payload[NVTX_SLOT_PUSH], NVTX_SLOT_DISABLED);
	assert_int_not_equal(core2[NVTX_CORE2_DOMAIN_CREATE_A], 0);
	session_begin(state);
	assert_int_not_equal(core[NVTX_CORE_PUSH_A], 0);
	assert_true(payload[NVTX_SLOT_PUSH] > NVTX_SLOT_DISABLED);
	session_end(state);
	assert_int_equal(core[NVTX_CORE_PUSH_A], 0);
	assert_int_equal(payload[NVTX_SLOT_PUSH], NVTX_SLOT_DISABLED);
}

static void settling_fills_slots_that_a_client_emptied(void **state)
{
	(void)state;
	core[NVTX_CORE_PUSH_A] = 0;
	cuprobe_nvtx_control(true);
	assert_int_not_equal(core[NVTX_CORE_PUSH_A], 0);
}

static void levels_nest_by_domain(void **state)
{
	struct nvtx_attributes a = {.version = 3, .bytes = sizeof(a)};
	void *domain = domain_create("levels");

	(void)state;
	assert_int_equal(push("a"), 0);
	assert_int_equal(push("b"), 1);
	assert_int_equal(push_ex(domain, &a), 0);
	assert_int_equal(pop(), 1);
	assert_int_equal(CALL(core2[NVTX_CORE2_POP], domain_pop_fn, domain), 0);
	assert_int_equal(pop(), 0);
	assert_int_equal(pop(), -1);
	pump_all();
	assert_int_equal(event_count, 7);
	assert_int_equal(events[2].level, 0);
	assert_int_not_equal(events[2].domain, 0);
	assert_int_equal(events[6].level, -1);
	assert_int_equal(events[6].kind, CUPROBE_NVTX_POP);
}

static void a_range_open_before_attaching_ends_as_a_pop_without_push(void **state)
{
	push("open");
	session_end(state);
	session_begin(state);
	assert_int_equal(pop(), -1);
}

static void texts_survive_the_caller(void **state)
{
	char message[20000];
	wchar_t wide[] = L"h\u00e9llo \u4e16\U0001f600";

	(void)state;
	memset(message, 'x', sizeof(message));
	strcpy(message, "short");
	push(message);
	strcpy(message, "gone");
	CALL(core[NVTX_CORE_PUSH_W], push_w_fn, wide);
	memset(message, 'y', sizeof(message) - 1);
	message[sizeof(message) - 1] = 0;
	push(message);
	push(NULL);
	pump_all();
	assert_string_equal(text_of(events[0].message), "short");
	assert_string_equal(text_of(events[1].message),
			    "h\xc3\xa9llo \xe4\xb8\x96\xf0\x9f\x98\x80");
	assert_in_range(strlen(text_of(events[2].message)), 10000, 16000);
	assert_string_equal(text_of(events[2].message) + strlen(text_of(events[2].message)) - 4,
			    "y\xe2\x80\xa6");
	assert_int_equal(events[3].message, 0);
}

static void attributes_arrive_whole(void **state)
{
	struct nvtx_attributes a = {
		.version = 3,
		.bytes = sizeof(a),
		.category = 7,
		.color_type = NVTX_COLOR_ARGB,
		.color = 0xff00ff00,
		.payload_type = CUPROBE_NVTX_PAYLOAD_S32,
		.payload = 0x1234567800000005,
		.message_type = NVTX_MESSAGE_REGISTERED,
		.message.registered = string_register("registered"),
	};

	(void)state;
	push_ex(NULL, &a);
	pump_all();
	assert_int_equal(events[0].category, 7);
	assert_int_equal(events[0].color, 0xff00ff00);
	assert_int_equal(events[0].flags, CUPROBE_NVTX_FLAG_COLOR);
	assert_int_equal(events[0].payload, 5);
	assert_string_equal(text_of(events[0].message), "registered");
}

static void a_short_struct_is_read_no_further_than_it_goes(void **state)
{
	struct nvtx_attributes a = {
		.version = 1,
		.bytes = offsetof(struct nvtx_attributes, payload_type),
		.category = 3,
		.payload_type = CUPROBE_NVTX_PAYLOAD_U64,
		.payload = 1,
		.message_type = NVTX_MESSAGE_ASCII,
		.message.ascii = "not there",
	};

	(void)state;
	push_ex(NULL, &a);
	push_ex(NULL, NULL);
	pump_all();
	assert_int_equal(events[0].category, 3);
	assert_int_equal(events[0].message, 0);
	assert_int_equal(events[0].payload_type, CUPROBE_NVTX_PAYLOAD_NONE);
	assert_int_equal(event_count, 2);
}

static void junk_handles_do_no_harm(void **state)
{
	struct nvtx_attributes a = {
		.version = 3,
		.bytes = sizeof(a),
		.message_type = NVTX_MESSAGE_REGISTERED,
		.message.registered = (void *)0xdeadbeef,
	};

	(void)state;
	assert_int_equal(push_ex((void *)0x123456789, &a), 0);
	pump_all();
	assert_int_equal(events[0].domain, 0);
	assert_int_equal(events[0].message, 0);
}

static const struct cuprobe_info *info_find(__u32 type, const char *name)
{
	for (__u32 i = 0; i < info_count && i < 256; i++) {
		__u32 id = type == CUPROBE_INFO_NVTX_DOMAIN ? infos[i].nvtx_domain.name
							    : infos[i].nvtx_category.name;

		if (infos[i].type == type && text_of(id) && !strcmp(text_of(id), name))
			return &infos[i];
	}
	return NULL;
}

static void definitions_made_before_attaching_are_known_after(void **state)
{
	void *domain;
	__u32 id;

	session_end(state);
	domain = domain_create("early");
	((category_fn)core2[NVTX_CORE2_NAME_CATEGORY_A])(domain, 5, "early category");
	info_count = 0;
	session_begin(state);
	assert_non_null(info_find(CUPROBE_INFO_NVTX_DOMAIN, "early"));
	id = info_find(CUPROBE_INFO_NVTX_DOMAIN, "early")->nvtx_domain.id;
	assert_non_null(info_find(CUPROBE_INFO_NVTX_CATEGORY, "early category"));
	assert_int_equal(
		info_find(CUPROBE_INFO_NVTX_CATEGORY, "early category")->nvtx_category.domain, id);
	assert_ptr_equal(domain_create("early"), domain);
}

static void more_domains_than_there_is_room_for_are_the_default_one(void **state)
{
	void *last = NULL;
	char name[32];

	(void)state;
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "domain %d", i);
		last = domain_create(name);
	}
	assert_null(last);
	assert_non_null(domain_create("domain 1"));
}

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
	assert_string_equal(text_of((__u32)events[0].payload),
			    "{mode: busy, number: -3, ratio: 0.1, values: [1, 2.5, 3]}");
	assert_string_equal(text_of(events[0].message), "from the payload");
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
	assert_string_equal(text_of((__u32)events[0].payload), "{mode: idle, number: 4, ratio: ?}");
}

#define THREADS 64
#define RANGES 2000

static atomic_bool stop;

static void *pump_body(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop))
		cuprobe_nvtx_pump();
	return NULL;
}

static void *range_body(void *arg)
{
	uint64_t ranges[RANGES];

	(void)arg;
	for (int i = 0; i < RANGES; i++) {
		push(i & 1 ? "odd" : "even");
		ranges[i] = start("range");
	}
	for (int i = 0; i < RANGES - 1; i++)
		pop();
	for (int i = 0; i < RANGES; i++)
		end(ranges[i]);
	return NULL;
}

static int by_range(const void *a, const void *b)
{
	const struct cuprobe_nvtx *x = a, *y = b;

	return x->range < y->range ? -1 : x->range > y->range;
}

static void every_event_of_64_threads_arrives_once(void **state)
{
	pthread_t threads[THREADS], pump;
	__u32 kinds[8] = {0};

	(void)state;
	atomic_store(&stop, false);
	pthread_create(&pump, NULL, pump_body, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, range_body, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&stop, true);
	pthread_join(pump, NULL);
	pump_all();
	for (__u32 i = 0; i < event_count; i++)
		kinds[events[i].kind]++;
	assert_int_equal(kinds[CUPROBE_NVTX_PUSH], THREADS * RANGES);
	assert_int_equal(kinds[CUPROBE_NVTX_POP], THREADS * (RANGES - 1));
	assert_int_equal(kinds[CUPROBE_NVTX_START], THREADS * RANGES);
	assert_int_equal(kinds[CUPROBE_NVTX_END], THREADS * RANGES);
	assert_int_equal(kinds[CUPROBE_NVTX_THREAD_END], THREADS);
	qsort(events, event_count, sizeof(*events), by_range);
	for (__u32 i = event_count - 2 * THREADS * RANGES; i < event_count; i += 2) {
		assert_true(events[i].range && events[i].range == events[i + 1].range);
		assert_int_not_equal(events[i].kind, events[i + 1].kind);
		assert_true(i + 2 == event_count || events[i + 2].range != events[i].range);
	}
}

static void what_the_pool_has_no_room_for_is_counted(void **state)
{
	__u64 lost_before = cuprobe_ledger[CUPROBE_PROBE_nvtx].lost, made = 2000000;

	(void)state;
	for (__u64 i = 0; i < made; i++)
		push("x");
	for (int i = 0; i < 400; i++)
		cuprobe_nvtx_pump();
	pump_all();
	assert_true(cuprobe_ledger[CUPROBE_PROBE_nvtx].lost > lost_before);
	assert_int_equal(event_count + cuprobe_ledger[CUPROBE_PROBE_nvtx].lost - lost_before, made);
	push("room again");
	pump_all();
	assert_string_equal(text_of(events[event_count - 1].message), "room again");
}

static void messages_without_end_take_bounded_memory(void **state)
{
	char message[64];

	(void)state;
	for (int i = 0; i < 40000; i++) {
		snprintf(message, sizeof(message), "iteration %d", i);
		push(message);
		if (i % 1000 == 0)
			pump_all();
	}
	pump_all();
	assert_int_equal(event_count, 40000);
	assert_string_equal(text_of(events[39999].message), "iteration 39999");
	assert_string_equal(text_of(events[0].message), "iteration 0");
}

static void a_forked_child_is_inert(void **state)
{
	int status;
	pid_t child;

	(void)state;
	child = fork();
	if (!child)
		_exit(push("child") == NVTX_LEVEL_UNKNOWN && !domain_create("child") ? 0 : 1);
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

#define IN_SESSION(test) cmocka_unit_test_setup_teardown(test, session_begin, session_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_slots_are_empty_while_dormant),
		IN_SESSION(settling_fills_slots_that_a_client_emptied),
		IN_SESSION(levels_nest_by_domain),
		IN_SESSION(a_range_open_before_attaching_ends_as_a_pop_without_push),
		IN_SESSION(texts_survive_the_caller),
		IN_SESSION(attributes_arrive_whole),
		IN_SESSION(a_short_struct_is_read_no_further_than_it_goes),
		IN_SESSION(junk_handles_do_no_harm),
		IN_SESSION(definitions_made_before_attaching_are_known_after),
		IN_SESSION(extended_payloads_are_text),
		IN_SESSION(a_payload_shorter_than_its_schema_is_not_read_beyond),
		IN_SESSION(every_event_of_64_threads_arrives_once),
		IN_SESSION(messages_without_end_take_bounded_memory),
		IN_SESSION(what_the_pool_has_no_room_for_is_counted),
		IN_SESSION(a_forked_child_is_inert),
		IN_SESSION(more_domains_than_there_is_room_for_are_the_default_one),
	};

	return cmocka_run_group_tests(tests, group_begin, NULL);
}
