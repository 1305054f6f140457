/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_counters.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_layout.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_schema.h"
#include "src/inject/nvtx_text.h"
#include "src/inject/nvtx_time.h"
#include "src/inject/nvtx_value.h"

#define COUNTERS 2048u
#define SERIES 8192u
#define NAME_BYTES 512 /* longest name of a series of several; longer ones are cut */

static struct nvtx_counter counters[COUNTERS];
static atomic_uint count; /* release pairs with the acquire of find: those below are whole */
static struct nvtx_series series[SERIES];
static __u32 series_count;
/* Protects the adding to all above; the lock of names is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_number(const struct nvtx_basic *b)
{
	return b && b->bytes <= 8 &&
	       (b->form == NVTX_FORM_SIGNED || b->form == NVTX_FORM_UNSIGNED ||
		b->form == NVTX_FORM_REAL);
}

static void series_add(struct nvtx_counter *c, __u32 name, const struct nvtx_basic *b, size_t at)
{
	if (series_count == SERIES) {
		c->left_out++;
		return;
	}
	series[series_count++] = (struct nvtx_series){
		.name = name, .offset = at, .bytes = b->bytes, .form = b->form};
	c->count++;
}

static __u32 name_id(const char *name)
{
	return name ? cuprobe_nvtx_name_string(name, strlen(name)) : 0;
}

/* "counter.field" */
static __u32 field_name_id(const char *counter, const char *field)
{
	char room[NAME_BYTES];
	struct nvtx_text t;

	if (!counter || !field)
		return name_id(counter ? counter : field);
	cuprobe_nvtx_text_init(&t, room, sizeof(room));
	cuprobe_nvtx_text_string(&t, counter);
	cuprobe_nvtx_text_put(&t, ".", 1);
	cuprobe_nvtx_text_string(&t, field);
	return cuprobe_nvtx_name_string(room, t.bytes);
}

static void struct_add(struct nvtx_counter *c, const struct nvtx_schema *s, const char *name)
{
	size_t at = 0;

	for (__u32 i = 0; i < s->count; i++) {
		const struct nvtx_field *f = &s->fields[i];
		const struct nvtx_basic *b = cuprobe_nvtx_basic_find(f->type);

		at = cuprobe_nvtx_field_offset(s, i, at);
		if (f->flags & (NVTX_ENTRY_TIMESTAMP | NVTX_ENTRY_HIDE))
			;
		else if (is_number(b) && !(f->flags & (NVTX_ENTRY_ARRAY | NVTX_ENTRY_POINTER)))
			series_add(c, field_name_id(name, f->name), b, at);
		else
			c->left_out++;
		at += cuprobe_nvtx_field_bytes(s, f);
	}
	c->bytes = s->bytes ? s->bytes : at;
}

static bool counter_fill(struct nvtx_counter *c, const struct nvtx_counter_attributes *a)
{
	const struct nvtx_basic *b = cuprobe_nvtx_basic_find(a->schema);
	const struct nvtx_schema *s = b ? NULL : cuprobe_nvtx_schema_find(c->domain, a->schema);

	c->series = series + series_count;
	if (is_number(b)) {
		series_add(c, c->name, b, 0);
		c->bytes = b->bytes;
	} else if (s && s->type == NVTX_SCHEMA_STATIC) {
		struct_add(c, s, a->name);
	}
	return c->count;
}

static __u64 counter_again(const struct nvtx_counter *c, __u32 known, __u64 id)
{
	for (__u32 i = 0; i < known; i++) {
		if (counters[i].domain == c->domain && counters[i].name == c->name &&
		    counters[i].schema == c->schema && counters[i].timed == c->timed &&
		    (!id || counters[i].id == id))
			return counters[i].id;
	}
	return 0;
}

static __u64 counter_add(__u32 domain, const struct nvtx_counter_attributes *a)
{
	__u32 number = atomic_load_explicit(&count, memory_order_relaxed);
	struct nvtx_counter c = {.id = a->id ? a->id : NVTX_COUNTER_FIRST_DYNAMIC + number,
				 .schema = a->schema,
				 .domain = domain,
				 .name = name_id(a->name),
				 .timed = cuprobe_nvtx_time_is_known(a->semantics)};
	__u64 id = counter_again(&c, number, a->id);

	if (id || number == COUNTERS || !counter_fill(&c, a))
		return id;
	counters[number] = c;
	atomic_store_explicit(&count, number + 1, memory_order_release);
	return c.id;
}

__u64 cuprobe_nvtx_counter_add(__u32 domain, const struct nvtx_counter_attributes *a)
{
	__u64 id;

	if (!a || a->bytes < sizeof(*a))
		return 0;
	pthread_mutex_lock(&lock);
	id = counter_add(domain, a);
	pthread_mutex_unlock(&lock);
	return id;
}

const struct nvtx_counter *cuprobe_nvtx_counter_find(__u32 domain, __u64 id)
{
	__u32 known = atomic_load_explicit(&count, memory_order_acquire);

	if (id >= NVTX_COUNTER_FIRST_DYNAMIC) {
		id -= NVTX_COUNTER_FIRST_DYNAMIC;
		return id < known ? &counters[id] : NULL;
	}
	while (known--) {
		if (counters[known].id == id && counters[known].domain == domain)
			return &counters[known];
	}
	return NULL;
}
