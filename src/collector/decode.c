/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The border to other processes. Any of them can fire our probes with junk, so everything about a
 * batch is checked here once, and nothing behind it has to ask again.
 */
#include "src/collector/decode.h"

#include <errno.h>
#include <string.h>

#include "cuprobe/transport.h"
#include "src/collector/model.h"
#include "src/collector/stacks.h"
#include "src/collector/strings.h"

/*
 * `least` is the size in the first version of the format, `size` the one of this build. Text has
 * to be there whole, so a string never was smaller.
 */
struct layout {
	__u32 least, size;
};

static const struct layout layouts[CUPROBE_PROBE_COUNT] = {
	[CUPROBE_PROBE_kernel] = {160, sizeof(struct cuprobe_kernel)},
	[CUPROBE_PROBE_graph] = {48, sizeof(struct cuprobe_graph)},
	[CUPROBE_PROBE_memcpy] = {88, sizeof(struct cuprobe_memcpy)},
	[CUPROBE_PROBE_memset] = {64, sizeof(struct cuprobe_memset)},
	[CUPROBE_PROBE_memory] = {96, sizeof(struct cuprobe_memory)},
	[CUPROBE_PROBE_sync] = {64, sizeof(struct cuprobe_sync)},
	[CUPROBE_PROBE_api] = {40, sizeof(struct cuprobe_api)},
	[CUPROBE_PROBE_unified_memory] = {56, sizeof(struct cuprobe_unified_memory)},
	[CUPROBE_PROBE_overhead] = {48, sizeof(struct cuprobe_overhead)},
	[CUPROBE_PROBE_string] = {256, sizeof(struct cuprobe_string)},
	[CUPROBE_PROBE_info] = {128, sizeof(struct cuprobe_info)},
	[CUPROBE_PROBE_status] = {96, sizeof(struct cuprobe_status)},
	[CUPROBE_PROBE_nvtx] = {56, sizeof(struct cuprobe_nvtx)},
	[CUPROBE_PROBE_launch] = {40, sizeof(struct cuprobe_launch)},
	[CUPROBE_PROBE_stack] = {256, sizeof(struct cuprobe_stack)},
	[CUPROBE_PROBE_module] = {48, sizeof(struct cuprobe_module)},
	[CUPROBE_PROBE_pc_sample] = {72, sizeof(struct cuprobe_pc_sample)},
};

union record {
	struct cuprobe_kernel kernel;
	struct cuprobe_string string;
	struct cuprobe_info info;
};

static bool batch_is_sound(const struct cuprobe_batch_header *h)
{
	__u32 stride;

	if (h->probe >= CUPROBE_PROBE_COUNT || !h->count || !h->bytes ||
	    h->bytes > CUPROBE_BATCH_BYTES || h->bytes % h->count || h->seq + h->count < h->seq)
		return false;
	stride = h->bytes / h->count;
	return stride % 8 == 0 && stride >= layouts[h->probe].least;
}

static bool string_is_sound(const struct cuprobe_string *s)
{
	if (!s->id || s->bytes > CUPROBE_STRING_PIECE || s->total_bytes > STRING_LONGEST ||
	    s->offset > s->total_bytes || s->bytes > s->total_bytes - s->offset)
		return false;
	return s->bytes || !s->total_bytes;
}

static bool stack_is_sound(const struct cuprobe_stack *s)
{
	return s->id && s->count && s->count <= CUPROBE_STACK_PIECE && s->frames <= STACK_LONGEST &&
	       s->first + s->count <= s->frames;
}

static bool times_are_sound(const struct event *e)
{
	__u64 start_ns, end_ns;

	if (!event_times(e, &start_ns, &end_ns))
		return true;
	return start_ns && start_ns <= end_ns && end_ns <= e->fired_ns + DECODE_SLACK_NS;
}

static bool record_is_sound(const struct event *e)
{
	switch (e->probe) {
	case CUPROBE_PROBE_string:
		return string_is_sound(e->string);
	case CUPROBE_PROBE_stack:
		return stack_is_sound(e->stack);
	case CUPROBE_PROBE_info:
		return true;
	case CUPROBE_PROBE_status:
		return e->status->type != CUPROBE_STATUS_LEDGER ||
		       e->status->ledger.probe < CUPROBE_PROBE_COUNT;
	default:
		return times_are_sound(e);
	}
}

/* A record of an older library, with what that did not know set to zero. */
static const void *record_complete(union record *room, const void *record, __u32 bytes, __u32 size)
{
	if (bytes >= size)
		return record;
	memcpy(room, record, bytes);
	memset((char *)room + bytes, 0, size - bytes);
	return room;
}

int decode_batch(struct model *model, const struct cuprobe_batch_header *header, const void *data,
		 const struct event_sink *sink)
{
	struct process *p = model_process(model, header->pid, header->process_start_ns);
	struct event e = {.process = p, .tid = header->tid, .fired_ns = header->time_ns};
	const char *record = data;
	union record room;
	__u32 stride;
	int err;

	if (!p)
		return -ENOMEM;
	if (!batch_is_sound(header) || model_is_rest(model, p)) {
		model_malformed(p, header);
		return 0;
	}
	err = model_batch(model, p, header);
	e.probe = header->probe;
	stride = header->bytes / header->count;
	for (__u32 i = 0; i < header->count && !err; i++, record += stride) {
		e.record = record_complete(&room, record, stride, layouts[e.probe].size);
		if (!record_is_sound(&e)) {
			model_refused(p, e.probe);
			continue;
		}
		err = model_event(model, &e);
		if (!err && sink)
			err = sink->event(sink->arg, &e);
	}
	return err;
}
