/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/nvtx_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/map.h"
#include "src/collector/model.h"
#include "src/collector/names.h"
#include "src/collector/nvtx_gpu.h"

#define SLOT_NS 1048576ull /* items are sorted within that much time */
#define SLOTS 16384u	   /* 17 s: more than JOIN_LAUNCH_NS */
#define JOIN_CALLS_NS                                                                              \
	300000000ull		     /* records of several threads' calls are out of order by that \
				      */
#define JOIN_ACTIVE_NS 2000000000ull /* a process that told of no call for so long has none */
#define JOIN_LOOK_NS 10000000ull
#define BUCKETS (1u << 18)

/* An NVTX event, a launch, or GPU work whose launch has not come yet (`time_ns` is 0). */
struct item {
	struct item *next;  /* of the slot, or of the items without a launch, in order of arrival */
	struct item **back; /* of the latter: what points to it */
	struct item *hash_next;
	struct process *process;
	__u64 time_ns, order;
	bool is_launch, settled; /* settled: its GPU work has come */
	union {
		struct cuprobe_nvtx nvtx;
		struct {
			__u32 thread, correlation;
			__u64 came_ns; /* when the GPU work came first */
			struct nvtx_gpu *gpu;
		} launch;
	};
};

struct slot {
	struct item *items; /* the newest first */
	unsigned int count, unsettled;
};

/* How far a process has told of its API calls. */
struct mark {
	__u64 call_ns;	/* the newest call's start */
	__u64 fired_ns; /* when that was told */
};

struct nvtx_join {
	struct nvtx_join_handler handler;
	struct slot slots[SLOTS];
	__u64 first_slot;		  /* number of the oldest that is not given out */
	unsigned int held, waiting_count; /* in slots; without a launch */
	__u64 newest_ns;		  /* newest moment at which something was fired */
	struct map marks;		  /* struct mark by process number */
	__u64 calls_ns; /* all active processes have told of their calls up to there; ~0: none */
	__u64 calls_looked_ns;
	__u64 order;
	struct item *buckets[BUCKETS]; /* launches by process and correlation */
	struct item *waiting, **waiting_end;
	struct map enqueues; /* API names by process and id: is it a launch? */
	struct item **sorting;
	size_t sorting_room;
	__u64 strays;
};

static char is_no_launch, is_launch; /* values of the map */

int nvtx_join_open(struct nvtx_join **ret, const struct nvtx_join_handler *handler)
{
	struct nvtx_join *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->handler = *handler;
	j->waiting_end = &j->waiting;
	*ret = j;
	return 0;
}

static void item_free(struct item *item)
{
	if (item->is_launch)
		nvtx_gpu_free(item->launch.gpu);
	free(item);
}

static void items_free(struct item *items)
{
	struct item *next;

	for (; items; items = next) {
		next = items->next;
		item_free(items);
	}
}

void nvtx_join_free(struct nvtx_join *j)
{
	if (!j)
		return;
	for (unsigned int i = 0; i < SLOTS; i++)
		items_free(j->slots[i].items);
	items_free(j->waiting);
	map_clear(&j->enqueues, NULL);
	map_clear(&j->marks, free);
	free(j->sorting);
	free(j);
}

__u64 nvtx_join_strays(const struct nvtx_join *j)
{
	return j->strays;
}

static struct item **bucket_of(struct nvtx_join *j, const struct process *p, __u32 correlation)
{
	__u64 key = (__u64)p->number << 32 | correlation;

	return &j->buckets[(key * 0x9e3779b97f4a7c15ull) >> 46];
}

static struct item *launch_find(struct nvtx_join *j, const struct process *p, __u32 correlation)
{
	struct item *item = *bucket_of(j, p, correlation);

	while (item && (item->launch.correlation != correlation || item->process != p))
		item = item->hash_next;
	return item;
}

static struct item *launch_new(struct nvtx_join *j, struct process *p, __u32 correlation)
{
	struct item **bucket = bucket_of(j, p, correlation);
	struct item *item = calloc(1, sizeof(*item));

	if (!item)
		return NULL;
	item->process = p;
	item->is_launch = true;
	item->launch.correlation = correlation;
	item->hash_next = *bucket;
	*bucket = item;
	return item;
}

static void launch_unlink(struct nvtx_join *j, struct item *item)
{
	struct item **at = bucket_of(j, item->process, item->launch.correlation);

	while (*at != item)
		at = &(*at)->hash_next;
	*at = item->hash_next;
}

/* Gives an item out; it is gone then. */
static int item_release(struct nvtx_join *j, struct item *item)
{
	void *arg = j->handler.arg;
	int err;

	j->held--;
	if (item->is_launch) {
		launch_unlink(j, item);
		err = j->handler.launch(arg, item->process, item->launch.thread,
					item->launch.correlation, item->launch.gpu);
	} else {
		err = j->handler.nvtx(arg, item->process, &item->nvtx);
	}
	item_free(item);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int sorting_reserve(struct nvtx_join *j, size_t count)
{
	struct item **grown;

	if (count <= j->sorting_room)
		return 0;
	grown = realloc(j->sorting, 2 * count * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	j->sorting = grown;
	j->sorting_room = 2 * count;
	return 0;
}

static int slot_release(struct nvtx_join *j)
{
	struct slot *slot = &j->slots[j->first_slot % SLOTS];
	unsigned int count = slot->count, at = count;
	int err = sorting_reserve(j, count);

	if (err)
		return err;
	for (struct item *item = slot->items; item; item = item->next)
		j->sorting[--at] = item;
	*slot = (struct slot){0};
	j->first_slot++;
	qsort(j->sorting, count, sizeof(*j->sorting), by_time);
	for (unsigned int i = 0; i < count; i++) {
		int item_err = item_release(j, j->sorting[i]);

		err = err ? err : item_err;
	}
	return err;
}

static bool join_is_full(const struct nvtx_join *j)
{
	return j->held + j->waiting_count > JOIN_MOST;
}

static void mark_least(void *arg, void *value)
{
	const struct mark *m = value;
	struct nvtx_join *j = arg;

	if (m->fired_ns + JOIN_ACTIVE_NS >= j->newest_ns && m->call_ns < j->calls_ns)
		j->calls_ns = m->call_ns;
}

/* The newest call of the process that is furthest behind. */
static void calls_look(struct nvtx_join *j)
{
	if (j->newest_ns < j->calls_looked_ns + JOIN_LOOK_NS)
		return;
	j->calls_looked_ns = j->newest_ns;
	j->calls_ns = ~0ull;
	map_each(&j->marks, mark_least, j);
}

static bool slot_is_due(const struct nvtx_join *j)
{
	const struct slot *slot = &j->slots[j->first_slot % SLOTS];
	__u64 end_ns = (j->first_slot + 1) * SLOT_NS;

	if (join_is_full(j) || j->newest_ns >= end_ns + JOIN_LAUNCH_NS)
		return true;
	return !slot->unsettled && j->newest_ns >= end_ns + JOIN_NVTX_NS &&
	       (j->calls_ns == ~0ull || j->calls_ns >= end_ns + JOIN_CALLS_NS);
}

static int slots_advance(struct nvtx_join *j)
{
	int err = 0;

	calls_look(j);
	while (!err && j->held && slot_is_due(j))
		err = slot_release(j);
	return err;
}

static void waiting_add(struct nvtx_join *j, struct item *item)
{
	item->next = NULL;
	item->back = j->waiting_end;
	*j->waiting_end = item;
	j->waiting_end = &item->next;
	j->waiting_count++;
}

static void waiting_remove(struct nvtx_join *j, struct item *item)
{
	*item->back = item->next;
	if (item->next)
		item->next->back = item->back;
	else
		j->waiting_end = item->back;
	j->waiting_count--;
}

/* Work that no launch has been seen for in that long. */
static void waiting_expire(struct nvtx_join *j, bool all)
{
	struct item *item;

	while ((item = j->waiting) && (all || j->waiting_count > JOIN_MOST / 2 ||
				       j->newest_ns > item->launch.came_ns + JOIN_LAUNCH_NS)) {
		waiting_remove(j, item);
		launch_unlink(j, item);
		item_free(item);
		j->strays++;
	}
}

/*
 * What comes when its time has been given out already: an event still ends or begins its range, but
 * nobody knows any more which ranges were open around a launch.
 */
static int item_late(struct nvtx_join *j, struct item *item)
{
	int err = 0;

	if (item->is_launch) {
		j->strays += item->launch.gpu != NULL;
		launch_unlink(j, item);
	} else {
		err = j->handler.nvtx(j->handler.arg, item->process, &item->nvtx);
	}
	item_free(item);
	return err;
}

/* Puts an item with its time into its slot. */
static int item_hold(struct nvtx_join *j, struct item *item)
{
	__u64 number = item->time_ns / SLOT_NS;
	struct slot *slot = &j->slots[number % SLOTS];

	while (j->held && number >= j->first_slot + SLOTS) {
		int err = slot_release(j);

		if (err)
			return err;
	}
	if (!j->held && number > j->first_slot)
		j->first_slot = number;
	if (number < j->first_slot)
		return item_late(j, item);
	item->order = j->order++;
	j->held++;
	item->next = slot->items;
	slot->items = item;
	slot->count++;
	slot->unsettled += item->is_launch && !item->settled;
	return 0;
}

static int join_nvtx(struct nvtx_join *j, const struct event *e)
{
	struct item *item = calloc(1, sizeof(*item));

	if (!item)
		return -ENOMEM;
	item->process = e->process;
	item->time_ns = e->nvtx->time_ns;
	item->nvtx = *e->nvtx;
	return item_hold(j, item);
}

static bool api_is_launch(struct nvtx_join *j, const struct event *e)
{
	__u64 key = ((__u64)e->process->number << 12 | (e->process->image & 0xfff)) << 32 |
		    e->api->name;
	void *known = map_find(&j->enqueues, key);
	const char *name;
	size_t bytes;
	bool launch;

	if (known)
		return known == &is_launch;
	name = process_string(e->process, e->api->name, &bytes);
	if (!name)
		return true;
	launch = api_enqueues(name, api_name_bytes(name, bytes));
	map_insert(&j->enqueues, key, launch ? &is_launch : &is_no_launch);
	return launch;
}

static int call_mark(struct nvtx_join *j, const struct event *e)
{
	struct mark *m = map_find(&j->marks, e->process->number);

	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m || map_insert(&j->marks, e->process->number, m)) {
			free(m);
			return -ENOMEM;
		}
	}
	m->fired_ns = e->fired_ns;
	if (e->api->start_ns > m->call_ns)
		m->call_ns = e->api->start_ns;
	return 0;
}

/* A call through the runtime has a second record of the same id for the driver's call inside. */
static int join_api(struct nvtx_join *j, const struct event *e)
{
	const struct cuprobe_api *a = e->api;
	struct item *item;
	int err = call_mark(j, e);

	if (err || !a->correlation || !api_is_launch(j, e))
		return err;
	item = launch_find(j, e->process, a->correlation);
	if (item && item->time_ns)
		return 0;
	if (item) {
		waiting_remove(j, item);
	} else {
		item = launch_new(j, e->process, a->correlation);
		if (!item)
			return -ENOMEM;
	}
	item->time_ns = a->start_ns;
	item->launch.thread = a->thread;
	return item_hold(j, item);
}

static void launch_settle(struct nvtx_join *j, struct item *item)
{
	__u64 number = item->time_ns / SLOT_NS;

	if (item->settled)
		return;
	item->settled = true;
	if (item->time_ns && number >= j->first_slot)
		j->slots[number % SLOTS].unsettled--;
}

static int join_work(struct nvtx_join *j, const struct event *e)
{
	const struct nvtx_gpu gpu = nvtx_gpu_of(e);
	struct event_work w;
	struct item *item;

	event_work(e, &w);
	if (!w.correlation) {
		j->strays++;
		return 0;
	}
	item = launch_find(j, e->process, w.correlation);
	if (!item) {
		item = launch_new(j, e->process, w.correlation);
		if (!item)
			return -ENOMEM;
		item->launch.came_ns = e->fired_ns;
		waiting_add(j, item);
	}
	/* A graph's work comes in many records, so one of them is no sign that all have come. */
	if (!w.graph_node_id)
		launch_settle(j, item);
	return nvtx_gpu_add(&item->launch.gpu, &gpu);
}

int nvtx_join_event(struct nvtx_join *j, const struct event *e)
{
	int err;

	switch (e->probe) {
	case CUPROBE_PROBE_nvtx:
		err = join_nvtx(j, e);
		break;
	case CUPROBE_PROBE_api:
		err = join_api(j, e);
		break;
	case CUPROBE_PROBE_kernel:
	case CUPROBE_PROBE_graph:
	case CUPROBE_PROBE_memcpy:
	case CUPROBE_PROBE_memset:
		err = join_work(j, e);
		break;
	default:
		return 0;
	}
	if (e->fired_ns > j->newest_ns)
		j->newest_ns = e->fired_ns;
	waiting_expire(j, false);
	return err ? err : slots_advance(j);
}

int nvtx_join_finish(struct nvtx_join *j)
{
	int err = 0;

	waiting_expire(j, true);
	while (j->held && !err)
		err = slot_release(j);
	return err;
}
