/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/works.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/event.h"
#include "src/collector/model.h"
#include "src/collector/output/fields.h"

#define WORKS_MOST (1u << 20) /* what hostile processes can make us hold */

/* What the record says, but for times and ids that differ from one execution to the next. */
static struct work work_of(const struct event *e)
{
	struct event_work at;
	struct work w = {.process = e->process, .image = e->process->image, .probe = e->probe};

	event_work(e, &at);
	w.device = at.device;
	w.context = at.context;
	w.stream = at.stream;
	if (e->probe == CUPROBE_PROBE_kernel)
		w.name_id = e->kernel->name;
	else if (e->probe == CUPROBE_PROBE_graph)
		w.key = e->graph->graph_id;
	else if (e->probe == CUPROBE_PROBE_memcpy)
		w.key = (__u64)e->memcpy->copy_kind << 16 | (__u64)e->memcpy->src_kind << 8 |
			e->memcpy->dst_kind;
	else
		w.key = e->memset->memory_kind;
	return w;
}

static __u64 work_hash(const struct work *w)
{
	__u64 hash = map_mix(map_mix(map_mix(w->probe, (uintptr_t)w->process), w->image), w->key);

	hash = map_mix(hash, (__u64)w->name_id << 32 | w->device);
	return map_mix(hash, (__u64)w->context << 32 | w->stream);
}

static bool work_is(const void *work, const void *wanted)
{
	const struct work *a = work, *b = wanted;

	return a->process == b->process && a->image == b->image && a->probe == b->probe &&
	       a->key == b->key && a->name_id == b->name_id && a->device == b->device &&
	       a->context == b->context && a->stream == b->stream;
}

static int work_new(struct works *w, __u64 key, const struct work *from, struct work **ret)
{
	struct work *work = malloc(sizeof(*work));

	if (!work || map_insert(&w->by_hash, key, work)) {
		free(work);
		return -ENOMEM;
	}
	*work = *from;
	work->next = w->all;
	w->all = work;
	*ret = work;
	return 0;
}

/* An id stands for a name only in the image that defined it, and its definition may come later. */
static int work_name(const struct works *w, struct work *work)
{
	if (work->name || !work->name_id || work->image != work->process->image ||
	    !process_string(work->process, work->name_id, NULL))
		return 0;
	work->name = strdup(process_name(work->process, work->name_id, w->mangled));
	return work->name ? 0 : -ENOMEM;
}

/* What is not a kernel is named by its record. */
static int work_name_by_event(const struct works *w, struct work *work, const struct event *e)
{
	struct event_name name;

	event_name(&name, e, w->mangled);
	work->name = strndup(name.text, name.bytes);
	return work->name ? 0 : -ENOMEM;
}

int works_get(struct works *w, const struct event *e, struct work **ret)
{
	const struct work wanted = work_of(e);
	__u64 key = work_hash(&wanted);
	int err = 0;

	*ret = map_search(&w->by_hash, &key, work_is, &wanted);
	if (!*ret) {
		err = w->by_hash.count < WORKS_MOST ? work_new(w, key, &wanted, ret) : -ENOMEM;
		if (!err && e->probe != CUPROBE_PROBE_kernel)
			err = work_name_by_event(w, *ret, e);
	}
	return err ? err : work_name(w, *ret);
}

int works_add(struct works *w, const struct work *from, const char *name, struct work **ret)
{
	__u64 key = work_hash(from);
	int err;

	map_search(&w->by_hash, &key, work_is, from);
	err = work_new(w, key, from, ret);
	if (err)
		return err;
	(*ret)->name = strdup(name);
	return (*ret)->name ? 0 : -ENOMEM;
}

int works_finish(struct works *w)
{
	int err = 0;

	for (struct work *i = w->all; i && !err; i = i->next) {
		err = work_name(w, i);
		if (!err && !i->name)
			i->name =
				strdup(i->name_id ? "(a name that was not received)" : "(no name)");
		if (!i->name)
			err = -ENOMEM;
	}
	return err;
}

void works_free(struct works *w)
{
	struct work *next;

	for (struct work *i = w->all; i; i = next) {
		next = i->next;
		free(i->name);
		free(i);
	}
	map_clear(&w->by_hash, NULL);
}
