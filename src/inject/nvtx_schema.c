/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_schema.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_time.h"

#define SCHEMAS 4096u
#define FIELDS_MOST 256u
#define STORE_BYTES ((size_t)8 << 20)

static struct nvtx_schema *schemas[SCHEMAS];
static atomic_uint count; /* release pairs with the acquire of find: those below are whole */
static char *store;	  /* never moves */
static size_t store_used;
/* Protects `store` and the adding to `schemas`; nothing is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *store_take(size_t bytes)
{
	void *memory;

	if (!store) {
		memory = mmap(NULL, STORE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (memory == MAP_FAILED)
			return NULL;
		store = memory;
	}
	bytes = (bytes + 7) & ~(size_t)7;
	if (bytes > STORE_BYTES - store_used)
		return NULL;
	store_used += bytes;
	return store + store_used - bytes;
}

static const char *store_name(const char *name)
{
	size_t bytes = name ? strlen(name) + 1 : 0;
	char *copy = name ? store_take(bytes) : NULL;

	return copy ? memcpy(copy, name, bytes) : NULL;
}

static struct nvtx_schema *schema_new(__u32 domain, size_t fields)
{
	struct nvtx_schema *s;

	if (!fields || fields > FIELDS_MOST)
		return NULL;
	s = store_take(sizeof(*s) + fields * sizeof(s->fields[0]));
	if (!s)
		return NULL;
	s->domain = domain;
	s->count = (__u32)fields;
	return s;
}

static __u64 schema_publish(struct nvtx_schema *s, __u64 fixed_id)
{
	__u32 number = atomic_load_explicit(&count, memory_order_relaxed);

	if (number == SCHEMAS)
		return 0;
	s->id = fixed_id ? fixed_id : NVTX_SCHEMA_FIRST_DYNAMIC + number;
	schemas[number] = s;
	atomic_store_explicit(&count, number + 1, memory_order_release);
	return s->id;
}

static __u64 schema_add(__u32 domain, const struct nvtx_schema_attributes *a)
{
	struct nvtx_schema *s = schema_new(domain, a->entry_count);

	if (!s)
		return 0;
	s->type = (__u32)a->type;
	s->bytes = a->fields & NVTX_SCHEMA_STATIC_BYTES ? a->static_bytes : 0;
	s->pack_align = a->fields & NVTX_SCHEMA_PACK_ALIGN ? a->pack_align : 0;
	for (size_t i = 0; i < a->entry_count; i++) {
		const struct nvtx_schema_entry *e = &a->entries[i];

		s->fields[i] =
			(struct nvtx_field){.flags = e->flags,
					    .type = e->type,
					    .detail = e->detail,
					    .offset = e->offset,
					    .name = store_name(e->name),
					    .timed = cuprobe_nvtx_time_is_known(e->semantics)};
	}
	return schema_publish(s, a->fields & NVTX_SCHEMA_ID ? a->id : 0);
}

__u64 cuprobe_nvtx_schema_add(__u32 domain, const struct nvtx_schema_attributes *a)
{
	const __u64 needed = NVTX_SCHEMA_TYPE | NVTX_SCHEMA_ENTRIES | NVTX_SCHEMA_ENTRY_COUNT;
	__u64 id;

	if (!a || (a->fields & needed) != needed || !a->entries ||
	    (a->type != NVTX_SCHEMA_STATIC && a->type != NVTX_SCHEMA_DYNAMIC))
		return 0;
	pthread_mutex_lock(&lock);
	id = schema_add(domain, a);
	pthread_mutex_unlock(&lock);
	return id;
}

static __u64 enum_add(__u32 domain, const struct nvtx_enum_attributes *a)
{
	struct nvtx_schema *s = schema_new(domain, a->entry_count);

	if (!s)
		return 0;
	s->bytes = a->fields & NVTX_ENUM_BYTES ? a->bytes : sizeof(int);
	for (size_t i = 0; i < a->entry_count; i++) {
		const struct nvtx_enum_entry *e = &a->entries[i];

		s->fields[i] = (struct nvtx_field){
			.name = store_name(e->name), .value = e->value, .is_flag = e->is_flag};
	}
	return schema_publish(s, a->fields & NVTX_ENUM_ID ? a->id : 0);
}

__u64 cuprobe_nvtx_schema_add_enum(__u32 domain, const struct nvtx_enum_attributes *a)
{
	__u64 id;

	if (!a || !a->entries)
		return 0;
	pthread_mutex_lock(&lock);
	id = enum_add(domain, a);
	pthread_mutex_unlock(&lock);
	return id;
}

const struct nvtx_schema *cuprobe_nvtx_schema_find(__u32 domain, __u64 id)
{
	__u32 known = atomic_load_explicit(&count, memory_order_acquire);

	if (id >= NVTX_SCHEMA_FIRST_DYNAMIC) {
		id -= NVTX_SCHEMA_FIRST_DYNAMIC;
		return id < known ? schemas[id] : NULL;
	}
	while (known--) {
		if (schemas[known]->id == id && schemas[known]->domain == domain)
			return schemas[known];
	}
	return NULL;
}
