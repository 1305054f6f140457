/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX: ranges, marks and acquisitions on the threads that made them, and where the work they
 * launched ran on the GPU. What one thread did is slices; start/end ranges, which overlap as they
 * like, are asynchronous events.
 */
#include "src/collector/output/chrome.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/collector/model.h"
#include "src/collector/nvtx_names.h"
#include "src/collector/nvtx_ranges.h"

#define WORD_MOST_BYTES 128	/* of a domain's or category's name */
#define PAYLOAD_MOST_BYTES 2048 /* as text */

/* Whose annotations of GPU work nest: those of one thread and domain. */
struct annotator {
	struct process *process;
	__u32 context, thread, domain;
};

struct chrome_nvtx {
	struct nvtx_ranges *ranges;
	struct map by_owner; /* number + 1 of the annotator, as a pointer's value */
	struct annotator *annotators;
	__u32 annotator_count, annotator_room;
	char *name; /* escaped; made anew for each event */
	size_t name_bytes, name_room;
	__u64 async_id;
};

/* What stands before the name. */
static const char *name_verb(const struct cuprobe_nvtx *n)
{
	switch (n->kind) {
	case CUPROBE_NVTX_ACQUIRE:
		return "acquire ";
	case CUPROBE_NVTX_RELEASE:
		return "release ";
	default:
		return "";
	}
}

/* The event's name, escaped, in c->name. */
static int name_escape(struct chrome_nvtx *c, const struct process *p, const struct cuprobe_nvtx *n)
{
	const char *verb = name_verb(n);
	size_t bytes = 0, room;
	const char *text = process_string(p, n->message, &bytes);
	char *grown;

	if (!text) {
		text = n->message ? "?" : "unnamed";
		bytes = strlen(text);
	}
	room = strlen(verb) + bytes * JSON_GROWTH;
	if (room > c->name_room) {
		grown = realloc(c->name, room);
		if (!grown)
			return -ENOMEM;
		c->name = grown;
		c->name_room = room;
	}
	grown = put_bytes(c->name, verb, strlen(verb));
	c->name_bytes = (size_t)(put_json(grown, text, bytes) - c->name);
	return 0;
}

static char *put_key(char *p, const char *key)
{
	*p++ = '"';
	p = put_bytes(p, key, strlen(key));
	return PUT(p, "\":");
}

static char *put_quoted(char *p, const char *text, size_t most)
{
	*p++ = '"';
	p = put_json(p, text, strnlen(text, most));
	return PUT(p, "\"");
}

/* A name where there is one, else the number. */
static char *put_word(char *p, const char *key, const char *name, __u32 number)
{
	p = put_key(p, key);
	p = name ? put_quoted(p, name, WORD_MOST_BYTES) : put_u64(p, number);
	return PUT(p, ",");
}

/* Text of any length that a payload can have. */
static char *put_long_text(struct sink *s, char *p, const char *text)
{
	output_done(s->out, p);
	p = output_room(s->out, PAYLOAD_MOST_BYTES * JSON_GROWTH + CHROME_ARGS_BYTES);
	return put_quoted(p, text, PAYLOAD_MOST_BYTES);
}

static char *put_payload(struct sink *s, char *p, const struct process *process,
			 const struct cuprobe_nvtx *n)
{
	char room[NVTX_PAYLOAD_ROOM];
	const char *text = nvtx_payload_text(process, n, room);

	if (!text)
		return p;
	p = put_key(p, "payload");
	/* JSON has no numbers for NaN and infinity. */
	if (text != room || !strpbrk(text, "0123456789"))
		p = put_long_text(s, p, text);
	else
		p = put_bytes(p, text, strlen(text));
	return PUT(p, ",");
}

static char *put_color(char *p, __u32 argb)
{
	p += sprintf(p, "\"color\":\"#%08x\",", argb);
	return p;
}

/* What the program said about the range or mark, each with a comma behind it. */
static char *put_attributes(struct sink *s, char *p, const struct process *process,
			    const struct cuprobe_nvtx *n)
{
	if (n->domain)
		p = put_word(p, "domain", process_nvtx_domain(process, n->domain), n->domain);
	if (n->category)
		p = put_word(p, "category", process_nvtx_category(process, n->domain, n->category),
			     n->category);
	if (n->flags & CUPROBE_NVTX_FLAG_COLOR)
		p = put_color(p, n->color);
	return put_payload(s, p, process, n);
}

static char *put_range_arguments(struct sink *s, char *p, const struct nvtx_range *r)
{
	const char *end_payload = process_string(r->process, r->end_payload, NULL);

	p = put_attributes(s, p, r->process, &r->start);
	if (end_payload) {
		p = put_key(p, "payload at the end");
		p = put_long_text(s, p, end_payload);
		*p++ = ',';
	}
	if (r->unfinished)
		p = PUT(p, "\"unfinished\":true,");
	if (r->failed)
		p = PUT(p, "\"failed\":true,");
	p = put_key(p, "thread");
	return put_u64(p, process_thread(r->process, r->start.thread));
}

static char *put_gpu_arguments(char *p, const struct nvtx_range *r, const struct nvtx_gpu *g)
{
	if (r->start.domain)
		p = put_word(p, "domain", process_nvtx_domain(r->process, r->start.domain),
			     r->start.domain);
	if (r->start.flags & CUPROBE_NVTX_FLAG_COLOR)
		p = put_color(p, r->start.color);
	p = PUT(p, "\"on stream\":");
	p = put_u64(p, g->stream);
	p = PUT(p, ",\"kernels\":");
	p = put_u64(p, g->kernels);
	p = PUT(p, ",\"GPU time (us)\":");
	return put_us(p, g->gpu_ns);
}

/* One end of an asynchronous event, up to the first argument. */
static char *put_async(struct sink *s, char type, const char *category, __u32 pid, __u32 tid,
		       __u64 time_ns)
{
	struct chrome_nvtx *c = s->nvtx;
	char *p = output_room(s->out, CHROME_ARGS_BYTES);

	if (time_ns > s->last_ns)
		s->last_ns = time_ns;
	p = PUT(p, "{\"ph\":\"");
	*p++ = type;
	p = PUT(p, "\",\"cat\":\"");
	p = put_bytes(p, category, strlen(category));
	p = PUT(p, "\",\"id\":\"");
	p = put_hex(p, c->async_id);
	p = PUT(p, "\",\"pid\":");
	p = put_u64(p, pid);
	p = PUT(p, ",\"tid\":");
	p = put_u64(p, tid);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, time_ns);
	p = PUT(p, ",\"name\":\"");
	output_done(s->out, p);
	output_put(s->out, c->name, c->name_bytes);
	return PUT(output_room(s->out, CHROME_ARGS_BYTES), "\",\"args\":{");
}

static const struct lane *range_lane(struct sink *s, const struct nvtx_range *r)
{
	const struct cuprobe_nvtx *n = &r->start;

	/* Ranges of the default domain nest with the thread's calls; domains need not nest. */
	return lanes_slice(s->lanes, r->process, n->domain ? LANE_NVTX : LANE_THREAD, CUPROBE_NO_ID,
			   n->domain, n->thread, n->time_ns, r->end_ns);
}

static __u64 owner_key(const struct annotator *a)
{
	__u64 key = a->process->number;

	key = (key ^ a->context) * 0x9e3779b97f4a7c15ull;
	key = (key ^ a->thread) * 0x9e3779b97f4a7c15ull;
	return (key ^ a->domain) * 0x9e3779b97f4a7c15ull;
}

/* The annotator's number, a new one if it is not known. */
static int annotator_get(struct chrome_nvtx *c, const struct annotator *a, __u32 *ret)
{
	__u64 key = owner_key(a);
	uintptr_t known = (uintptr_t)map_find(&c->by_owner, key);

	if (known) {
		*ret = (__u32)known - 1;
		return 0;
	}
	if (c->annotator_count == c->annotator_room) {
		__u32 room = c->annotator_room ? 2 * c->annotator_room : 64;
		struct annotator *grown = realloc(c->annotators, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		c->annotators = grown;
		c->annotator_room = room;
	}
	c->annotators[c->annotator_count] = *a;
	*ret = c->annotator_count++;
	return map_insert(&c->by_owner, key, (void *)(uintptr_t)(*ret + 1));
}

static int put_gpu_slice(struct sink *s, const struct nvtx_range *r, const struct nvtx_gpu *g)
{
	struct chrome_nvtx *c = s->nvtx;
	const struct annotator owner = {r->process, g->context, r->start.thread, r->start.domain};
	const struct lane *lane;
	__u32 number;
	char *p;
	int err = annotator_get(c, &owner, &number);

	if (err)
		return err;
	lane = lanes_slice(s->lanes, r->process, LANE_ANNOTATION, g->device, number, g->stream,
			   g->first_ns, g->last_ns);
	if (!lane)
		return -ENOMEM;
	p = chrome_slice(s, "gpu_user_annotation", lane, g->first_ns, g->last_ns, c->name,
			 c->name_bytes);
	return chrome_end(s, put_gpu_arguments(p, r, g));
}

static int put_gpu_async(struct sink *s, const struct nvtx_range *r, const struct nvtx_gpu *g)
{
	const struct lane_group *group = lanes_group(s->lanes, r->process, g->device, g->first_ns);
	char *p;

	if (!group)
		return -ENOMEM;
	s->nvtx->async_id++;
	p = put_async(s, 'b', "gpu_user_annotation", group->pid, g->stream, g->first_ns);
	chrome_end(s, put_gpu_arguments(p, r, g));
	return chrome_end(
		s, put_async(s, 'e', "gpu_user_annotation", group->pid, g->stream, g->last_ns));
}

static int put_sliced(struct sink *s, const struct nvtx_range *r)
{
	const struct lane *lane = range_lane(s, r);
	int err;
	char *p;

	if (!lane)
		return -ENOMEM;
	p = chrome_slice(s, "user_annotation", lane, r->start.time_ns, r->end_ns, s->nvtx->name,
			 s->nvtx->name_bytes);
	err = chrome_end(s, put_range_arguments(s, p, r));
	for (const struct nvtx_gpu *g = r->gpu; g && !err; g = g->next)
		err = put_gpu_slice(s, r, g);
	return err;
}

static int put_started(struct sink *s, const struct nvtx_range *r)
{
	const struct lane_group *group =
		lanes_group(s->lanes, r->process, CUPROBE_NO_ID, r->start.time_ns);
	__u32 tid = process_thread(r->process, r->start.thread);
	int err;
	char *p;

	if (!group)
		return -ENOMEM;
	s->nvtx->async_id++;
	p = put_async(s, 'b', "user_annotation", group->pid, tid, r->start.time_ns);
	chrome_end(s, put_range_arguments(s, p, r));
	err = chrome_end(s, put_async(s, 'e', "user_annotation", group->pid, tid, r->end_ns));
	for (const struct nvtx_gpu *g = r->gpu; g && !err; g = g->next)
		err = put_gpu_async(s, r, g);
	return err;
}

static int put_range(void *arg, const struct nvtx_range *r)
{
	struct sink *s = arg;
	int err = name_escape(s->nvtx, r->process, &r->start);

	if (err)
		return err;
	return nvtx_range_is_of_thread(r) ? put_sliced(s, r) : put_started(s, r);
}

static int put_mark(void *arg, struct process *process, const struct cuprobe_nvtx *n)
{
	struct sink *s = arg;
	const struct lane *lane = lanes_slice(s->lanes, process, LANE_THREAD, CUPROBE_NO_ID, 0,
					      n->thread, n->time_ns, n->time_ns);
	int err = name_escape(s->nvtx, process, n);
	char *p;

	if (err || !lane)
		return -ENOMEM;
	p = output_room(s->out, CHROME_ARGS_BYTES);
	p = PUT(p, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"user_annotation\",\"pid\":");
	p = put_u64(p, lane->group->pid);
	p = PUT(p, ",\"tid\":");
	p = put_u64(p, lane->tid);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, n->time_ns);
	p = PUT(p, ",\"name\":\"");
	output_done(s->out, p);
	output_put(s->out, s->nvtx->name, s->nvtx->name_bytes);
	p = PUT(output_room(s->out, CHROME_ARGS_BYTES), "\",\"args\":{");
	p = put_attributes(s, p, process, n);
	p = put_key(p, "thread");
	return chrome_end(s, put_u64(p, process_thread(process, n->thread)));
}

/*
 * A track for each name, and domain. Values that are no numbers are left out: JSON has none for
 * NaN and infinity, and a text is the program's own.
 */
static int put_counter(struct sink *s, struct process *process, const struct cuprobe_nvtx *n)
{
	const struct lane_group *group = lanes_group(s->lanes, process, CUPROBE_NO_ID, n->time_ns);
	const char *domain = process_nvtx_domain(process, n->domain);
	char room[NVTX_PAYLOAD_ROOM];
	const char *value = nvtx_payload_text(process, n, room);
	int err = name_escape(s->nvtx, process, n);
	char *p;

	if (err || !group)
		return -ENOMEM;
	if (value != room || !strpbrk(value, "0123456789"))
		return 0;
	p = output_room(s->out, CHROME_ARGS_BYTES);
	p = PUT(p, "{\"ph\":\"C\",\"cat\":\"user_annotation\",\"pid\":");
	p = put_u64(p, group->pid);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, n->time_ns);
	p = PUT(p, ",\"name\":\"");
	output_done(s->out, p);
	output_put(s->out, s->nvtx->name, s->nvtx->name_bytes);
	p = output_room(s->out, CHROME_ARGS_BYTES);
	if (domain) {
		p = PUT(p, " [");
		p = put_json(p, domain, strnlen(domain, WORD_MOST_BYTES));
		p = PUT(p, "]");
	}
	p = PUT(p, "\",\"args\":{\"value\":");
	return chrome_end(s, put_bytes(p, value, strlen(value)));
}

int chrome_nvtx_open(struct sink *s)
{
	const struct nvtx_ranges_handler handler = {.range = put_range, .mark = put_mark, .arg = s};
	int err;

	s->nvtx = calloc(1, sizeof(*s->nvtx));
	if (!s->nvtx)
		return -ENOMEM;
	err = nvtx_ranges_open(&s->nvtx->ranges, &handler);
	if (err) {
		free(s->nvtx);
		s->nvtx = NULL;
	}
	return err;
}

void chrome_nvtx_free(struct chrome_nvtx *c)
{
	if (!c)
		return;
	nvtx_ranges_free(c->ranges);
	map_clear(&c->by_owner, NULL);
	free(c->annotators);
	free(c->name);
	free(c);
}

int chrome_nvtx(struct sink *s, const struct event *e)
{
	if (!s->nvtx)
		return 0;
	if (e->probe == CUPROBE_PROBE_nvtx && e->nvtx->kind == CUPROBE_NVTX_COUNTER)
		return put_counter(s, e->process, e->nvtx);
	return nvtx_ranges_event(s->nvtx->ranges, e);
}

int chrome_nvtx_finish(struct sink *s, __u64 end_ns)
{
	return s->nvtx ? nvtx_ranges_finish(s->nvtx->ranges, end_ns) : 0;
}

static int put_owner(char *name, size_t size, const struct process *p, __u32 thread, __u32 domain)
{
	const char *called = process_object_name(p, CUPROBE_OBJECT_THREAD, CUPROBE_NO_ID, thread);
	const char *domain_name = process_nvtx_domain(p, domain);
	int n = snprintf(name, size, "thread %u", process_thread(p, thread));

	if (called)
		n = snprintf(name, size, "%.40s", called);
	if (domain)
		n += snprintf(name + n, size - (size_t)n, " [%.40s]",
			      domain_name ? domain_name : "NVTX");
	return n;
}

int chrome_nvtx_lane_words(const struct sink *s, const struct lane *lane, char *name, size_t size)
{
	const struct annotator *a;
	int n;

	if (lane->id == CUPROBE_NO_ID) /* see LANES_MOST */
		return snprintf(name, size, "other NVTX");
	if (lane->kind == LANE_NVTX)
		return put_owner(name, size, lane->group->process, lane->id, lane->context);
	a = &s->nvtx->annotators[lane->context];
	n = snprintf(name, size, "stream %u NVTX of ", lane->id);
	return n + put_owner(name + n, size - (size_t)n, a->process, a->thread, a->domain);
}
