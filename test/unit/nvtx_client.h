/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVTX client as NVIDIA's headers make one, and sessions in which what it calls is taken: for
 * tests of NVTX inside the library.
 */
#ifndef CUPROBE_UNIT_NVTX_CLIENT_H
#define CUPROBE_UNIT_NVTX_CLIENT_H

#include "test/unit/outlet_fake.h"

#include <stdbool.h>

#include "src/inject/batch.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/nvtx.h"
#include "src/inject/nvtx_abi.h"

#define SLOTS 64

static uintptr_t core[NVTX_CORE_COUNT], core2[NVTX_CORE2_COUNT], opencl[NVTX_OPENCL_COUNT];
static uintptr_t sync_user[NVTX_SYNC_COUNT], payload[SLOTS];

/* Each module's list of the addresses of its slots; the first is NULL. */
static struct client_module {
	int module;
	uintptr_t *slots;
	unsigned int count;
	uintptr_t *addresses[SLOTS];
} client_modules[] = {
	{NVTX_MODULE_CORE, core, NVTX_CORE_COUNT, {NULL}},
	{NVTX_MODULE_CORE2, core2, NVTX_CORE2_COUNT, {NULL}},
	{NVTX_MODULE_OPENCL, opencl, NVTX_OPENCL_COUNT, {NULL}},
	{NVTX_MODULE_SYNC, sync_user, NVTX_SYNC_COUNT, {NULL}},
};

static int client_table(int module, uintptr_t ***ret_slots, unsigned int *ret_count)
{
	for (size_t i = 0; i < sizeof(client_modules) / sizeof(client_modules[0]); i++) {
		struct client_module *m = &client_modules[i];

		if (m->module != module)
			continue;
		for (unsigned int slot = 1; slot < m->count; slot++)
			m->addresses[slot] = &m->slots[slot];
		*ret_slots = m->addresses;
		*ret_count = m->count;
		return 1;
	}
	return 0;
}

static const struct nvtx_callbacks client_callbacks = {sizeof(client_callbacks), client_table};

/* As NVTX leaves the slots of an extension that no tool has filled. */
static int client_attach_extension(uint16_t module, uintptr_t *slots)
{
	struct nvtx_segment segment = {0, SLOTS - 1, slots};
	const struct nvtx_extension extension = {
		.version = 3,
		.bytes = sizeof(extension),
		.module = module,
		.segment_count = 1,
		.segments = &segment,
	};

	for (int i = 0; i < SLOTS; i++)
		slots[i] = NVTX_SLOT_DISABLED;
	return cuprobe_nvtx_attach(NULL, &extension);
}

/* Calls a slot as the headers do: not at all while it is empty. */
#define CALL(slot, type, ...)                                                                      \
	((slot) > NVTX_SLOT_DISABLED ? ((type)(slot))(__VA_ARGS__) : (NVTX_LEVEL_UNKNOWN))

typedef void *(*create_fn)(const char *);
typedef int (*push_a_fn)(const char *);
typedef int (*push_ex_fn)(void *, const struct nvtx_attributes *);
typedef void *(*register_fn)(void *, const char *);

static inline int push(const char *message)
{
	return CALL(core[NVTX_CORE_PUSH_A], push_a_fn, message);
}

static inline int push_ex(void *domain, const struct nvtx_attributes *a)
{
	return CALL(core2[NVTX_CORE2_PUSH_EX], push_ex_fn, domain, a);
}

static inline void *domain_create(const char *name)
{
	return ((create_fn)core2[NVTX_CORE2_DOMAIN_CREATE_A])(name);
}

static inline void *string_register(const char *text)
{
	return ((register_fn)core2[NVTX_CORE2_REGISTER_STRING_A])(NULL, text);
}

/* What has been fired in this session, as of the last pump_all(). */
static struct cuprobe_nvtx *events;
static size_t event_count;
static size_t first_event, first_string, first_info; /* of the session */

static inline void pump_all(void)
{
	for (int i = 0; i < 100; i++)
		cuprobe_nvtx_pump();
	cuprobe_batch_fire_aged(~0ull);
	events = (struct cuprobe_nvtx *)(void *)fake[CUPROBE_PROBE_nvtx].data + first_event;
	event_count = fake[CUPROBE_PROBE_nvtx].count - first_event;
}

/* The id has been defined in this session, as this text. */
static inline void assert_text(__u64 id, const char *expected)
{
	char *text = fake_text((__u32)id, first_string);

	assert_string_equal(text, expected);
	free(text);
}

static inline void consumers_set(__u32 consumers)
{
	fake[CUPROBE_PROBE_nvtx].consumers = consumers;
	fake[CUPROBE_PROBE_string].consumers = consumers;
	fake[CUPROBE_PROBE_info].consumers = consumers;
}

static int session_begin(void **state)
{
	(void)state;
	first_event = fake[CUPROBE_PROBE_nvtx].count;
	first_string = fake[CUPROBE_PROBE_string].count;
	first_info = fake[CUPROBE_PROBE_info].count;
	consumers_set(1);
	cuprobe_nvtx_control(true);
	pump_all();
	return 0;
}

static int session_end(void **state)
{
	(void)state;
	cuprobe_nvtx_control(false);
	pump_all();
	consumers_set(0);
	return 0;
}

static int client_begin(void **state)
{
	(void)state;
	cuprobe_env.pool_mb = 64;
	cuprobe_guard_init();
	cuprobe_outlet = &fake_outlet;
	return cuprobe_nvtx_attach(&client_callbacks, NULL) ||
	       client_attach_extension(NVTX_EXTENSION_PAYLOAD, payload) ||
	       cuprobe_nvtx_attach(&client_callbacks, NULL); /* may come again */
}

#define IN_SESSION(test) cmocka_unit_test_setup_teardown(test, session_begin, session_end)

#endif
