/* SPDX-License-Identifier: Apache-2.0 */
/* One process: strings, devices, contexts, streams, threads, messages, the library's ledger. */
#include "src/collector/process.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct process *process_new(__u32 pid, __u64 start_ns)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->private = calloc(1, sizeof(*p->private));
	if (!p->private) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->start_ns = start_ns;
	return p;
}

void process_free(struct process *p)
{
	struct process_private *private = p->private;
	struct process_message *next;

	for (struct process_message *m = private->messages; m; m = next) {
		next = m->next;
		free(m);
	}
	for (unsigned int i = 0; i < private->device_count; i++)
		free(private->devices[i]);
	map_clear(&private->contexts, free);
	map_clear(&private->streams, free);
	map_clear(&private->stalls, free);
	map_clear(&private->sampling, free);
	map_clear(&private->threads, NULL);
	nvtx_names_clear(&private->nvtx);
	stacks_free(&private->stacks);
	symbols_free(&private->symbols);
	strings_free(&private->strings);
	free(private);
	free(p->command);
	free(p);
}

void process_new_image(struct process *p)
{
	struct process_private *private = p->private;

	for (struct process_message *m = private->messages; m; m = m->next) {
		m->text = process_message_text(p, m);
		m->remedy = process_message_remedy(p, m);
	}
	for (int i = 0; i < CUPROBE_PROBE_COUNT; i++) {
		p->ledgers[i].first_seq = p->ledgers[i].next_seq = 0;
		p->ledgers[i].library_known = true; /* the new image's is ours from the start */
		private->past[i] = p->ledgers[i].library;
		private->before[i] = (struct cuprobe_status_ledger){0};
	}
	process_settle_stacks(p);
	stacks_forget(&private->stacks);
	symbols_forget(&private->symbols);
	strings_forget(&private->strings);
	map_clear(&private->stalls, free);
	nvtx_names_clear(&private->nvtx);
	p->image++;
}

/* Keeps the newest version of `value` under `key`. */
static int map_keep(struct map *map, __u64 key, const void *value, size_t bytes, size_t limit)
{
	void *kept = map_find(map, key);
	int err;

	if (kept) {
		memcpy(kept, value, bytes);
		return 0;
	}
	if (map->count >= limit)
		return -ENOSPC;
	kept = malloc(bytes);
	if (!kept)
		return -ENOMEM;
	memcpy(kept, value, bytes);
	err = map_insert(map, key, kept);
	if (err)
		free(kept);
	return err;
}

static unsigned int device_index(const struct process_private *private, __u32 id)
{
	unsigned int i = 0;

	while (i < private->device_count && private->devices[i]->id < id)
		i++;
	return i;
}

static int process_set_device(struct process *p, const struct cuprobe_info_device *device)
{
	struct process_private *private = p->private;
	unsigned int i = device_index(private, device->id);
	struct cuprobe_info_device *copy;

	if (i < private->device_count && private->devices[i]->id == device->id) {
		*private->devices[i] = *device;
		return 0;
	}
	if (private->device_count == PROCESS_DEVICES)
		return -ENOSPC;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *device;
	memmove(&private->devices[i + 1], &private->devices[i],
		(private->device_count - i) * sizeof(copy));
	private->devices[i] = copy;
	private->device_count++;
	return 0;
}

/* Of a stream in a context, a stall reason of a device. */
static __u64 pair_key(__u32 high, __u32 low)
{
	return (__u64)high << 32 | low;
}

int process_set_info(struct process *p, const struct cuprobe_info *info)
{
	switch (info->type) {
	case CUPROBE_INFO_PROCESS:
		p->info = info->process;
		p->info_known = true;
		return 0;
	case CUPROBE_INFO_DEVICE:
		return process_set_device(p, &info->device);
	case CUPROBE_INFO_CONTEXT:
		return map_keep(&p->private->contexts, info->context.id, &info->context,
				sizeof(info->context), PROCESS_CONTEXTS);
	case CUPROBE_INFO_STREAM:
		return map_keep(&p->private->streams,
				pair_key(info->stream.context, info->stream.id), &info->stream,
				sizeof(info->stream), PROCESS_STREAMS);
	case CUPROBE_INFO_STALL_REASON:
		return map_keep(&p->private->stalls,
				pair_key(info->stall_reason.device, info->stall_reason.index),
				&info->stall_reason, sizeof(info->stall_reason), PROCESS_STALLS);
	case CUPROBE_INFO_PC_SAMPLING:
		return map_keep(&p->private->sampling, info->pc_sampling.context,
				&info->pc_sampling, sizeof(info->pc_sampling), PROCESS_CONTEXTS);
	case CUPROBE_INFO_NVTX_DOMAIN:
	case CUPROBE_INFO_NVTX_CATEGORY:
	case CUPROBE_INFO_NAME:
		return nvtx_names_add(&p->private->nvtx, info);
	default: /* of a newer library */
		return 0;
	}
}

static bool message_equal(const struct process_message *m, const struct cuprobe_status_message *b)
{
	return !m->text && m->message.severity == b->severity && m->message.code == b->code &&
	       m->message.text == b->text && m->message.remedy == b->remedy;
}

static int process_add_message(struct process *p, const struct cuprobe_status *status)
{
	struct process_private *private = p->private;
	struct process_message *m;

	for (m = private->messages; m; m = m->next) {
		if (message_equal(m, &status->message)) {
			m->count += status->time_ns != m->time_ns; /* else a replay */
			return 0;
		}
	}
	if (private->message_count == PROCESS_MESSAGES)
		return -ENOSPC;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->time_ns = status->time_ns;
	m->count = 1;
	m->message = status->message;
	if (private->last_message)
	private->last_message->next = m;
	else private->messages = m;
	private->last_message = m;
	private->message_count++;
	return 0;
}

static void ledger_add(struct cuprobe_status_ledger *l, const struct cuprobe_status_ledger *other)
{
	l->produced += other->produced;
	l->fired += other->fired;
	l->discarded += other->discarded;
	l->invalid += other->invalid;
	l->lost += other->lost;
	l->cupti_dropped += other->cupti_dropped;
	l->unknown += other->unknown;
}

/* What was fired or on its way `before` that, and came to us, stays. */
static void ledger_leave_out(struct cuprobe_status_ledger *l,
			     const struct cuprobe_status_ledger *before, __u64 first_seq)
{
	__u64 came = before->fired > first_seq ? before->fired - first_seq : 0;

	l->produced -= before->produced - before->pending - came;
	l->fired -= before->fired - came;
	l->discarded -= before->discarded;
	l->invalid -= before->invalid;
	l->lost -= before->lost;
	l->cupti_dropped -= before->cupti_dropped;
	l->unknown -= before->unknown;
}

/* Who comes is told the ledger at once: where others were, what it has is theirs. */
static void process_set_ledger(struct process *p, const struct cuprobe_status_ledger *newest)
{
	bool others_were_there = p->ledgers[CUPROBE_PROBE_status].first_seq > 0;
	struct cuprobe_status_ledger *before = &p->private->before[newest->probe];
	struct ledger *l = &p->ledgers[newest->probe];

	if (others_were_there && !l->library_known)
		*before = *newest;
	l->library_known = true;
	l->library = *newest;
	ledger_leave_out(&l->library, before, l->seen ? l->first_seq : before->fired);
	ledger_add(&l->library, &p->private->past[newest->probe]);
}

int process_set_status(struct process *p, const struct cuprobe_status *status)
{
	switch (status->type) {
	case CUPROBE_STATUS_STATE:
		p->state = status->state.state;
		p->active_probes = status->state.active_probes;
		p->states |= p->state < 32 ? 1u << p->state : 0;
		return 0;
	case CUPROBE_STATUS_MESSAGE:
		return process_add_message(p, status);
	case CUPROBE_STATUS_LEDGER:
		process_set_ledger(p, &status->ledger);
		if (status->ledger.probe == CUPROBE_PROBE_status) /* the last of them */
			p->ledger_ns = status->time_ns;
		return 0;
	default:
		return 0;
	}
}

int process_set_thread(struct process *p, __u32 thread, __u32 tid)
{
	struct map *threads = &p->private->threads;

	if (!tid || map_find(threads, thread))
		return 0;
	if (threads->count >= PROCESS_THREADS)
		return -ENOSPC;
	return map_insert(threads, thread, (void *)(uintptr_t)tid);
}

__u32 process_thread(const struct process *p, __u32 thread)
{
	uintptr_t tid = (uintptr_t)map_find(&p->private->threads, thread);

	return tid ? (__u32)tid : thread;
}

const char *process_string(const struct process *p, __u32 id, size_t *ret_bytes)
{
	const struct string *string = strings_find(&p->private->strings, id);

	if (!string)
		return NULL;
	if (ret_bytes)
		*ret_bytes = string->total_bytes;
	return string->text;
}

const char *process_name(struct process *p, __u32 id, bool mangled)
{
	struct string *string = strings_find(&p->private->strings, id);
	static char unknown[16];

	if (!id)
		return "";
	if (string)
		return mangled ? string->text : strings_readable(&p->private->strings, string);
	snprintf(unknown, sizeof(unknown), "?%u", id);
	return unknown;
}

int process_stack(struct process *p, __u32 id, struct stack **ret)
{
	return stacks_get(&p->private->stacks, id, ret);
}

void process_settle_stacks(struct process *p)
{
	stacks_settle(&p->private->stacks, &p->private->strings, &p->private->symbols);
}

const struct frame *process_frames(const struct process *p, const struct frame **ret_end)
{
	*ret_end = p->private->stacks.before;
	return p->private->stacks.frames;
}

const struct cuprobe_info_device *process_device(const struct process *p, __u32 device)
{
	unsigned int i = device_index(p->private, device);

	if (i < p->private->device_count && p->private->devices[i]->id == device)
		return p->private->devices[i];
	return NULL;
}

const struct cuprobe_info_context *process_context(const struct process *p, __u32 context)
{
	return map_find(&p->private->contexts, context);
}

const struct cuprobe_info_stream *process_stream(const struct process *p, __u32 context,
						 __u32 stream)
{
	return map_find(&p->private->streams, pair_key(context, stream));
}

const char *process_stall_reason(const struct process *p, __u32 device, __u32 stall)
{
	static const char prefix[] = "smsp__pcsamp_warps_issue_stalled_";
	const struct cuprobe_info_stall_reason *reason =
		map_find(&p->private->stalls, pair_key(device, stall));
	const char *name = reason ? process_string(p, reason->name, NULL) : NULL;

	if (name && !strncmp(name, prefix, sizeof(prefix) - 1))
		name += sizeof(prefix) - 1;
	return name;
}

const struct cuprobe_info_pc_sampling *process_pc_sampling(const struct process *p, __u32 context)
{
	return map_find(&p->private->sampling, context);
}

void process_each_device(const struct process *p,
			 void (*each)(void *arg, const struct cuprobe_info_device *d), void *arg)
{
	for (unsigned int i = 0; i < p->private->device_count; i++)
		each(arg, p->private->devices[i]);
}

const struct process_message *process_messages(const struct process *p)
{
	return p->private->messages;
}

const char *process_message_text(const struct process *p, const struct process_message *m)
{
	const char *text = m->text ? m->text : process_string(p, m->message.text, NULL);

	return text ? text : "";
}

const char *process_message_remedy(const struct process *p, const struct process_message *m)
{
	const char *text = m->text ? m->remedy : process_string(p, m->message.remedy, NULL);

	return text ? text : "";
}
