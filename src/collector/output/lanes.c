/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "cuprobe/abi.h"
#include "src/collector/map.h"
#include "src/collector/model.h"

#define LANE_BUCKETS 1024

struct lanes {
	struct lane_group *groups, **groups_end;
	struct map groups_by_key; /* by process, device and whether of overhead */
	struct map pids;	  /* a group with that pid */
	struct map processes;	  /* a group of a process with that pid */
	__u32 next_synthetic;
	unsigned int count;		      /* groups and lanes */
	struct lane *last[LANE_OVERHEAD + 1]; /* found last, by kind */
	struct lane *buckets[LANE_BUCKETS];
};

int lanes_open(struct lanes **ret)
{
	struct lanes *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->groups_end = &l->groups;
	l->next_synthetic = LANE_SYNTHETIC;
	*ret = l;
	return 0;
}

void lanes_free(struct lanes *l)
{
	struct lane_group *next_group;
	struct lane *next;

	for (struct lane_group *g = l ? l->groups : NULL; g; g = next_group) {
		next_group = g->next;
		for (struct lane *lane = g->lanes; lane; lane = next) {
			next = lane->next;
			free(lane);
		}
		free(g);
	}
	if (l) {
		map_clear(&l->groups_by_key, NULL);
		map_clear(&l->pids, NULL);
		map_clear(&l->processes, NULL);
	}
	free(l);
}

struct lane_group *lanes_groups(const struct lanes *l)
{
	return l->groups;
}

static bool pid_is_taken(const struct lanes *l, __u32 pid)
{
	/* A process that only GPU work was seen of may still show its threads. */
	return map_find(&l->pids, pid) || map_find(&l->processes, pid);
}

static __u32 group_pid(struct lanes *l, const struct process *process, __u32 device, bool overhead)
{
	if (overhead || (device != CUPROBE_NO_ID && pid_is_taken(l, device)))
		return l->next_synthetic++;
	if (device != CUPROBE_NO_ID)
		return device;
	return map_find(&l->pids, process->pid) ? l->next_synthetic++ : process->pid;
}

static int group_note(struct map *map, __u32 pid, struct lane_group *g)
{
	return map_find(map, pid) ? 0 : map_insert(map, pid, g);
}

static struct lane_group *find_group(struct lanes *l, struct process *process, __u32 device,
				     bool overhead, __u64 time_ns)
{
	__u64 key = (__u64)process->number << 33 | (__u64)overhead << 32 | device;
	struct lane_group *g = map_find(&l->groups_by_key, key);

	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->process = process;
	g->device = device;
	g->overhead = overhead;
	g->pid = group_pid(l, process, device, overhead);
	g->first_ns = time_ns;
	if (map_insert(&l->groups_by_key, key, g) || group_note(&l->pids, g->pid, g) ||
	    group_note(&l->processes, process->pid, g)) {
		map_clear(&l->groups_by_key, NULL); /* it is not to be found; no more is written */
		free(g);
		return NULL;
	}
	g->lanes_end = &g->lanes;
	*l->groups_end = g;
	l->groups_end = &g->next;
	l->count++;
	return g;
}

struct lane_group *lanes_group(struct lanes *l, struct process *process, __u32 device,
			       __u64 time_ns)
{
	return find_group(l, process, device, false, time_ns);
}

static bool tid_is_taken(const struct lane_group *g, __u32 tid)
{
	for (const struct lane *lane = g->lanes; lane; lane = lane->next) {
		if (lane->tid == tid)
			return true;
	}
	return false;
}

/* Perfetto names a thread by its tid alone, so tids made up are unique in the whole trace. */
static __u32 lane_tid(struct lanes *l, const struct lane_group *g, enum lane_kind kind, __u32 id)
{
	__u32 tid;

	switch (kind) {
	case LANE_THREAD:
		tid = process_thread(g->process, id);
		break;
	case LANE_STREAM:
		tid = id;
		break;
	case LANE_SYNC:
		tid = id == CUPROBE_NO_ID ? CUPROBE_NO_ID : id + LANE_SYNC_TID;
		break;
	default:
		return l->next_synthetic++;
	}
	return tid >= LANE_SYNTHETIC || tid_is_taken(g, tid) ? l->next_synthetic++ : tid;
}

static struct lane *add_lane(struct lanes *l, struct lane_group *g, enum lane_kind kind,
			     __u32 context, __u32 id, __u32 tid)
{
	struct lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	lane->group = g;
	lane->kind = kind;
	lane->context = context;
	lane->id = id;
	lane->tid = tid;
	lane->first_ns = ~0ull;
	*g->lanes_end = lane;
	g->lanes_end = &lane->next;
	l->count++;
	return lane;
}

static bool lane_is(const struct lane *lane, const struct process *process, enum lane_kind kind,
		    __u32 device, __u32 context, __u32 id)
{
	return lane->id == id && lane->kind == kind && lane->context == context &&
	       lane->group->process == process && lane->group->device == device;
}

static struct lane *find_lane(struct lanes *l, struct process *process, enum lane_kind kind,
			      __u32 device, __u32 context, __u32 id, __u64 time_ns)
{
	__u32 hash = (id * 31 + context) * 31 + device * 7 + process->number * 131 + kind;
	struct lane **bucket = &l->buckets[(hash * 2654435761u) >> 22];
	struct lane *lane = *bucket;
	struct lane_group *g;

	while (lane && !lane_is(lane, process, kind, device, context, id))
		lane = lane->hash_next;
	if (lane)
		return lane;
	if (l->count >= LANES_MOST && (device != CUPROBE_NO_ID || context || id != CUPROBE_NO_ID))
		return find_lane(l, process, kind, CUPROBE_NO_ID, 0, CUPROBE_NO_ID, time_ns);
	g = find_group(l, process, device, kind == LANE_OVERHEAD, time_ns);
	lane = g ? add_lane(l, g, kind, context, id, lane_tid(l, g, kind, id)) : NULL;
	if (lane) {
		lane->hash_next = *bucket;
		*bucket = lane;
	}
	return lane;
}

static bool overlaps_partly(const struct lane_window *w, unsigned int i, __u64 start, __u64 end)
{
	__u64 other_start = w->start_ns[i], other_end = w->end_ns[i];

	return (start < other_start && other_start < end && end < other_end) ||
	       (other_start < start && start < other_end && other_end < end);
}

static bool window_fits(const struct lane_window *w, __u64 start_ns, __u64 end_ns)
{
	unsigned int n = w->count < LANE_WINDOW ? w->count : LANE_WINDOW;

	if (start_ns >= w->latest_end_ns)
		return true;
	for (unsigned int back = 1; back <= n; back++) {
		unsigned int i = (w->count - back) % LANE_WINDOW;

		/* In the order of ends: what is further back ended earlier still. */
		if (back <= w->unordered && w->end_ns[i] <= start_ns)
			return true;
		if (overlaps_partly(w, i, start_ns, end_ns))
			return false;
	}
	return true;
}

static void window_add(struct lane_window *w, __u64 start_ns, __u64 end_ns)
{
	unsigned int i = w->count % LANE_WINDOW;

	w->start_ns[i] = start_ns;
	w->end_ns[i] = end_ns;
	w->count++;
	w->unordered++;
	if (end_ns < w->latest_end_ns)
		w->unordered = 0;
	else
		w->latest_end_ns = end_ns;
}

/* The next lane of the same name; the same when there are too many. */
static struct lane *overflow_lane(struct lanes *l, struct lane *lane)
{
	struct lane *more = lane->overflow;

	if (more)
		return more;
	if (lane->overlap >= LANE_MOST_OVERLAPS || l->count >= LANES_MOST)
		return lane;
	more = add_lane(l, lane->group, lane->kind, lane->context, lane->id, l->next_synthetic++);
	if (more)
		more->overlap = lane->overlap + 1;
	lane->overflow = more;
	return more;
}

/* Where the slice overlaps none partly. */
static struct lane *fitting_lane(struct lanes *l, struct lane *lane, __u64 start_ns, __u64 end_ns)
{
	while (lane && !window_fits(&lane->window, start_ns, end_ns)) {
		struct lane *more = overflow_lane(l, lane);

		if (more == lane)
			break;
		lane = more;
	}
	return lane;
}

struct lane *lanes_slice(struct lanes *l, struct process *process, enum lane_kind kind,
			 __u32 device, __u32 context, __u32 id, __u64 start_ns, __u64 end_ns)
{
	struct lane *lane = l->last[kind];

	if (!lane || !lane_is(lane, process, kind, device, context, id)) {
		lane = find_lane(l, process, kind, device, context, id, start_ns);
		l->last[kind] = lane;
	}
	lane = fitting_lane(l, lane, start_ns, end_ns);
	if (!lane)
		return NULL;
	window_add(&lane->window, start_ns, end_ns);
	if (start_ns < lane->first_ns)
		lane->first_ns = start_ns;
	if (start_ns < lane->group->first_ns)
		lane->group->first_ns = start_ns;
	return lane;
}

bool lane_is_ambiguous(const struct lane *lane)
{
	for (const struct lane *other = lane->group->lanes; other; other = other->next) {
		if (other->kind == lane->kind && other->id == lane->id &&
		    other->context != lane->context)
			return true;
	}
	return false;
}
