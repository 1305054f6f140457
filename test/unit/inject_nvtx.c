/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX inside the library: a client made here calls the slots that the library fills, and what it
 * fires is looked at.
 */
#include "test/unit/nvtx_client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/inject/ledger.h"

typedef int (*push_w_fn)(const wchar_t *);
typedef int (*pop_fn)(void);
typedef int (*domain_pop_fn)(void *);
typedef uint64_t (*start_fn)(const char *);
typedef void (*end_fn)(uint64_t);
typedef void *(*sync_create_fn)(void *, const struct nvtx_sync_attributes *);
typedef void (*sync_fn)(void *);
typedef void (*name_fn)(void *, const char *);
typedef void (*category_fn)(void *, uint32_t, const char *);

static int pop(void)
{
	return CALL(core[NVTX_CORE_POP], pop_fn);
}

static uint64_t start(const char *message)
{
	return ((start_fn)core[NVTX_CORE_START_A])(message);
}

static void end(uint64_t range)
{
	((end_fn)core[NVTX_CORE_END])(range);
}

static void event_slots_are_empty_while_dormant(void **state)
{
	(void)state;
	assert_int_equal(core[NVTX_CORE_PUSH_A], 0);
	assert_int_equal(core[NVTX_CORE_MARK_EX], 0);
	assert_int_equal(core2[NVTX_CORE2_POP], 0);
	assert_int_equal(sync_user[NVTX_SYNC_ACQUIRE], 0);
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
	char *cut;
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
	assert_text(events[0].message, "short");
	assert_text(events[1].message, "h\xc3\xa9llo \xe4\xb8\x96\xf0\x9f\x98\x80");
	cut = fake_text(events[2].message, first_string);
	assert_in_range(strlen(cut), 10000, 16000);
	assert_string_equal(cut + strlen(cut) - 4, "y\xe2\x80\xa6");
	free(cut);
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
	assert_text(events[0].message, "registered");
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

static void *sync_create(void *domain, const char *name)
{
	const struct nvtx_sync_attributes a = {.version = 3,
					       .bytes = sizeof(a),
					       .message_type = NVTX_MESSAGE_ASCII,
					       .message.ascii = name};

	return ((sync_create_fn)sync_user[NVTX_SYNC_CREATE])(domain, &a);
}

static void sync_call(enum nvtx_sync_slot slot, void *object)
{
	((sync_fn)sync_user[slot])(object);
}

static void acquisitions_are_joined_by_object_and_thread(void **state)
{
	void *domain = domain_create("locks");
	void *a = sync_create(domain, "a"), *b = sync_create(domain, "b");

	(void)state;
	sync_call(NVTX_SYNC_ACQUIRE, a);
	sync_call(NVTX_SYNC_ACQUIRE, b);
	sync_call(NVTX_SYNC_FAILED, b);
	sync_call(NVTX_SYNC_ACQUIRED, a);
	sync_call(NVTX_SYNC_RELEASING, a);
	pump_all();
	assert_int_equal(event_count, 5);
	assert_int_equal(events[0].kind, CUPROBE_NVTX_ACQUIRE);
	assert_int_equal(events[2].kind, CUPROBE_NVTX_ACQUIRE_FAILED);
	assert_int_equal(events[3].kind, CUPROBE_NVTX_ACQUIRED);
	assert_int_equal(events[4].kind, CUPROBE_NVTX_RELEASE);
	assert_text(events[0].message, "a");
	assert_text(events[2].message, "b");
	assert_int_not_equal(events[0].domain, 0);
	assert_int_equal(events[0].range, events[3].range);
	assert_int_equal(events[1].range, events[2].range);
	assert_int_not_equal(events[0].range, events[1].range);
}

static void acquisitions_are_no_levels(void **state)
{
	void *object = sync_create(NULL, "lock");

	(void)state;
	assert_int_equal(push("outer"), 0);
	sync_call(NVTX_SYNC_ACQUIRE, object);
	assert_int_equal(push("inner"), 1);
	assert_int_equal(pop(), 1);
	assert_int_equal(pop(), 0);
}

static void objects_without_a_name_are_none_but_unnamed(void **state)
{
	(void)state;
	sync_call(NVTX_SYNC_ACQUIRE, sync_create(NULL, NULL));
	sync_call(NVTX_SYNC_ACQUIRE, NULL);
	sync_call(NVTX_SYNC_ACQUIRE, (void *)0x123456789);
	sync_call(NVTX_SYNC_ACQUIRE, domain_create("no object"));
	pump_all();
	assert_int_equal(event_count, 1);
	assert_int_equal(events[0].message, 0);
}

/* What was told of the session's domain or category of that name. */
static const struct cuprobe_info *info_find(__u32 type, const char *name)
{
	for (size_t i = first_info; i < fake[CUPROBE_PROBE_info].count; i++) {
		const struct cuprobe_info *info = fake_record(CUPROBE_PROBE_info, i);
		__u32 id = type == CUPROBE_INFO_NVTX_DOMAIN ? info->nvtx_domain.name
							    : info->nvtx_category.name;
		char *text = info->type == type ? fake_text(id, first_string) : NULL;
		bool found = text && !strcmp(text, name);

		free(text);
		if (found)
			return info;
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
	session_begin(state);
	assert_non_null(info_find(CUPROBE_INFO_NVTX_DOMAIN, "early"));
	id = info_find(CUPROBE_INFO_NVTX_DOMAIN, "early")->nvtx_domain.id;
	assert_non_null(info_find(CUPROBE_INFO_NVTX_CATEGORY, "early category"));
	assert_int_equal(
		info_find(CUPROBE_INFO_NVTX_CATEGORY, "early category")->nvtx_category.domain, id);
	assert_ptr_equal(domain_create("early"), domain);
}

static void objects_of_opencl_are_named(void **state)
{
	(void)state;
	for (int slot = 1; slot < NVTX_OPENCL_COUNT; slot += 2)
		((name_fn)opencl[slot])((void *)(0x1000ull + slot), "of OpenCL");
	pump_all();
	for (__u64 slot = 1; slot < NVTX_OPENCL_COUNT; slot += 2) {
		const struct cuprobe_info *info =
			fake_record(CUPROBE_PROBE_info, fake[CUPROBE_PROBE_info].count -
								(NVTX_OPENCL_COUNT - slot) / 2);

		assert_int_equal(info->type, CUPROBE_INFO_NAME);
		assert_int_equal(info->name.object, CUPROBE_OBJECT_OTHER);
		assert_int_equal(info->name.handle, 0x1000 + slot);
		assert_text(info->name.name, "of OpenCL");
	}
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
	for (size_t i = 0; i < event_count; i++)
		kinds[events[i].kind]++;
	assert_int_equal(kinds[CUPROBE_NVTX_PUSH], THREADS * RANGES);
	assert_int_equal(kinds[CUPROBE_NVTX_POP], THREADS * (RANGES - 1));
	assert_int_equal(kinds[CUPROBE_NVTX_START], THREADS * RANGES);
	assert_int_equal(kinds[CUPROBE_NVTX_END], THREADS * RANGES);
	assert_int_equal(kinds[CUPROBE_NVTX_THREAD_END], THREADS);
	qsort(events, event_count, sizeof(*events), by_range);
	for (size_t i = event_count - 2 * THREADS * RANGES; i < event_count; i += 2) {
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
	assert_text(events[event_count - 1].message, "room again");
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
	assert_text(events[39999].message, "iteration 39999");
	assert_text(events[0].message, "iteration 0");
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
		IN_SESSION(acquisitions_are_joined_by_object_and_thread),
		IN_SESSION(acquisitions_are_no_levels),
		IN_SESSION(objects_without_a_name_are_none_but_unnamed),
		IN_SESSION(objects_of_opencl_are_named),
		IN_SESSION(definitions_made_before_attaching_are_known_after),
		IN_SESSION(every_event_of_64_threads_arrives_once),
		IN_SESSION(messages_without_end_take_bounded_memory),
		IN_SESSION(what_the_pool_has_no_room_for_is_counted),
		IN_SESSION(a_forked_child_is_inert),
		IN_SESSION(more_domains_than_there_is_room_for_are_the_default_one),
	};

	return cmocka_run_group_tests(tests, client_begin, NULL);
}
