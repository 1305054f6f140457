/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/collector/capture.h"
#include "src/collector/model.h"
#include "src/collector/names.h"

#define NAME_ONE_PIECE 16384 /* longer names are written by themselves */

void chrome_flow_end(struct sink *s, const struct lane *lane, __u64 start_ns, __u32 correlation)
{
	char *p;

	if (!s->flows || !correlation)
		return;
	p = output_room(s->out, CHROME_ARGS_BYTES);
	p = PUT(p, "{\"ph\":\"f\",\"id\":");
	p = put_u64(p, flow_id(lane->group->process->number, correlation));
	p = PUT(p, ",\"pid\":");
	p = put_u64(p, lane->group->pid);
	p = PUT(p, ",\"tid\":");
	p = put_u64(p, lane->tid);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, start_ns);
	p = PUT(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"},\n");
	output_done(s->out, p);
}

char *chrome_slice(struct sink *s, const char *category, const struct lane *lane, __u64 start_ns,
		   __u64 end_ns, const char *name, size_t name_bytes)
{
	bool one_piece = name_bytes <= NAME_ONE_PIECE;
	char *p = output_room(s->out, CHROME_ARGS_BYTES + (one_piece ? name_bytes : 0));

	if (start_ns < s->base_ns)
		start_ns = s->base_ns;
	if (end_ns < start_ns)
		end_ns = start_ns;
	if (end_ns > s->last_ns)
		s->last_ns = end_ns;
	p = PUT(p, "{\"ph\":\"X\",\"cat\":\"");
	p = put_bytes(p, category, strlen(category));
	p = PUT(p, "\",\"name\":\"");
	if (one_piece) {
		p = put_bytes(p, name, name_bytes);
	} else {
		output_done(s->out, p);
		output_put(s->out, name, name_bytes);
		p = output_room(s->out, CHROME_ARGS_BYTES);
	}
	p = PUT(p, "\",\"pid\":");
	p = put_u64(p, lane->group->pid);
	p = PUT(p, ",\"tid\":");
	p = put_u64(p, lane->tid);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, start_ns);
	p = PUT(p, ",\"dur\":");
	p = put_us(p, end_ns - start_ns);
	return PUT(p, ",\"args\":{");
}

int chrome_end(struct sink *s, char *p)
{
	output_done(s->out, PUT(p, "}},\n"));
	return s->out->err;
}

static struct chrome_name *new_name(const char *text, size_t bytes)
{
	struct chrome_name *n = malloc(sizeof(*n) + bytes * JSON_GROWTH);
	struct chrome_name *fitting;

	if (!n)
		return NULL;
	n->bytes = (size_t)(put_json(n->text, text, bytes) - n->text);
	n->enqueues = false;
	fitting = realloc(n, sizeof(*n) + n->bytes);
	return fitting ? fitting : n;
}

static __u64 name_key(const struct process *p, __u32 id)
{
	return ((__u64)p->number << 12 | (p->image & 0xfff)) << 32 | id;
}

static const struct chrome_name *undefined_name(struct sink *s, struct process *p, __u32 id)
{
	const char *text = id ? process_name(p, id, true) : "unnamed";

	free(s->undefined);
	s->undefined = new_name(text, strlen(text));
	return s->undefined;
}

static const struct chrome_name *keep_name(struct map *names, __u64 key, struct chrome_name *n)
{
	if (n && map_insert(names, key, n)) {
		free(n);
		return NULL;
	}
	return n;
}

const struct chrome_name *chrome_kernel_name(struct sink *s, struct process *p, __u32 id)
{
	__u64 key = name_key(p, id);
	const struct chrome_name *n = map_find(&s->names[0], key);
	const char *text;

	if (n)
		return n;
	if (!process_string(p, id, NULL))
		return undefined_name(s, p, id);
	text = process_name(p, id, s->opts.mangled);
	return keep_name(&s->names[0], key, new_name(text, strlen(text)));
}

const struct chrome_name *chrome_api_name(struct sink *s, struct process *p, __u32 id)
{
	__u64 key = name_key(p, id);
	struct chrome_name *n = map_find(&s->names[1], key);
	const char *text;
	size_t bytes;

	if (n)
		return n;
	text = process_string(p, id, &bytes);
	if (!text)
		return undefined_name(s, p, id);
	bytes = api_name_bytes(text, bytes);
	n = new_name(text, bytes);
	if (n)
		n->enqueues = api_enqueues(text, bytes);
	return keep_name(&s->names[1], key, n);
}

static void chrome_free(struct sink *s)
{
	lanes_free(s->lanes);
	flows_free(s->flows);
	chrome_nvtx_free(s->nvtx);
	for (int i = 0; i < 2; i++)
		map_clear(&s->names[i], free);
	map_clear(&s->memory, free);
	free(s->undefined);
	free(s);
}

/* What is known now; the rest of the head is known at the end. */
static void put_start(struct sink *s)
{
	char *p = output_room(s->out, CHROME_ARGS_BYTES);
	__u64 offset_ns = s->opts.info ? s->opts.info->realtime_offset_ns : 0;

	if (!output_has_head(s->out))
		p = PUT(p, "{\"schemaVersion\":1,\n");
	p = PUT(p, "\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":");
	p = put_u64(p, s->base_ns + offset_ns);
	p = PUT(p, ",\n\"traceEvents\":[\n");
	output_done(s->out, p);
}

static int chrome_open(struct sink **ret, const struct sink_opts *opts)
{
	const struct session_info *info = opts->info;
	struct sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	if (info && info->start_ns > CHROME_LEAD_NS)
		s->base_ns = info->start_ns - CHROME_LEAD_NS;
	err = lanes_open(&s->lanes);
	if (!err && session_info_may_have(info, CUPROBE_PROBE_api))
		err = flows_open(&s->flows, chrome_call, s);
	if (!err && session_info_may_have(info, CUPROBE_PROBE_nvtx))
		err = chrome_nvtx_open(s);
	if (!err)
		err = output_open(&s->out, opts->path, CHROME_HEAD_BYTES);
	if (err) {
		chrome_free(s);
		return err;
	}
	put_start(s);
	*ret = s;
	return 0;
}

static int chrome_write(struct sink *s, const struct event *e)
{
	switch (e->probe) {
	case CUPROBE_PROBE_kernel:
		return chrome_kernel(s, e);
	case CUPROBE_PROBE_graph:
		return chrome_graph(s, e);
	case CUPROBE_PROBE_memcpy:
		return chrome_memcpy(s, e);
	case CUPROBE_PROBE_memset:
		return chrome_memset(s, e);
	case CUPROBE_PROBE_memory:
		return chrome_memory(s, e);
	case CUPROBE_PROBE_sync:
		return chrome_sync(s, e);
	case CUPROBE_PROBE_api:
		return chrome_api(s, e);
	case CUPROBE_PROBE_unified_memory:
		return chrome_unified_memory(s, e);
	case CUPROBE_PROBE_overhead:
		return chrome_overhead(s, e);
	default:
		return 0;
	}
}

static int chrome_event(struct sink *s, const struct event *e)
{
	int err = chrome_nvtx(s, e);

	return err ? err : chrome_write(s, e);
}

static void put_end(struct sink *s)
{
	__u64 end_ns = s->opts.info ? s->opts.info->end_ns : 0;
	char *head = malloc(CHROME_HEAD_BYTES);

	if (!head) {
		s->out->err = -ENOMEM;
		return;
	}
	if (s->flows)
		flows_finish(s->flows);
	if (chrome_nvtx_finish(s, end_ns))
		s->out->err = -ENOMEM;
	chrome_put_lanes(s);
	chrome_put_tail(s);
	if (output_has_head(s->out))
		output_head(s->out, head, chrome_put_head(s, head));
	free(head);
}

static int chrome_close(struct sink *s, bool commit)
{
	int err;

	if (!s)
		return 0;
	if (commit)
		put_end(s);
	err = output_close(s->out, commit);
	chrome_free(s);
	return err;
}

const struct sink_ops sink_chrome = {
	.name = "chrome",
	.help = "Chrome trace (JSON), for Perfetto, chrome://tracing and HTA; .gz compresses",
	.suffix = ".json",
	.open = chrome_open,
	.event = chrome_event,
	.close = chrome_close,
};
