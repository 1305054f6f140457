/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_clients.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "src/inject/memory.h"
#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_define.h"
#include "src/inject/nvtx_events.h"
#include "src/inject/nvtx_samples.h"
#include "src/inject/nvtx_time.h"

#define GROUPS 6
#define SLOTS_MOST NVTX_SLOT_COUNT /* of a group */
#define CLIENTS_MOST 4096u

/* What belongs into a slot. `event`: only while somebody listens. */
struct handler {
	void (*function)(void);
	bool event;
};

#define EVENT(f)                                                                                   \
	{                                                                                          \
		(void (*)(void))(f), true                                                          \
	}
#define DEFINITION(f)                                                                              \
	{                                                                                          \
		(void (*)(void))(f), false                                                         \
	}

static const struct handler core_handlers[] = {
	[NVTX_CORE_MARK_EX] = EVENT(cuprobe_nvtx_mark_ex),
	[NVTX_CORE_MARK_A] = EVENT(cuprobe_nvtx_mark_a),
	[NVTX_CORE_MARK_W] = EVENT(cuprobe_nvtx_mark_w),
	[NVTX_CORE_START_EX] = EVENT(cuprobe_nvtx_start_ex),
	[NVTX_CORE_START_A] = EVENT(cuprobe_nvtx_start_a),
	[NVTX_CORE_START_W] = EVENT(cuprobe_nvtx_start_w),
	[NVTX_CORE_END] = EVENT(cuprobe_nvtx_end),
	[NVTX_CORE_PUSH_EX] = EVENT(cuprobe_nvtx_push_ex),
	[NVTX_CORE_PUSH_A] = EVENT(cuprobe_nvtx_push_a),
	[NVTX_CORE_PUSH_W] = EVENT(cuprobe_nvtx_push_w),
	[NVTX_CORE_POP] = EVENT(cuprobe_nvtx_pop),
	[NVTX_CORE_NAME_CATEGORY_A] = DEFINITION(cuprobe_nvtx_category_a),
	[NVTX_CORE_NAME_CATEGORY_W] = DEFINITION(cuprobe_nvtx_category_w),
	[NVTX_CORE_NAME_THREAD_A] = DEFINITION(cuprobe_nvtx_thread_a),
	[NVTX_CORE_NAME_THREAD_W] = DEFINITION(cuprobe_nvtx_thread_w),
};

static const struct handler core2_handlers[] = {
	[NVTX_CORE2_MARK_EX] = EVENT(cuprobe_nvtx_domain_mark_ex),
	[NVTX_CORE2_START_EX] = EVENT(cuprobe_nvtx_domain_start_ex),
	[NVTX_CORE2_END] = EVENT(cuprobe_nvtx_domain_end),
	[NVTX_CORE2_PUSH_EX] = EVENT(cuprobe_nvtx_domain_push_ex),
	[NVTX_CORE2_POP] = EVENT(cuprobe_nvtx_domain_pop),
	[NVTX_CORE2_RESOURCE_CREATE] = DEFINITION(cuprobe_nvtx_resource),
	[NVTX_CORE2_NAME_CATEGORY_A] = DEFINITION(cuprobe_nvtx_domain_category_a),
	[NVTX_CORE2_NAME_CATEGORY_W] = DEFINITION(cuprobe_nvtx_domain_category_w),
	[NVTX_CORE2_REGISTER_STRING_A] = DEFINITION(cuprobe_nvtx_register_a),
	[NVTX_CORE2_REGISTER_STRING_W] = DEFINITION(cuprobe_nvtx_register_w),
	[NVTX_CORE2_DOMAIN_CREATE_A] = DEFINITION(cuprobe_nvtx_domain_create_a),
	[NVTX_CORE2_DOMAIN_CREATE_W] = DEFINITION(cuprobe_nvtx_domain_create_w),
};

static const struct handler cuda_handlers[] = {
	[NVTX_CUDA_NAME_DEVICE_A] = DEFINITION(cuprobe_nvtx_device_a),
	[NVTX_CUDA_NAME_DEVICE_W] = DEFINITION(cuprobe_nvtx_device_w),
	[NVTX_CUDA_NAME_CONTEXT_A] = DEFINITION(cuprobe_nvtx_context_a),
	[NVTX_CUDA_NAME_CONTEXT_W] = DEFINITION(cuprobe_nvtx_context_w),
	[NVTX_CUDA_NAME_STREAM_A] = DEFINITION(cuprobe_nvtx_stream_a),
	[NVTX_CUDA_NAME_STREAM_W] = DEFINITION(cuprobe_nvtx_stream_w),
	[NVTX_CUDA_NAME_EVENT_A] = DEFINITION(cuprobe_nvtx_event_a),
	[NVTX_CUDA_NAME_EVENT_W] = DEFINITION(cuprobe_nvtx_event_w),
};

static const struct handler cudart_handlers[] = {
	[NVTX_CUDART_NAME_DEVICE_A] = DEFINITION(cuprobe_nvtx_device_a),
	[NVTX_CUDART_NAME_DEVICE_W] = DEFINITION(cuprobe_nvtx_device_w),
	[NVTX_CUDART_NAME_STREAM_A] = DEFINITION(cuprobe_nvtx_stream_a),
	[NVTX_CUDART_NAME_STREAM_W] = DEFINITION(cuprobe_nvtx_stream_w),
	[NVTX_CUDART_NAME_EVENT_A] = DEFINITION(cuprobe_nvtx_event_a),
	[NVTX_CUDART_NAME_EVENT_W] = DEFINITION(cuprobe_nvtx_event_w),
};

static const struct handler opencl_handlers[] = {
	[NVTX_OPENCL_NAME_DEVICE_A] = DEFINITION(cuprobe_nvtx_other_a),
	[NVTX_OPENCL_NAME_DEVICE_W] = DEFINITION(cuprobe_nvtx_other_w),
	[NVTX_OPENCL_NAME_CONTEXT_A] = DEFINITION(cuprobe_nvtx_other_a),
	[NVTX_OPENCL_NAME_CONTEXT_W] = DEFINITION(cuprobe_nvtx_other_w),
	[NVTX_OPENCL_NAME_QUEUE_A] = DEFINITION(cuprobe_nvtx_other_a),
	[NVTX_OPENCL_NAME_QUEUE_W] = DEFINITION(cuprobe_nvtx_other_w),
	[NVTX_OPENCL_NAME_MEMORY_A] = DEFINITION(cuprobe_nvtx_other_a),
	[NVTX_OPENCL_NAME_MEMORY_W] = DEFINITION(cuprobe_nvtx_other_w),
	[NVTX_OPENCL_NAME_SAMPLER_A] = DEFINITION(cuprobe_nvtx_other_a),
	[NVTX_OPENCL_NAME_SAMPLER_W] = DEFINITION(cuprobe_nvtx_other_w),
	[NVTX_OPENCL_NAME_PROGRAM_A] = DEFINITION(cuprobe_nvtx_other_a),
	[NVTX_OPENCL_NAME_PROGRAM_W] = DEFINITION(cuprobe_nvtx_other_w),
	[NVTX_OPENCL_NAME_EVENT_A] = DEFINITION(cuprobe_nvtx_other_a),
	[NVTX_OPENCL_NAME_EVENT_W] = DEFINITION(cuprobe_nvtx_other_w),
};

static const struct handler sync_handlers[] = {
	[NVTX_SYNC_CREATE] = DEFINITION(cuprobe_nvtx_sync),
	[NVTX_SYNC_ACQUIRE] = EVENT(cuprobe_nvtx_sync_acquire),
	[NVTX_SYNC_FAILED] = EVENT(cuprobe_nvtx_sync_failed),
	[NVTX_SYNC_ACQUIRED] = EVENT(cuprobe_nvtx_sync_acquired),
	[NVTX_SYNC_RELEASING] = EVENT(cuprobe_nvtx_sync_release),
};

static const struct handler payload_handlers[] = {
	[NVTX_SLOT_SCHEMA_REGISTER] = DEFINITION(cuprobe_nvtx_schema),
	[NVTX_SLOT_ENUM_REGISTER] = DEFINITION(cuprobe_nvtx_enum),
	[NVTX_SLOT_MARK] = EVENT(cuprobe_nvtx_payload_mark),
	[NVTX_SLOT_PUSH] = EVENT(cuprobe_nvtx_payload_push),
	[NVTX_SLOT_POP] = EVENT(cuprobe_nvtx_payload_pop),
	[NVTX_SLOT_START] = EVENT(cuprobe_nvtx_payload_start),
	[NVTX_SLOT_END] = EVENT(cuprobe_nvtx_payload_end),
	[NVTX_SLOT_DOMAIN_ENABLED] = DEFINITION(cuprobe_nvtx_domain_enabled),
	[NVTX_SLOT_TIMESTAMP] = EVENT(cuprobe_nvtx_timestamp),
	[NVTX_SLOT_TIME_DOMAIN] = DEFINITION(cuprobe_nvtx_time_domain),
	[NVTX_SLOT_EVENT_SUBMIT] = EVENT(cuprobe_nvtx_submit),
	[NVTX_SLOT_EVENT_BATCH] = EVENT(cuprobe_nvtx_submit_batch),
};

static const struct handler counters_handlers[] = {
	[NVTX_COUNTERS_REGISTER] = DEFINITION(cuprobe_nvtx_counter),
	[NVTX_COUNTERS_SAMPLE_INT64] = EVENT(cuprobe_nvtx_sample_int64),
	[NVTX_COUNTERS_SAMPLE_FLOAT64] = EVENT(cuprobe_nvtx_sample_float64),
	[NVTX_COUNTERS_SAMPLE] = EVENT(cuprobe_nvtx_sample),
	[NVTX_COUNTERS_NO_VALUE] = EVENT(cuprobe_nvtx_sample_no_value),
	[NVTX_COUNTERS_BATCH] = EVENT(cuprobe_nvtx_sample_batch),
};

/* Slots of one kind. */
struct group {
	const struct handler *handlers;
	unsigned int count;
	uintptr_t empty;
	uintptr_t **table; /* the client's own list of its slots; NULL: it has none */
	uintptr_t *slots[SLOTS_MOST];
};

struct client {
	const void *key;      /* what tells clients apart, in the client's own memory */
	uint64_t fingerprint; /* of the object that it is part of */
	bool seen;
	unsigned int group_count;
	struct group groups[GROUPS];
};

/*
 * Protects the clients. Taken by threads of the application that initialise NVTX, which may be
 * inside dlopen, and by the control thread; the loader's list lock may be taken under it.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct client *clients;
static size_t clients_capacity;
static unsigned int client_count;

/* What is neither ours nor empty is the client's own, which it replaces itself when it is ready. */
static void slot_set(uintptr_t *slot, const struct handler *h, uintptr_t empty, bool events)
{
	uintptr_t handler = (uintptr_t)h->function;

	if (!slot || !handler)
		return;
	if (events || !h->event)
		__atomic_store_n(slot, handler, __ATOMIC_RELEASE);
	else if (__atomic_load_n(slot, __ATOMIC_RELAXED) == handler)
		__atomic_store_n(slot, empty, __ATOMIC_RELEASE);
}

static void client_set(const struct client *c, bool events)
{
	for (unsigned int i = 0; i < c->group_count; i++) {
		const struct group *g = &c->groups[i];

		for (unsigned int slot = 0; slot < g->count; slot++)
			slot_set(g->slots[slot], &g->handlers[slot], g->empty, events);
	}
}

/*
 * False while an object that has just been loaded where the client was has not been relocated yet:
 * its table holds no addresses then.
 */
static bool client_is_whole(const struct client *c)
{
	for (unsigned int i = 0; i < c->group_count; i++) {
		const struct group *g = &c->groups[i];

		for (unsigned int slot = 0; g->table && slot < g->count; slot++) {
			if (__atomic_load_n(&g->table[slot], __ATOMIC_RELAXED) != g->slots[slot])
				return false;
		}
	}
	return true;
}

static uint64_t object_fingerprint(const struct dl_phdr_info *info)
{
	uint64_t hash = info->dlpi_addr;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		hash = (hash ^ segment->p_type) * 0x9e3779b97f4a7c15ull;
		hash = (hash ^ segment->p_vaddr) * 0x9e3779b97f4a7c15ull;
		hash = (hash ^ segment->p_filesz) * 0x9e3779b97f4a7c15ull;
	}
	return hash;
}

static bool object_holds(const struct dl_phdr_info *info, const void *address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    (uintptr_t)address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
			return true;
	}
	return false;
}

static int find_fingerprint(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct client *c = arg;

	(void)bytes;
	if (!object_holds(info, c->key))
		return 0;
	c->fingerprint = object_fingerprint(info);
	return 1;
}

/* Called by the loader for each object, with its list locked: nothing is unmapped meanwhile. */
static int set_in_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const bool *events = arg;

	(void)bytes;
	for (unsigned int i = 0; i < client_count; i++) {
		struct client *c = &clients[i];

		if (!object_holds(info, c->key) || object_fingerprint(info) != c->fingerprint)
			continue;
		if (client_is_whole(c))
			client_set(c, *events);
		c->seen = true;
	}
	return 0;
}

static void forget_unseen(void)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < client_count; i++) {
		if (clients[i].seen)
			clients[kept++] = clients[i];
	}
	client_count = kept;
}

void cuprobe_nvtx_clients_set(bool events)
{
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < client_count; i++)
		clients[i].seen = false;
	if (client_count)
		dl_iterate_phdr(set_in_object, &events);
	forget_unseen();
	pthread_mutex_unlock(&lock);
}

/* The client's entry, a new one if it is not known; NULL without memory. */
static struct client *client_get(const void *key)
{
	struct client *grown;

	for (unsigned int i = 0; i < client_count; i++) {
		if (clients[i].key == key)
			return &clients[i];
	}
	if (client_count == CLIENTS_MOST)
		return NULL;
	grown = cuprobe_memory_grow(clients, &clients_capacity,
				    (client_count + 1) * sizeof(*clients));
	if (!grown)
		return NULL;
	clients = grown;
	return &clients[client_count++];
}

static int client_add(const struct client *found, bool events)
{
	struct client *c;

	pthread_mutex_lock(&lock);
	c = client_get(found->key);
	if (c) {
		*c = *found;
		dl_iterate_phdr(find_fingerprint, c);
		client_set(c, events);
	}
	pthread_mutex_unlock(&lock);
	return c ? 0 : -ENOMEM;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
_Static_assert(COUNT(core_handlers) <= SLOTS_MOST && COUNT(opencl_handlers) <= SLOTS_MOST,
	       "each group has room for its slots");

static void client_add_module(struct client *c, const struct nvtx_callbacks *callbacks, int module,
			      const struct handler *handlers, unsigned int count)
{
	unsigned int there = 0;
	uintptr_t **addresses = NULL;
	struct group *g;

	if (!callbacks->table(module, &addresses, &there) || !addresses)
		return;
	g = &c->groups[c->group_count++];
	*g = (struct group){
		.handlers = handlers, .count = there < count ? there : count, .table = addresses};
	memcpy(g->slots, addresses, g->count * sizeof(g->slots[0]));
	c->key = addresses;
}

int cuprobe_nvtx_client_add(const struct nvtx_callbacks *callbacks, bool events)
{
	struct client c = {0};

	if (!callbacks || callbacks->bytes < sizeof(*callbacks) || !callbacks->table)
		return -EINVAL;
	client_add_module(&c, callbacks, NVTX_MODULE_CUDA, cuda_handlers, COUNT(cuda_handlers));
	client_add_module(&c, callbacks, NVTX_MODULE_CUDART, cudart_handlers,
			  COUNT(cudart_handlers));
	client_add_module(&c, callbacks, NVTX_MODULE_OPENCL, opencl_handlers,
			  COUNT(opencl_handlers));
	client_add_module(&c, callbacks, NVTX_MODULE_SYNC, sync_handlers, COUNT(sync_handlers));
	client_add_module(&c, callbacks, NVTX_MODULE_CORE2, core2_handlers, COUNT(core2_handlers));
	client_add_module(&c, callbacks, NVTX_MODULE_CORE, core_handlers, COUNT(core_handlers));
	return c.group_count ? client_add(&c, events) : -EINVAL;
}

static void group_for_extension(struct group *g, uint16_t module)
{
	g->empty = NVTX_SLOT_DISABLED;
	if (module == NVTX_EXTENSION_PAYLOAD) {
		g->handlers = payload_handlers;
		g->count = COUNT(payload_handlers);
	} else if (module == NVTX_EXTENSION_COUNTERS) {
		g->handlers = counters_handlers;
		g->count = COUNT(counters_handlers);
	}
}

int cuprobe_nvtx_client_add_extension(const struct nvtx_extension *extension, bool events)
{
	struct client c = {.group_count = 1};
	struct group *g = &c.groups[0];
	const struct nvtx_segment *segment;

	if (!extension || extension->bytes < sizeof(*extension) || !extension->segment_count)
		return -EINVAL;
	group_for_extension(g, extension->module);
	if (!g->count)
		return -EINVAL;
	segment = &extension->segments[0];
	c.key = segment->slots;
	if (segment->slot_count < g->count)
		g->count = (unsigned int)segment->slot_count;
	for (unsigned int i = 0; i < g->count; i++)
		g->slots[i] = &segment->slots[i];
	return client_add(&c, events);
}
