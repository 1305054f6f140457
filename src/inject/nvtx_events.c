/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_events.h"

#include <stdbool.h>
#include <string.h>

#include "src/inject/clock.h"
#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_layout.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_payload.h"
#include "src/inject/nvtx_put.h"
#include "src/inject/nvtx_text.h"
#include "src/inject/nvtx_time.h"

/* Room for what is rendered; on the stack of the few functions that need it. */
struct room {
	char payload[NVTX_RENDERED_BYTES], message[NVTX_RENDERED_BYTES];
};

static void source_ascii(struct nvtx_source *s, const char *message)
{
	if (!message)
		return;
	s->message = message;
	s->message_length = strnlen(message, NVTX_MESSAGE_BYTES + 1);
	cuprobe_nvtx_source_text(s, s->message_length);
}

static void source_wide(struct nvtx_source *s, const wchar_t *message)
{
	if (!message)
		return;
	s->wide = message;
	cuprobe_nvtx_source_text(s, cuprobe_nvtx_text_wide_bytes(message));
}

/* True when the caller's struct, which may be a short one of an older version, has the member. */
#define HAS(a, member)                                                                             \
	((a)->bytes >= offsetof(struct nvtx_attributes, member) + sizeof((a)->member))

static void source_message(struct nvtx_source *s, const struct nvtx_attributes *a)
{
	switch (a->message_type) {
	case NVTX_MESSAGE_ASCII:
		source_ascii(s, a->message.ascii);
		break;
	case NVTX_MESSAGE_WIDE:
		source_wide(s, a->message.wide);
		break;
	case NVTX_MESSAGE_REGISTERED:
		s->message_id = cuprobe_nvtx_registered(a->message.registered);
		break;
	default:
		break;
	}
}

/* False for an extended payload, which needs rendering. */
static bool source_payload(struct nvtx_source *s, const struct nvtx_attributes *a)
{
	switch (a->payload_type) {
	case CUPROBE_NVTX_PAYLOAD_U64:
	case CUPROBE_NVTX_PAYLOAD_S64:
	case CUPROBE_NVTX_PAYLOAD_DOUBLE:
		s->payload = a->payload;
		break;
	case CUPROBE_NVTX_PAYLOAD_U32:
	case CUPROBE_NVTX_PAYLOAD_S32:
	case CUPROBE_NVTX_PAYLOAD_FLOAT:
		s->payload = (__u32)a->payload;
		break;
	case NVTX_PAYLOAD_EXTENDED:
		return false;
	default:
		return true;
	}
	s->payload_type = (__u8)a->payload_type;
	return true;
}

/* False for an extended payload. */
static bool source_attributes(struct nvtx_source *s, const struct nvtx_attributes *a)
{
	if (!a)
		return true;
	if (HAS(a, category))
		s->category = a->category;
	if (HAS(a, color) && a->color_type == NVTX_COLOR_ARGB) {
		s->color = a->color;
		s->flags = CUPROBE_NVTX_FLAG_COLOR;
	}
	if (HAS(a, message))
		source_message(s, a);
	return !HAS(a, payload) || source_payload(s, a);
}

/* Renders payloads into `room`, and takes over what they say about the event. */
static void source_render(struct nvtx_source *s, struct room *room, const struct nvtx_payload *p,
			  size_t count)
{
	struct nvtx_text text, message;
	struct nvtx_payload_attributes attributes = {.message = &message};

	if (!p)
		return;
	cuprobe_nvtx_text_init(&text, room->payload, sizeof(room->payload));
	cuprobe_nvtx_text_init(&message, room->message, sizeof(room->message));
	cuprobe_nvtx_payload_render(&text, s->domain, p, count, &attributes);
	s->payload_type = CUPROBE_NVTX_PAYLOAD_TEXT;
	s->rendered = room->payload;
	s->rendered_bytes = text.bytes;
	if (attributes.message_id)
		s->message_id = attributes.message_id;
	if (message.bytes) {
		s->message = room->message;
		s->message_length = message.bytes;
		cuprobe_nvtx_source_text(s, message.bytes);
	}
	s->begin_ns = attributes.begin_ns;
	s->end_ns = attributes.end_ns;
	if (attributes.has_category)
		s->category = attributes.category;
	if (attributes.has_color) {
		s->color = attributes.color;
		s->flags |= CUPROBE_NVTX_FLAG_COLOR;
	}
}

/*
 * Each puts its event, leaves, and returns what the client's function returns. A lost event is as
 * good as any to the client: levels and ids go on.
 */
static uint64_t push_put(struct nvtx_entry *e, struct nvtx_source *s)
{
	__u32 level = e->thread->level[s->domain]++;

	e->thread->open++;
	s->kind = CUPROBE_NVTX_PUSH;
	cuprobe_nvtx_put(e, s, (int)level);
	cuprobe_nvtx_leave(e);
	return level;
}

static uint64_t pop_put(struct nvtx_entry *e, struct nvtx_source *s)
{
	int level = NVTX_LEVEL_ERROR;

	if (e->thread->level[s->domain]) {
		level = (int)--e->thread->level[s->domain];
		e->thread->open--;
	}
	s->kind = CUPROBE_NVTX_POP;
	cuprobe_nvtx_put(e, s, level);
	cuprobe_nvtx_leave(e);
	return (uint64_t)level;
}

static uint64_t start_put(struct nvtx_entry *e, struct nvtx_source *s)
{
	s->range = ++e->thread->next_range;
	s->kind = CUPROBE_NVTX_START;
	cuprobe_nvtx_put(e, s, 0);
	cuprobe_nvtx_leave(e);
	return s->range;
}

static uint64_t end_put(struct nvtx_entry *e, struct nvtx_source *s)
{
	s->kind = CUPROBE_NVTX_END;
	cuprobe_nvtx_put(e, s, 0);
	cuprobe_nvtx_leave(e);
	return 0;
}

static uint64_t mark_put(struct nvtx_entry *e, struct nvtx_source *s)
{
	s->kind = CUPROBE_NVTX_MARK;
	cuprobe_nvtx_put(e, s, 0);
	cuprobe_nvtx_leave(e);
	return 0;
}

/* Extended payloads are rendered on the stack, which the common case shall not pay for. */
static __attribute__((noinline)) uint64_t event_render(struct nvtx_entry *e, struct nvtx_source *s,
						       uint64_t (*put)(struct nvtx_entry *,
								       struct nvtx_source *),
						       const struct nvtx_payload *p, size_t count)
{
	struct room room;

	source_render(s, &room, p, count);
	return put(e, s);
}

static uint64_t event_attributes(struct nvtx_entry *e, struct nvtx_source *s,
				 uint64_t (*put)(struct nvtx_entry *, struct nvtx_source *),
				 const struct nvtx_attributes *a)
{
	if (source_attributes(s, a))
		return put(e, s);
	return event_render(e, s, put, (const void *)a->payload, (size_t)(__u32)a->payload_count);
}

void cuprobe_nvtx_domain_mark_ex(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	if (cuprobe_nvtx_enter(&e))
		event_attributes(&e, &s, mark_put, a);
}

void cuprobe_nvtx_mark_ex(const struct nvtx_attributes *a)
{
	cuprobe_nvtx_domain_mark_ex(NULL, a);
}

void cuprobe_nvtx_mark_a(const char *message)
{
	struct nvtx_source s = {0};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_enter(&e))
		return;
	source_ascii(&s, message);
	mark_put(&e, &s);
}

void cuprobe_nvtx_mark_w(const wchar_t *message)
{
	struct nvtx_source s = {0};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_enter(&e))
		return;
	source_wide(&s, message);
	mark_put(&e, &s);
}

uint64_t cuprobe_nvtx_domain_start_ex(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	return cuprobe_nvtx_enter(&e) ? event_attributes(&e, &s, start_put, a) : 0;
}

uint64_t cuprobe_nvtx_start_ex(const struct nvtx_attributes *a)
{
	return cuprobe_nvtx_domain_start_ex(NULL, a);
}

uint64_t cuprobe_nvtx_start_a(const char *message)
{
	struct nvtx_source s = {0};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_enter(&e))
		return 0;
	source_ascii(&s, message);
	return start_put(&e, &s);
}

uint64_t cuprobe_nvtx_start_w(const wchar_t *message)
{
	struct nvtx_source s = {0};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_enter(&e))
		return 0;
	source_wide(&s, message);
	return start_put(&e, &s);
}

void cuprobe_nvtx_domain_end(struct nvtx_domain *d, uint64_t range)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d), .range = range};
	struct nvtx_entry e;

	if (cuprobe_nvtx_enter(&e))
		end_put(&e, &s);
}

void cuprobe_nvtx_end(uint64_t range)
{
	cuprobe_nvtx_domain_end(NULL, range);
}

int cuprobe_nvtx_domain_push_ex(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	return cuprobe_nvtx_enter(&e) ? (int)event_attributes(&e, &s, push_put, a)
				      : NVTX_LEVEL_UNKNOWN;
}

int cuprobe_nvtx_push_ex(const struct nvtx_attributes *a)
{
	return cuprobe_nvtx_domain_push_ex(NULL, a);
}

int cuprobe_nvtx_push_a(const char *message)
{
	struct nvtx_source s = {0};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_enter(&e))
		return NVTX_LEVEL_UNKNOWN;
	source_ascii(&s, message);
	return (int)push_put(&e, &s);
}

int cuprobe_nvtx_push_w(const wchar_t *message)
{
	struct nvtx_source s = {0};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_enter(&e))
		return NVTX_LEVEL_UNKNOWN;
	source_wide(&s, message);
	return (int)push_put(&e, &s);
}

int cuprobe_nvtx_domain_pop(struct nvtx_domain *d)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	return cuprobe_nvtx_enter(&e) ? (int)pop_put(&e, &s) : NVTX_LEVEL_UNKNOWN;
}

int cuprobe_nvtx_pop(void)
{
	return cuprobe_nvtx_domain_pop(NULL);
}

/*
 * A thread waits for one object at a time, so that the two together say which acquisition an event
 * belongs to. The upper bit keeps such ids apart from those of started ranges.
 */
static __u64 sync_range(__u32 domain, __u32 name, __u32 thread)
{
	return (__u64)(1u << 31 | domain << 20 | name) << 32 | thread;
}

static void sync_put(const struct nvtx_sync *object, __u8 kind)
{
	struct nvtx_source s = {.kind = kind};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_sync_find(object, &s.domain, &s.message_id) || !cuprobe_nvtx_enter(&e))
		return;
	s.range = sync_range(s.domain, s.message_id, e.thread->tid);
	cuprobe_nvtx_put(&e, &s, 0);
	cuprobe_nvtx_leave(&e);
}

void cuprobe_nvtx_sync_acquire(struct nvtx_sync *object)
{
	sync_put(object, CUPROBE_NVTX_ACQUIRE);
}

void cuprobe_nvtx_sync_acquired(struct nvtx_sync *object)
{
	sync_put(object, CUPROBE_NVTX_ACQUIRED);
}

void cuprobe_nvtx_sync_failed(struct nvtx_sync *object)
{
	sync_put(object, CUPROBE_NVTX_ACQUIRE_FAILED);
}

void cuprobe_nvtx_sync_release(struct nvtx_sync *object)
{
	sync_put(object, CUPROBE_NVTX_RELEASE);
}

void cuprobe_nvtx_payload_mark(struct nvtx_domain *d, const struct nvtx_payload *p, size_t count)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	if (cuprobe_nvtx_enter(&e))
		event_render(&e, &s, mark_put, p, count);
}

int cuprobe_nvtx_payload_push(struct nvtx_domain *d, const struct nvtx_payload *p, size_t count)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_enter(&e))
		return NVTX_LEVEL_UNKNOWN;
	return (int)event_render(&e, &s, push_put, p, count);
}

int cuprobe_nvtx_payload_pop(struct nvtx_domain *d, const struct nvtx_payload *p, size_t count)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	if (!cuprobe_nvtx_enter(&e))
		return NVTX_LEVEL_UNKNOWN;
	return (int)event_render(&e, &s, pop_put, p, count);
}

uint64_t cuprobe_nvtx_payload_start(struct nvtx_domain *d, const struct nvtx_payload *p,
				    size_t count)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	return cuprobe_nvtx_enter(&e) ? event_render(&e, &s, start_put, p, count) : 0;
}

void cuprobe_nvtx_payload_end(struct nvtx_domain *d, uint64_t range, const struct nvtx_payload *p,
			      size_t count)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d), .range = range};
	struct nvtx_entry e;

	if (cuprobe_nvtx_enter(&e))
		event_render(&e, &s, end_put, p, count);
}

/* A range that is over is a start and an end: it need not nest with others of its thread. */
static void over_put(struct nvtx_entry *e, struct nvtx_source *s, __u64 end_ns)
{
	const struct nvtx_source end = {.kind = CUPROBE_NVTX_END,
					.domain = s->domain,
					.time_ns = end_ns,
					.range = ++e->thread->next_range};

	s->kind = CUPROBE_NVTX_START;
	s->range = end.range;
	cuprobe_nvtx_put(e, s, 0);
	cuprobe_nvtx_put(e, &end, 0);
}

static uint64_t submit_put(struct nvtx_entry *e, struct nvtx_source *s)
{
	__u64 begin_ns = s->begin_ns, end_ns = s->end_ns ? s->end_ns : begin_ns;

	s->time_ns = begin_ns;
	if (!begin_ns || end_ns < begin_ns || end_ns > cuprobe_clock_now())
		cuprobe_nvtx_time_refuse(1);
	else if (s->end_ns)
		over_put(e, s, end_ns);
	else
		return mark_put(e, s);
	cuprobe_nvtx_leave(e);
	return 0;
}

void cuprobe_nvtx_submit(struct nvtx_domain *d, const struct nvtx_payload *p, size_t count)
{
	struct nvtx_source s = {.domain = cuprobe_nvtx_domain(d)};
	struct nvtx_entry e;

	if (cuprobe_nvtx_enter(&e))
		event_render(&e, &s, submit_put, p, count);
}

/* What has a schema that is not known is one event, which says nothing of its time. */
void cuprobe_nvtx_submit_batch(struct nvtx_domain *d, const struct nvtx_event_batch *batch)
{
	size_t bytes = batch && batch->events ? batch->bytes : 0;
	size_t unit = bytes ? cuprobe_nvtx_type_bytes(cuprobe_nvtx_domain(d), batch->schema) : 0;

	if (!unit)
		unit = bytes;
	for (size_t at = 0; at < bytes && unit <= bytes - at; at += unit) {
		const struct nvtx_payload p = {batch->schema, unit,
					       (const char *)batch->events + at};

		cuprobe_nvtx_submit(d, &p, 1);
	}
}
