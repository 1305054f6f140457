/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/chrome.h"

#include <stdio.h>

#include "src/collector/capture.h"
#include "src/collector/model.h"
#include "src/collector/nvtx_names.h"

#define GPU_SORT_INDEX 5000000	       /* plus the device: below all CPU processes */
#define OVERHEAD_SORT_INDEX 0x10000000 /* below the GPUs */
#define NAME_MOST_BYTES 256
#define OBJECT_MOST_BYTES 64 /* of a name that the application gave to something */

static char *put_name(char *p, const char *text)
{
	size_t bytes = strlen(text);

	return put_json(p, text, bytes < NAME_MOST_BYTES ? bytes : NAME_MOST_BYTES);
}

struct device_list {
	char *at, *end;
	const struct process *process;
	__u32 first_free; /* devices below are listed already */
	__u32 next_free;
	bool any;
};

static char *put_number(char *p, const char *name, __u64 value)
{
	*p++ = ',';
	*p++ = '"';
	p = put_bytes(p, name, strlen(name));
	p = PUT(p, "\":");
	return put_u64(p, value);
}

static void put_device(void *arg, const struct cuprobe_info_device *d)
{
	struct device_list *list = arg;
	const char *name = process_string(list->process, d->name, NULL);
	char *p = list->at;

	if (d->id < list->first_free || list->end - p < 2048 + NAME_MOST_BYTES * JSON_GROWTH)
		return;
	if (d->id >= list->next_free)
		list->next_free = d->id + 1;
	p = list->any ? PUT(p, ",\n{\"id\":") : PUT(p, "\n{\"id\":");
	p = put_u64(p, d->id);
	p = PUT(p, ",\"name\":\"");
	p = put_name(p, name ? name : "");
	*p++ = '"';
	p = put_number(p, "totalGlobalMem", d->memory_bytes);
	p = put_number(p, "computeMajor", d->compute_major);
	p = put_number(p, "computeMinor", d->compute_minor);
	p = put_number(p, "maxThreadsPerBlock", d->max_threads_per_block);
	p = put_number(p, "maxThreadsPerMultiprocessor",
		       (__u64)d->max_warps_per_multiprocessor * d->warp_size);
	p = put_number(p, "regsPerBlock", d->registers_per_block);
	p = put_number(p, "warpSize", d->warp_size);
	p = put_number(p, "sharedMemPerBlock", d->shared_bytes_per_block);
	p = put_number(p, "numSms", d->multiprocessors);
	p = put_number(p, "regsPerMultiprocessor", d->registers_per_multiprocessor);
	p = put_number(p, "sharedMemPerMultiprocessor", d->shared_bytes_per_multiprocessor);
	*p++ = '}';
	list->at = p;
	list->any = true;
}

/* Device numbers are per process; of those that several have, the first one's is told. */
static char *put_devices(const struct sink *s, char *p, char *end)
{
	struct device_list list = {.at = PUT(p, "\"deviceProperties\":["), .end = end};

	for (struct process *q = model_processes(s->opts.model); q; q = q->next) {
		list.process = q;
		list.first_free = list.next_free;
		process_each_device(q, put_device, &list);
	}
	return PUT(list.at, "],\n");
}

/* HTA looks for the rank with a space behind the colon, and takes one trace without for rank 0. */
static char *put_rank(const struct sink *s, char *p)
{
	const struct process *q = model_processes(s->opts.model);

	while (q && (!q->info_known || q->info.rank == CUPROBE_NO_ID))
		q = q->next;
	p = PUT(p, "\"distributedInfo\":{\"rank\": ");
	p = put_u64(p, q ? q->info.rank : 0);
	if (q && q->info.world_size != CUPROBE_NO_ID) {
		p = PUT(p, ",\"world_size\": ");
		p = put_u64(p, q->info.world_size);
	}
	return PUT(p, "},\n");
}

size_t chrome_put_head(const struct sink *s, char *p)
{
	char *start = p, *end = p + CHROME_HEAD_BYTES;

	p = PUT(p, "{\"schemaVersion\":1,\n");
	p = put_rank(s, p);
	p = put_devices(s, p, end);
	return (size_t)(p - start);
}

static char *put_metadata(struct sink *s, const char *what, __u32 pid, __u32 tid, __u64 time_ns,
			  const char *key)
{
	char *p = output_room(s->out, CHROME_ARGS_BYTES);

	p = PUT(p, "{\"ph\":\"M\",\"name\":\"");
	p = put_bytes(p, what, strlen(what));
	p = PUT(p, "\",\"pid\":");
	p = put_u64(p, pid);
	p = PUT(p, ",\"tid\":");
	p = put_u64(p, tid);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, time_ns);
	p = PUT(p, ",\"args\":{\"");
	p = put_bytes(p, key, strlen(key));
	return PUT(p, "\":");
}

static void put_text_metadata(struct sink *s, const char *what, __u32 pid, __u32 tid, __u64 time_ns,
			      const char *key, const char *text)
{
	char *p = put_metadata(s, what, pid, tid, time_ns, key);

	*p++ = '"';
	p = put_name(p, text);
	*p++ = '"';
	chrome_end(s, p);
}

static void put_number_metadata(struct sink *s, const char *what, __u32 pid, __u32 tid,
				__u64 time_ns, __u64 number)
{
	chrome_end(s, put_u64(put_metadata(s, what, pid, tid, time_ns, "sort_index"), number));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The program's name, without its arguments. */
static void program_name(const struct process *p, char *name, size_t size)
{
	const char *path = p->info_known ? process_string(p, p->info.executable, NULL) : NULL;

	if (path)
		snprintf(name, size, "%s", base_name(path));
	else if (p->command)
		snprintf(name, size, "%.*s", (int)strcspn(p->command, " "), p->command);
	else
		snprintf(name, size, "process");
}

static void put_group(struct sink *s, const struct lane_group *g)
{
	bool gpu = g->device != CUPROBE_NO_ID;
	char program[NAME_MOST_BYTES / 2], name[NAME_MOST_BYTES], label[32] = "CPU";
	__u64 order = g->process->pid;

	program_name(g->process, program, sizeof(program));
	if (g->overhead) {
		snprintf(name, sizeof(name), "Overhead of %s %u", program, g->process->pid);
		snprintf(label, sizeof(label), "overhead");
		order = OVERHEAD_SORT_INDEX + g->process->number;
	} else if (gpu) {
		const char *called = process_object_name(g->process, CUPROBE_OBJECT_DEVICE,
							 CUPROBE_NO_ID, g->device);

		snprintf(name, sizeof(name), "GPU %u%s%.*s of %s %u", g->device, called ? " " : "",
			 OBJECT_MOST_BYTES, called ? called : "", program, g->process->pid);
		snprintf(label, sizeof(label), "GPU %u", g->device);
		order = GPU_SORT_INDEX + (__u64)g->device;
	} else if (g->pid != g->process->pid) {
		snprintf(name, sizeof(name), "%s %u (later process)", program, g->process->pid);
	} else {
		snprintf(name, sizeof(name), "%s", program);
	}
	put_text_metadata(s, "process_name", g->pid, 0, g->first_ns, "name", name);
	put_text_metadata(s, "process_labels", g->pid, 0, g->first_ns, "labels", label);
	put_number_metadata(s, "process_sort_index", g->pid, 0, g->first_ns, order);
}

static int thread_words(const struct process *p, __u32 thread, char *name, size_t size)
{
	const char *called = process_object_name(p, CUPROBE_OBJECT_THREAD, CUPROBE_NO_ID, thread);

	if (called)
		return snprintf(name, size, "%.*s", OBJECT_MOST_BYTES, called);
	return snprintf(name, size, "thread %u", process_thread(p, thread));
}

static int stream_words(const struct process *p, __u32 context, __u32 stream, char *name,
			size_t size)
{
	const char *called = process_object_name(p, CUPROBE_OBJECT_STREAM, context, stream);

	if (called)
		return snprintf(name, size, "stream %u %.*s", stream, OBJECT_MOST_BYTES, called);
	return snprintf(name, size, "stream %u", stream);
}

static int context_words(const struct process *p, __u32 context, char *name, size_t size)
{
	const char *called = process_object_name(p, CUPROBE_OBJECT_CONTEXT, CUPROBE_NO_ID, context);

	if (called)
		return snprintf(name, size, "context %u %.*s", context, OBJECT_MOST_BYTES, called);
	return snprintf(name, size, "context %u", context);
}

static int sync_words(const struct lane *lane, char *name, size_t size)
{
	const struct process *p = lane->group->process;
	int n = lane->id == CUPROBE_NO_ID ? context_words(p, lane->context, name, size)
					  : stream_words(p, lane->context, lane->id, name, size);

	return n + snprintf(name + n, size - (size_t)n, " (sync)");
}

static int lane_words(const struct sink *s, const struct lane *lane, char *name, size_t size)
{
	const struct process *p = lane->group->process;
	bool none = lane->id == CUPROBE_NO_ID;

	switch (lane->kind) {
	case LANE_THREAD:
		if (none)
			return snprintf(name, size, "other threads");
		return thread_words(p, lane->id, name, size);
	case LANE_STREAM:
		if (none)
			return snprintf(name, size, "other streams");
		return stream_words(p, lane->context, lane->id, name, size);
	case LANE_SYNC:
		return sync_words(lane, name, size);
	case LANE_MEMORY:
		return snprintf(name, size, "unified memory");
	case LANE_NVTX:
	case LANE_ANNOTATION:
		return chrome_nvtx_lane_words(s, lane, name, size);
	default:
		return none ? snprintf(name, size, "no thread")
			    : thread_words(p, lane->id, name, size);
	}
}

/* NVTX lanes come right behind the thread or stream that they belong to. */
static __u32 lane_order(const struct lane *lane)
{
	switch (lane->kind) {
	case LANE_STREAM:
	case LANE_SYNC:
		return lane->id == CUPROBE_NO_ID ? LANE_SYNC_TID : lane->id;
	case LANE_ANNOTATION:
		return lane->id;
	case LANE_NVTX:
		return process_thread(lane->group->process, lane->id);
	default:
		return lane->tid;
	}
}

static void put_lane(struct sink *s, const struct lane *lane)
{
	bool stream = lane->kind == LANE_STREAM || lane->kind == LANE_SYNC;
	__u32 pid = lane->group->pid;
	char name[NAME_MOST_BYTES];
	int n = lane_words(s, lane, name, sizeof(name));

	if (stream && lane->id != CUPROBE_NO_ID && lane_is_ambiguous(lane))
		n += snprintf(name + n, sizeof(name) - (size_t)n, " of context %u", lane->context);
	if (lane->overlap)
		snprintf(name + n, sizeof(name) - (size_t)n, " (overlapping %u)", lane->overlap);
	put_text_metadata(s, "thread_name", pid, lane->tid, lane->first_ns, "name", name);
	put_number_metadata(s, "thread_sort_index", pid, lane->tid, lane->first_ns,
			    lane_order(lane));
}

void chrome_put_lanes(struct sink *s)
{
	for (const struct lane_group *g = lanes_groups(s->lanes); g; g = g->next) {
		put_group(s, g);
		for (const struct lane *lane = g->lanes; lane; lane = lane->next)
			put_lane(s, lane);
	}
}

static char *put_ledger(char *p, const struct process *q, unsigned int probe)
{
	const struct ledger *l = &q->ledgers[probe];
	const char *name = probe_name(probe);

	p = PUT(p, "{\"pid\":");
	p = put_u64(p, q->pid);
	p = PUT(p, ",\"probe\":\"");
	p = put_bytes(p, name, strlen(name));
	*p++ = '"';
	p = put_number(p, "delivered", l->delivered);
	p = put_number(p, "refused", l->refused);
	p = put_number(p, "lost", ledger_lost(l));
	p = put_number(p, "produced", l->library.produced);
	p = put_number(p, "fired", l->library.fired);
	p = put_number(p, "discarded", l->library.discarded);
	p = put_number(p, "invalid", l->library.invalid);
	p = put_number(p, "lost in the library", l->library.lost);
	*p++ = '}';
	return p;
}

static void put_ledgers(struct sink *s)
{
	bool any = false;

	for (struct process *q = model_processes(s->opts.model); q; q = q->next) {
		for (unsigned int i = 0; i < CUPROBE_PROBE_COUNT; i++) {
			if (!q->ledgers[i].seen && !q->ledgers[i].library.produced)
				continue;
			output_put(s->out, ",\n", any ? 2 : 0);
			output_done(s->out, put_ledger(output_room(s->out, 1024), q, i));
			any = true;
		}
	}
}

/* An instant across all lanes, which also spares the list a comma behind its last element. */
static void put_last_event(struct sink *s)
{
	const struct session_info *info = s->opts.info;
	const struct lane_group *g = lanes_groups(s->lanes);
	char *p = output_room(s->out, CHROME_ARGS_BYTES);
	__u64 end_ns = info && info->end_ns > s->last_ns ? info->end_ns : s->last_ns;

	p = PUT(p, "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\",\"pid\":");
	p = put_u64(p, g ? g->pid : 0);
	p = PUT(p, ",\"tid\":");
	p = put_u64(p, g && g->lanes ? g->lanes->tid : 0);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, end_ns);
	p = PUT(p, ",\"args\":{\"records lost\":");
	p = put_u64(p, model_lost(s->opts.model));
	output_done(s->out, PUT(p, "}}\n],\n"));
}

void chrome_put_tail(struct sink *s)
{
	const struct session_info *info = s->opts.info;
	char *p;

	put_last_event(s);
	if (!output_has_head(s->out)) {
		p = put_rank(s, output_room(s->out, CHROME_HEAD_BYTES));
		output_done(s->out, put_devices(s, p, p + CHROME_HEAD_BYTES - 256));
	}
	p = PUT(output_room(s->out, CHROME_ARGS_BYTES),
		"\"cuprobe\":{\"version\":\"" CUPROBE_VERSION "\",\"host\":\"");
	p = put_name(p, info ? info->host : "");
	output_done(s->out, PUT(p, "\",\"ledger\":[\n"));
	put_ledgers(s);
	p = PUT(output_room(s->out, CHROME_ARGS_BYTES), "]},\n\"traceName\":\"");
	p = put_json(p, s->opts.path, strnlen(s->opts.path, 512));
	output_done(s->out, PUT(p, "\"}\n"));
}
