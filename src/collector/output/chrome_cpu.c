/* SPDX-License-Identifier: Apache-2.0 */
/* What CPU threads did: API calls, waiting, and CUPTI's own overhead. */
#include "src/collector/output/chrome.h"

#include <errno.h>

#include "src/collector/model.h"
#include "src/collector/names.h"

static void put_flow_start(struct sink *s, const struct flow_call *call)
{
	char *p = output_room(s->out, CHROME_ARGS_BYTES);

	p = PUT(p, "{\"ph\":\"s\",\"id\":");
	p = put_u64(p, call->id);
	p = PUT(p, ",\"pid\":");
	p = put_u64(p, call->lane->group->pid);
	p = PUT(p, ",\"tid\":");
	p = put_u64(p, call->lane->tid);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, call->api.start_ns);
	p = PUT(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n");
	output_done(s->out, p);
}

/* HTA takes every launch call with a correlation id for one more launch: inner calls have none. */
static char *put_correlation(char *p, __u32 correlation, bool inner)
{
	p = inner ? PUT(p, ",\"runtime correlation\":") : PUT(p, ",\"correlation\":");
	return put_u64(p, correlation);
}

void chrome_call(void *sink, const struct flow_call *call, bool inner)
{
	const struct cuprobe_api *a = &call->api;
	const char *category = a->domain == CUPROBE_API_RUNTIME ? "cuda_runtime" : "cuda_driver";
	struct sink *s = sink;
	char *p = chrome_slice(s, category, call->lane, a->start_ns, a->end_ns, call->name->text,
			       call->name->bytes);

	p = put_u64(PUT(p, "\"cbid\":"), a->cbid);
	p = put_correlation(p, a->correlation, inner);
	if (a->return_value)
		p = put_u64(PUT(p, ",\"return value\":"), a->return_value);
	chrome_end(s, p);
	if (s->flows && call->name->enqueues && a->correlation && !inner)
		put_flow_start(s, call);
}

int chrome_api(struct sink *s, const struct event *e)
{
	const struct cuprobe_api *a = e->api;
	struct flow_call call = {.id = flow_id(e->process->number, a->correlation), .api = *a};

	call.name = chrome_api_name(s, e->process, a->name);
	call.lane = lanes_slice(s->lanes, e->process, LANE_THREAD, CUPROBE_NO_ID, 0, a->thread,
				a->start_ns, a->end_ns);
	if (!call.name || !call.lane)
		return -ENOMEM;
	if (s->flows && call.name->enqueues && a->correlation)
		flows_add(s->flows, &call);
	else
		chrome_call(s, &call, false);
	return s->out->err;
}

/* The newest records of events, to tell which stream a wait for an event waited for. */
static struct recorded_event *recorded_slot(struct sink *s, __u64 key)
{
	return &s->recorded[(key * 0x9e3779b97f4a7c15ull) >> 50];
}

static __u64 recorded_key(const struct process *p, __u64 event, bool by_sync_id)
{
	return ((__u64)p->number << 33 | (__u64)by_sync_id << 32 | (event & 0xffffffff)) + 1;
}

static void remember_record(struct sink *s, const struct process *p, const struct cuprobe_sync *y)
{
	__u64 keys[] = {recorded_key(p, y->event, false), recorded_key(p, y->event_sync_id, true)};

	for (int i = 0; i < 1 + (y->event_sync_id != 0); i++) {
		struct recorded_event *slot = recorded_slot(s, keys[i]);

		slot->key = keys[i];
		slot->stream = y->stream;
		slot->correlation = y->correlation;
	}
}

static char *put_waited_for(struct sink *s, char *p, const struct process *process,
			    const struct cuprobe_sync *y)
{
	__u64 key = recorded_key(process, y->event_sync_id, true);
	const struct recorded_event *slot = recorded_slot(s, key);

	if (!y->event_sync_id || slot->key != key) {
		key = recorded_key(process, y->event, false);
		slot = recorded_slot(s, key);
	}

	if (y->event == CUPROBE_NO_ID)
		return p;
	if (slot->key == key) {
		p = PUT(p, "\"wait_on_stream\":");
		p = put_u64(p, slot->stream);
		p = PUT(p, ",\"wait_on_cuda_event_record_corr_id\":");
		p = put_u64(p, slot->correlation);
		*p++ = ',';
	}
	p = PUT(p, "\"wait_on_cuda_event_id\":");
	p = put_u64(p, y->event);
	*p++ = ',';
	return p;
}

static __u32 sync_device(const struct process *p, const struct cuprobe_sync *y)
{
	const struct cuprobe_info_context *context;

	if (y->device != CUPROBE_NO_ID)
		return y->device;
	context = process_context(p, y->context);
	return context ? context->device : CUPROBE_NO_ID;
}

int chrome_sync(struct sink *s, const struct event *e)
{
	const struct cuprobe_sync *y = e->sync;
	const char *name = sync_kind_name(y->kind);
	const struct lane *lane;
	__u32 device;
	char *p;

	if (y->kind == CUPROBE_SYNC_EVENT_RECORD) { /* has no time on this timeline */
		remember_record(s, e->process, y);
		return 0;
	}
	device = sync_device(e->process, y);
	lane = lanes_slice(s->lanes, e->process, LANE_SYNC, device, y->context, y->stream,
			   y->start_ns, y->end_ns);
	if (!lane)
		return -ENOMEM;
	p = chrome_slice(s, "cuda_sync", lane, y->start_ns, y->end_ns, name, strlen(name));
	p = PUT(p, "\"cuda_sync_kind\":\"");
	p = put_bytes(p, name, strlen(name));
	p = PUT(p, "\",");
	p = put_waited_for(s, p, e->process, y);
	if (y->stream != CUPROBE_NO_ID) {
		p = PUT(p, "\"on stream\":");
		p = put_u64(p, y->stream);
		*p++ = ',';
	}
	if (device != CUPROBE_NO_ID) {
		p = PUT(p, "\"device\":");
		p = put_u64(p, device);
		*p++ = ',';
	}
	p = PUT(p, "\"context\":");
	p = put_u64(p, y->context);
	p = PUT(p, ",\"correlation\":");
	p = put_u64(p, y->correlation);
	return chrome_end(s, p);
}

int chrome_overhead(struct sink *s, const struct event *e)
{
	const struct cuprobe_overhead *o = e->overhead;
	const char *name = overhead_kind_name(o->kind);
	const struct lane *lane = lanes_slice(s->lanes, e->process, LANE_OVERHEAD, CUPROBE_NO_ID, 0,
					      o->thread, o->start_ns, o->end_ns);

	if (!lane)
		return -ENOMEM;
	return chrome_end(
		s, chrome_slice(s, "overhead", lane, o->start_ns, o->end_ns, name, strlen(name)));
}
