/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "src/inject/batch.h"
#include "src/inject/memory.h"
#include "src/inject/texts.h"

#define DEFINITIONS_MOST 65536u
#define DEFINE_AT_ONCE 256u /* records, between which the lock is let go */

/* Something that has a name; `key` finds it again. */
struct definition {
	__u64 key[2];
	struct cuprobe_info info;
};

/*
 * Protects all below. Taken by threads of the application when they define something, and by the
 * pump; nothing is taken under it.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuprobe_texts texts = {
	.first_id = 0x80000000u, .most = 1u << 20, .most_bytes = (size_t)64 << 20};
static struct definition *definitions;
static size_t definitions_capacity;
static __u32 definition_count;
static __u32 *slots; /* open addressing: number + 1 */
static size_t slots_capacity;
static __u32 domain_count = 1;
static __u32 texts_sent, definitions_sent; /* the pump has defined those before */
static __u32 next_taken;		   /* by cuprobe_nvtx_names_next() */
static atomic_bool pending;		   /* relaxed: a hint, the lock orders the rest */

static __u32 *slot_of(const __u64 key[2])
{
	__u64 hash = (key[0] * 0x9e3779b97f4a7c15ull) ^ (key[1] * 0xff51afd7ed558ccdull);
	__u32 mask = 2 * DEFINITIONS_MOST - 1;

	for (__u32 slot = (__u32)(hash >> 32) & mask;; slot = (slot + 1) & mask) {
		const struct definition *d = slots[slot] ? &definitions[slots[slot] - 1] : NULL;

		if (!d || (d->key[0] == key[0] && d->key[1] == key[1]))
			return &slots[slot];
	}
}

static bool room_for_definition(void)
{
	struct definition *grown;

	if (definition_count == DEFINITIONS_MOST)
		return false;
	grown = cuprobe_memory_grow(definitions, &definitions_capacity,
				    (definition_count + 1) * sizeof(*definitions));
	if (grown)
		definitions = grown;
	return grown;
}

static bool slots_made(void)
{
	if (!slots)
		slots = cuprobe_memory_grow(NULL, &slots_capacity,
					    2 * DEFINITIONS_MOST * sizeof(*slots));
	return slots;
}

/* The definition with that key, a new one if there is none; NULL when there is no room. */
static struct definition *definition_get(__u64 key0, __u64 key1, __u32 *ret_number)
{
	const __u64 key[2] = {key0, key1};
	__u32 *slot;

	if (!slots_made())
		return NULL;
	slot = slot_of(key);
	if (!*slot) {
		if (!room_for_definition())
			return NULL;
		definitions[definition_count] = (struct definition){.key = {key0, key1}};
		*slot = ++definition_count;
	}
	*ret_number = *slot - 1;
	return &definitions[*slot - 1];
}

static void definition_changed(__u32 number)
{
	if (number < definitions_sent)
		definitions_sent = number;
	if (number < next_taken)
		next_taken = number;
	atomic_store_explicit(&pending, true, memory_order_relaxed);
}

static __u32 text_id(const char *text, size_t bytes)
{
	__u32 id = cuprobe_texts_id(&texts, text, bytes);

	if (id >= texts.first_id + texts_sent)
		atomic_store_explicit(&pending, true, memory_order_relaxed);
	return id;
}

__u32 cuprobe_nvtx_name_string(const char *text, size_t bytes)
{
	__u32 id;

	pthread_mutex_lock(&lock);
	id = text_id(text, bytes);
	pthread_mutex_unlock(&lock);
	return id;
}

static __u32 domain_define(__u32 name)
{
	struct definition *d;
	__u32 number;

	d = name ? definition_get(CUPROBE_INFO_NVTX_DOMAIN, name, &number) : NULL;
	if (!d)
		return 0;
	if (!d->info.type) {
		if (domain_count == CUPROBE_NVTX_DOMAINS)
			return 0;
		d->info.type = CUPROBE_INFO_NVTX_DOMAIN;
		d->info.nvtx_domain.id = domain_count++;
		d->info.nvtx_domain.name = name;
		definition_changed(number);
	}
	return d->info.nvtx_domain.id;
}

__u32 cuprobe_nvtx_name_domain(const char *name, size_t bytes)
{
	__u32 id;

	pthread_mutex_lock(&lock);
	id = domain_define(text_id(name, bytes));
	pthread_mutex_unlock(&lock);
	return id;
}

void cuprobe_nvtx_name_category(__u32 domain, __u32 category, const char *name, size_t bytes)
{
	struct definition *d;
	__u32 number;

	pthread_mutex_lock(&lock);
	d = definition_get(CUPROBE_INFO_NVTX_CATEGORY, (__u64)domain << 32 | category, &number);
	if (d) {
		d->info.type = CUPROBE_INFO_NVTX_CATEGORY;
		d->info.nvtx_category.domain = domain;
		d->info.nvtx_category.id = category;
		d->info.nvtx_category.name = text_id(name, bytes);
		definition_changed(number);
	}
	pthread_mutex_unlock(&lock);
}

void cuprobe_nvtx_name_object(struct cuprobe_info_name info, const char *name, size_t bytes)
{
	struct definition *d;
	__u32 number;

	pthread_mutex_lock(&lock);
	d = definition_get((__u64)info.object << 32 | CUPROBE_INFO_NAME, info.handle, &number);
	if (d) {
		info.name = text_id(name, bytes);
		d->info.type = CUPROBE_INFO_NAME;
		d->info.name = info;
		definition_changed(number);
	}
	pthread_mutex_unlock(&lock);
}

static size_t text_copy(__u32 id, char *text, size_t room)
{
	size_t bytes = 0;
	const char *known = cuprobe_texts_find(&texts, id, &bytes);

	if (bytes > room)
		bytes = room;
	if (known)
		memcpy(text, known, bytes);
	return bytes;
}

size_t cuprobe_nvtx_name_copy(__u32 string, char *text, size_t room)
{
	size_t bytes;

	pthread_mutex_lock(&lock);
	bytes = text_copy(string, text, room);
	pthread_mutex_unlock(&lock);
	return bytes;
}

static __u32 info_text(const struct cuprobe_info *info)
{
	switch (info->type) {
	case CUPROBE_INFO_NVTX_DOMAIN:
		return info->nvtx_domain.name;
	case CUPROBE_INFO_NVTX_CATEGORY:
		return info->nvtx_category.name;
	default:
		return info->name.name;
	}
}

bool cuprobe_nvtx_names_next(struct cuprobe_info *ret, char *text, size_t room, size_t *ret_bytes)
{
	bool any;

	pthread_mutex_lock(&lock);
	any = next_taken < definition_count;
	if (any) {
		*ret = definitions[next_taken++].info;
		*ret_bytes = text_copy(info_text(ret), text, room);
	}
	pthread_mutex_unlock(&lock);
	return any;
}

void cuprobe_nvtx_names_again(void)
{
	pthread_mutex_lock(&lock);
	next_taken = 0;
	pthread_mutex_unlock(&lock);
}

void cuprobe_nvtx_names_replay(void)
{
	pthread_mutex_lock(&lock);
	texts_sent = 0;
	definitions_sent = 0;
	atomic_store_explicit(&pending, texts.count != 0, memory_order_relaxed);
	pthread_mutex_unlock(&lock);
}

bool cuprobe_nvtx_names_pending(void)
{
	return atomic_load_explicit(&pending, memory_order_relaxed);
}

/* True when there is nothing more to define. */
static bool define_some(void)
{
	for (__u32 i = 0; i < DEFINE_AT_ONCE; i++) {
		if (texts_sent < texts.count) {
			cuprobe_texts_define(&texts, texts.first_id + texts_sent++);
		} else if (definitions_sent < definition_count) {
			const struct cuprobe_info *info = &definitions[definitions_sent++].info;

			if (info->type) /* there was room for its number */
				*(struct cuprobe_info *)cuprobe_batch_add(CUPROBE_PROBE_info) =
					*info;
		} else {
			atomic_store_explicit(&pending, false, memory_order_relaxed);
			return true;
		}
	}
	return false;
}

void cuprobe_nvtx_names_define(void)
{
	bool done;

	do {
		pthread_mutex_lock(&lock);
		done = define_some();
		pthread_mutex_unlock(&lock);
	} while (!done);
}
