/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/launches.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "src/collector/map.h"
#include "src/collector/model.h"

#define BUCKET_BITS 18
#define NODES_MOST (1u << 22)
#define ITEMS_LISTED 16 /* of a launch; more have a table */

/* Work of one kind that a launch led to. */
struct item {
	struct item *next;
	struct work *work;
	const struct launch_origin *origin; /* another than the launch's, or NULL */
	__u64 gpu_ns, count;
};

struct launch {
	struct launch *hash_next, *newer;
	const struct process *process;
	__u32 correlation, weight;
	struct launch_origin origin;
	const void *range;
	unsigned int item_count;
	struct item first;  /* not used while its work is NULL */
	struct map by_work; /* the items, once they are many */
};

struct launches {
	struct launches_handler handler;
	bool capture;
	struct map nodes; /* struct launch_origin of captured nodes, by process and id */
	struct launch *buckets[1u << BUCKET_BITS];
	struct launch *oldest, *newest;
	unsigned int count;
};

int launches_open(struct launches **ret, bool capture, const struct launches_handler *handler)
{
	struct launches *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->capture = capture;
	l->handler = *handler;
	*ret = l;
	return 0;
}

static struct launch **bucket_of(struct launches *l, const struct process *p, __u32 correlation)
{
	__u64 key = (__u64)p->number << 32 | correlation;

	return &l->buckets[(key * 0x9e3779b97f4a7c15ull) >> (64 - BUCKET_BITS)];
}

static struct launch *launch_find(struct launches *l, const struct process *p, __u32 correlation)
{
	struct launch *launch = *bucket_of(l, p, correlation);

	while (launch && (launch->correlation != correlation || launch->process != p))
		launch = launch->hash_next;
	return launch;
}

static void launch_free(struct launch *launch)
{
	struct item *next;

	for (struct item *i = launch->first.next; i; i = next) {
		next = i->next;
		free(i);
	}
	map_clear(&launch->by_work, NULL);
	free(launch);
}

static struct launch *oldest_take(struct launches *l)
{
	struct launch *launch = l->oldest, **at;

	at = bucket_of(l, launch->process, launch->correlation);
	while (*at != launch)
		at = &(*at)->hash_next;
	*at = launch->hash_next;
	l->oldest = launch->newer;
	if (!l->oldest)
		l->newest = NULL;
	l->count--;
	return launch;
}

/* Tells of the work of the launch that came first, and forgets it. */
static int oldest_tell(struct launches *l)
{
	struct launch *launch = oldest_take(l);
	__u64 weight = launch->origin.known ? launch->weight : CUPROBE_LAUNCH_WEIGHT_ONE;
	int err = 0;

	for (const struct item *i = launch->first.work ? &launch->first : NULL; i && !err;
	     i = i->next) {
		err = l->handler.work(l->handler.arg, i->origin ? i->origin : &launch->origin,
				      launch->range, i->work, i->gpu_ns, i->count, weight);
		weight = 0;
	}
	launch_free(launch);
	return err;
}

static int launch_get(struct launches *l, const struct process *p, __u32 correlation,
		      struct launch **ret)
{
	struct launch *launch = launch_find(l, p, correlation), **bucket;
	int err = 0;

	*ret = launch;
	if (launch)
		return 0;
	if (l->count == LAUNCHES_MOST)
		err = oldest_tell(l);
	launch = err ? NULL : calloc(1, sizeof(*launch));
	if (!launch)
		return err ? err : -ENOMEM;
	launch->process = p;
	launch->correlation = correlation;
	bucket = bucket_of(l, p, correlation);
	launch->hash_next = *bucket;
	*bucket = launch;
	if (l->newest)
		l->newest->newer = launch;
	else
		l->oldest = launch;
	l->newest = launch;
	l->count++;
	*ret = launch;
	return 0;
}

static int origin_read(const struct event *e, struct launch_origin *ret)
{
	struct stack *stack = NULL;
	int err = e->launch->stack ? process_stack(e->process, e->launch->stack, &stack) : 0;

	*ret = (struct launch_origin){true, stack, e->launch->thread, e->launch->domain_api};
	return err == -ENOSPC ? 0 : err;
}

static __u64 node_key(const struct process *p, __u64 node)
{
	return node ^ (__u64)p->number << 40;
}

/* The same node id stands for another node once its graph is gone: the newest holds. */
static int node_add(struct launches *l, const struct event *e)
{
	__u64 key = node_key(e->process, e->launch->graph_node_id);
	struct launch_origin *origin = map_find(&l->nodes, key);
	int err;

	if (origin)
		return origin_read(e, origin);
	if (!l->capture || l->nodes.count >= NODES_MOST)
		return 0;
	origin = calloc(1, sizeof(*origin));
	if (!origin)
		return -ENOMEM;
	err = origin_read(e, origin);
	if (!err)
		err = map_insert(&l->nodes, key, origin);
	if (err)
		free(origin);
	return err;
}

int launches_launch(struct launches *l, const struct event *e)
{
	struct launch *launch;
	int err;

	if (!e->launch->correlation)
		return node_add(l, e);
	err = launch_get(l, e->process, e->launch->correlation, &launch);
	if (err)
		return err;
	launch->weight = e->launch->weight;
	return origin_read(e, &launch->origin);
}

static bool item_is(const void *item, const void *wanted)
{
	const struct item *a = item, *b = wanted;

	return a->work == b->work && a->origin == b->origin;
}

static __u64 item_key(const struct item *i)
{
	return map_mix(map_mix(0, (uintptr_t)i->work), (uintptr_t)i->origin);
}

static int item_note(struct launch *launch, struct item *item)
{
	__u64 key = item_key(item);

	map_search(&launch->by_work, &key, item_is, item);
	return map_insert(&launch->by_work, key, item);
}

static int items_note(struct launch *launch)
{
	int err = 0;

	for (struct item *i = &launch->first; i && !err; i = i->next)
		err = item_note(launch, i);
	return err;
}

static struct item *item_find(struct launch *launch, const struct item *wanted)
{
	struct item *i = &launch->first;
	__u64 key = item_key(wanted);

	if (launch->item_count > ITEMS_LISTED)
		return map_search(&launch->by_work, &key, item_is, wanted);
	while (i && !item_is(i, wanted))
		i = i->next;
	return i;
}

static struct item *item_new(struct launch *launch, const struct item *from)
{
	struct item *i = calloc(1, sizeof(*i));
	int err = 0;

	if (!i)
		return NULL;
	*i = *from;
	i->next = launch->first.next;
	launch->first.next = i;
	launch->item_count++;
	if (launch->item_count == ITEMS_LISTED + 1)
		err = items_note(launch);
	else if (launch->item_count > ITEMS_LISTED)
		err = item_note(launch, i);
	return err ? NULL : i;
}

/* The item of this work and origin. */
static struct item *item_get(struct launch *launch, struct work *work,
			     const struct launch_origin *origin)
{
	const struct item wanted = {.work = work, .origin = origin};
	struct item *i;

	if (!launch->first.work) {
		launch->first = wanted;
		launch->item_count = 1;
		return &launch->first;
	}
	i = item_find(launch, &wanted);
	return i ? i : item_new(launch, &wanted);
}

int launches_work(struct launches *l, const struct event *e, struct work *work)
{
	static const struct launch_origin unknown;
	struct launch_origin *origin = NULL;
	struct launch *launch;
	struct event_work w;
	struct item *item;
	int err;

	event_work(e, &w);
	if (!w.correlation)
		return l->handler.work(l->handler.arg, &unknown, NULL, work, w.end_ns - w.start_ns,
				       1, CUPROBE_LAUNCH_WEIGHT_ONE);
	err = launch_get(l, e->process, w.correlation, &launch);
	if (err)
		return err;
	if (l->capture && w.graph_node_id)
		origin = map_find(&l->nodes, node_key(e->process, w.graph_node_id));
	item = item_get(launch, work, origin);
	if (!item)
		return -ENOMEM;
	item->gpu_ns += w.end_ns - w.start_ns;
	item->count++;
	return 0;
}

void launches_set_range(struct launches *l, const struct process *p, __u32 correlation,
			const void *range)
{
	struct launch *launch = launch_find(l, p, correlation);

	if (launch)
		launch->range = range;
}

int launches_finish(struct launches *l)
{
	int err = 0;

	while (l->oldest && !err)
		err = oldest_tell(l);
	return err;
}

void launches_free(struct launches *l)
{
	if (!l)
		return;
	while (l->oldest)
		launch_free(oldest_take(l));
	map_clear(&l->nodes, free);
	free(l);
}
