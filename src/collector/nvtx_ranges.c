/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/nvtx_ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "src/collector/map.h"
#include "src/collector/model.h"
#include "src/collector/nvtx_join.h"

#define BUCKETS (1u << 16)
#define LANES_MOST 1024 /* domains that one thread pushes in */

/* An open range. */
struct node {
	struct nvtx_range range;
	struct node *outer; /* push: the one around it in its lane */
	/* start, acquire: */
	struct node *hash_next;
	struct node *next_tracked;
	bool tracked;
};

/* The pushed ranges of one thread in one domain. */
struct lane {
	struct lane *next; /* of the thread */
	__u32 domain;
	struct node *inner; /* the innermost open one */
};

struct thread {
	struct lane *lanes;
	unsigned int lane_count;
};

struct tracked {
	struct node *nodes;
	unsigned int count;
};

struct nvtx_ranges {
	struct nvtx_ranges_handler handler;
	struct nvtx_join *join;
	struct map threads; /* struct thread by thread_key() */
	struct map tracked; /* struct tracked by process number */
	struct node *starts[BUCKETS];
	__u64 last_ns; /* of the events so far */
	unsigned int open;
	struct nvtx_counts counts;
};

static __u64 thread_key(const struct process *p, __u32 thread)
{
	return (__u64)p->number << 32 | thread;
}

static struct node *node_new(struct nvtx_ranges *r, struct process *p,
			     const struct cuprobe_nvtx *start)
{
	struct node *n = r->open < RANGES_MOST ? calloc(1, sizeof(*n)) : NULL;

	if (!n) {
		r->counts.too_many++;
		return NULL;
	}
	n->range.process = p;
	n->range.start = *start;
	n->range.gpu_known = true;
	r->open++;
	return n;
}

/* Tells the handler, and frees. `end` is NULL for ranges that did not end by themselves. */
static int node_end(struct nvtx_ranges *r, struct node *n, __u64 end_ns,
		    const struct cuprobe_nvtx *end)
{
	int err;

	n->range.end_ns = end_ns > n->range.start.time_ns ? end_ns : n->range.start.time_ns;
	n->range.unfinished = !end;
	n->range.failed = end && end->kind == CUPROBE_NVTX_ACQUIRE_FAILED;
	if (end && end->payload_type == CUPROBE_NVTX_PAYLOAD_TEXT)
		n->range.end_payload = (__u32)end->payload;
	if (end && end->message)
		n->range.start.message = end->message;
	if (end && end->flags & CUPROBE_NVTX_FLAG_COLOR) {
		n->range.start.color = end->color;
		n->range.start.flags |= CUPROBE_NVTX_FLAG_COLOR;
	}
	r->counts.unfinished += n->range.unfinished;
	r->open--;
	err = r->handler.range ? r->handler.range(r->handler.arg, &n->range) : 0;
	nvtx_gpu_free(n->range.gpu);
	free(n);
	return err;
}

static struct thread *thread_get(struct nvtx_ranges *r, struct process *p, __u32 thread, bool make)
{
	struct thread *t = map_find(&r->threads, thread_key(p, thread));

	if (t || !make)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	if (map_insert(&r->threads, thread_key(p, thread), t)) {
		free(t);
		return NULL;
	}
	return t;
}

static struct lane *lane_get(struct thread *t, __u32 domain, bool make)
{
	struct lane *lane = t->lanes;

	while (lane && lane->domain != domain)
		lane = lane->next;
	if (lane || !make)
		return lane;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->domain = domain;
	lane->next = t->lanes;
	t->lanes = lane;
	t->lane_count++;
	return lane;
}

/* Ends the innermost range; its GPU work is its outer one's, too. */
static int lane_end_inner(struct nvtx_ranges *r, struct lane *lane, __u64 end_ns,
			  const struct cuprobe_nvtx *end)
{
	struct node *n = lane->inner;

	lane->inner = n->outer;
	for (const struct nvtx_gpu *g = n->range.gpu; g && n->outer; g = g->next) {
		if (nvtx_gpu_add(&n->outer->range.gpu, g))
			return -ENOMEM;
	}
	return node_end(r, n, end_ns, end);
}

/* Ends ranges that must have ended before, because of a pop or push that was lost. */
static int lane_end_from(struct nvtx_ranges *r, struct lane *lane, __s64 level, __u64 end_ns)
{
	int err = 0;

	while (!err && lane->inner && lane->inner->range.start.level >= level)
		err = lane_end_inner(r, lane, end_ns, NULL);
	return err;
}

static int range_push(struct nvtx_ranges *r, struct process *p, const struct cuprobe_nvtx *push)
{
	struct thread *t = thread_get(r, p, push->thread, true);
	bool full = t && t->lane_count >= LANES_MOST;
	struct lane *lane = t ? lane_get(t, push->domain, !full) : NULL;
	struct node *n;
	int err;

	if (!lane) {
		r->counts.too_many += full;
		return full ? 0 : -ENOMEM;
	}
	err = lane_end_from(r, lane, push->level, push->time_ns);
	n = err ? NULL : node_new(r, p, push);
	if (n) {
		n->outer = lane->inner;
		lane->inner = n;
	}
	return err;
}

static int range_pop(struct nvtx_ranges *r, struct process *p, const struct cuprobe_nvtx *pop)
{
	struct thread *t = thread_get(r, p, pop->thread, false);
	struct lane *lane = t ? lane_get(t, pop->domain, false) : NULL;
	int err;

	if (!lane || pop->level < 0) {
		r->counts.pops_without_push++;
		return 0;
	}
	err = lane_end_from(r, lane, pop->level + 1ll, pop->time_ns);
	if (err)
		return err;
	if (!lane->inner || lane->inner->range.start.level != pop->level) {
		r->counts.pops_without_push++;
		return 0;
	}
	return lane_end_inner(r, lane, pop->time_ns, pop);
}

static int thread_end(struct nvtx_ranges *r, struct process *p, const struct cuprobe_nvtx *end)
{
	struct thread *t = thread_get(r, p, end->thread, false);
	int err = 0;

	for (struct lane *lane = t ? t->lanes : NULL; lane && !err; lane = lane->next)
		err = lane_end_from(r, lane, 0, end->time_ns);
	return err;
}

static struct node **start_of(struct nvtx_ranges *r, const struct process *p, __u64 range)
{
	__u64 hash = (range ^ (__u64)p->number << 40) * 0x9e3779b97f4a7c15ull;
	struct node **at = &r->starts[hash >> 48];

	while (*at && ((*at)->range.start.range != range || (*at)->range.process != p))
		at = &(*at)->hash_next;
	return at;
}

static struct tracked *tracked_get(struct nvtx_ranges *r, const struct process *p, bool make)
{
	struct tracked *t = map_find(&r->tracked, p->number);

	if (t || !make)
		return t;
	t = calloc(1, sizeof(*t));
	if (t && map_insert(&r->tracked, p->number, t)) {
		free(t);
		return NULL;
	}
	return t;
}

static int range_start(struct nvtx_ranges *r, struct process *p, const struct cuprobe_nvtx *start)
{
	struct tracked *t = tracked_get(r, p, true);
	struct node **at = start_of(r, p, start->range);

	if (!t)
		return -ENOMEM;
	if (!start->range || *at)
		return 0;
	*at = node_new(r, p, start);
	if (!*at)
		return 0;
	if (t->count == RANGES_TRACKED || start->time_ns < r->last_ns) {
		(*at)->range.gpu_known = false;
		return 0;
	}
	(*at)->tracked = true;
	(*at)->next_tracked = t->nodes;
	t->nodes = *at;
	t->count++;
	return 0;
}

static void untrack(struct nvtx_ranges *r, struct node *n)
{
	struct tracked *t = tracked_get(r, n->range.process, false);
	struct node **at = &t->nodes;

	while (*at != n)
		at = &(*at)->next_tracked;
	*at = n->next_tracked;
	t->count--;
}

static int start_end(struct nvtx_ranges *r, struct node **at, __u64 end_ns,
		     const struct cuprobe_nvtx *end)
{
	struct node *n = *at;

	*at = n->hash_next;
	if (n->tracked)
		untrack(r, n);
	return node_end(r, n, end_ns, end);
}

static int range_end(struct nvtx_ranges *r, struct process *p, const struct cuprobe_nvtx *end)
{
	struct node **at = start_of(r, p, end->range);

	if (*at)
		return start_end(r, at, end->time_ns, end);
	r->counts.ends_without_start++;
	return 0;
}

/* Whoever is tried for again was not waited for any more. */
static int range_acquire(struct nvtx_ranges *r, struct process *p,
			 const struct cuprobe_nvtx *acquire)
{
	struct node **at = start_of(r, p, acquire->range);
	int err = *at ? start_end(r, at, acquire->time_ns, NULL) : 0;

	if (!err)
		*start_of(r, p, acquire->range) = node_new(r, p, acquire);
	return err;
}

static int range_event(struct nvtx_ranges *r, struct process *p, const struct cuprobe_nvtx *record)
{
	switch (record->kind) {
	case CUPROBE_NVTX_PUSH:
		return range_push(r, p, record);
	case CUPROBE_NVTX_POP:
		return range_pop(r, p, record);
	case CUPROBE_NVTX_START:
		return range_start(r, p, record);
	case CUPROBE_NVTX_ACQUIRE:
		return range_acquire(r, p, record);
	case CUPROBE_NVTX_END:
	case CUPROBE_NVTX_ACQUIRED:
	case CUPROBE_NVTX_ACQUIRE_FAILED:
		return range_end(r, p, record);
	case CUPROBE_NVTX_THREAD_END:
		return thread_end(r, p, record);
	case CUPROBE_NVTX_MARK:
	case CUPROBE_NVTX_RELEASE:
		return r->handler.mark ? r->handler.mark(r->handler.arg, p, record) : 0;
	default: /* of a newer library */
		return 0;
	}
}

static int ranges_nvtx(void *arg, struct process *p, const struct cuprobe_nvtx *record)
{
	struct nvtx_ranges *r = arg;
	int err = range_event(r, p, record);

	if (record->time_ns > r->last_ns)
		r->last_ns = record->time_ns;
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct nvtx_range *x = *(const struct nvtx_range *const *)a;
	const struct nvtx_range *y = *(const struct nvtx_range *const *)b;

	if (x->start.time_ns != y->start.time_ns)
		return x->start.time_ns < y->start.time_ns ? -1 : 1;
	return (x->start.level > y->start.level) - (x->start.level < y->start.level);
}

static int ranges_around(struct nvtx_ranges *r, struct process *p, __u32 correlation,
			 const struct thread *t, const struct tracked *tracked)
{
	const struct nvtx_range *around[RANGES_AROUND];
	unsigned int count = 0;

	for (const struct lane *lane = t ? t->lanes : NULL; lane; lane = lane->next) {
		for (const struct node *n = lane->inner; n && count < RANGES_AROUND; n = n->outer)
			around[count++] = &n->range;
	}
	for (const struct node *n = tracked ? tracked->nodes : NULL; n && count < RANGES_AROUND;
	     n = n->next_tracked)
		around[count++] = &n->range;
	qsort(around, count, sizeof(around[0]), by_start);
	return r->handler.launch(r->handler.arg, p, correlation, around, count);
}

/* Work belongs to the innermost range in each domain, which hands it on when it ends. */
static int ranges_launch(void *arg, struct process *p, __u32 thread, __u32 correlation,
			 const struct nvtx_gpu *gpu)
{
	struct nvtx_ranges *r = arg;
	struct thread *t = thread_get(r, p, thread, false);
	struct tracked *tracked = tracked_get(r, p, false);
	int err = 0;

	if (r->handler.launch)
		err = ranges_around(r, p, correlation, t, tracked);
	for (; gpu && !err; gpu = gpu->next) {
		for (struct lane *lane = t ? t->lanes : NULL; lane && !err; lane = lane->next) {
			if (lane->inner)
				err = nvtx_gpu_add(&lane->inner->range.gpu, gpu);
		}
		for (struct node *n = tracked ? tracked->nodes : NULL; n && !err;
		     n = n->next_tracked)
			err = nvtx_gpu_add(&n->range.gpu, gpu);
	}
	return err;
}

int nvtx_ranges_open(struct nvtx_ranges **ret, const struct nvtx_ranges_handler *handler)
{
	struct nvtx_ranges *r = calloc(1, sizeof(*r));
	const struct nvtx_join_handler join = {ranges_nvtx, ranges_launch, r};
	int err;

	if (!r)
		return -ENOMEM;
	r->handler = *handler;
	err = nvtx_join_open(&r->join, &join);
	if (err) {
		free(r);
		return err;
	}
	*ret = r;
	return 0;
}

static void node_free(struct node *n)
{
	nvtx_gpu_free(n->range.gpu);
	free(n);
}

static void thread_free(void *arg)
{
	struct thread *t = arg;
	struct lane *next;

	for (struct lane *lane = t->lanes; lane; lane = next) {
		next = lane->next;
		for (struct node *n = lane->inner; n; n = lane->inner) {
			lane->inner = n->outer;
			node_free(n);
		}
		free(lane);
	}
	free(t);
}

void nvtx_ranges_free(struct nvtx_ranges *r)
{
	struct node *next;

	if (!r)
		return;
	nvtx_join_free(r->join);
	map_clear(&r->threads, thread_free);
	map_clear(&r->tracked, free);
	for (unsigned int i = 0; i < BUCKETS; i++) {
		for (struct node *n = r->starts[i]; n; n = next) {
			next = n->hash_next;
			node_free(n);
		}
	}
	free(r);
}

int nvtx_ranges_event(struct nvtx_ranges *r, const struct event *e)
{
	if (e->probe == CUPROBE_PROBE_nvtx && e->nvtx->kind == CUPROBE_NVTX_COUNTER)
		return 0; /* may be old, and no range waits for it */
	return nvtx_join_event(r->join, e);
}

struct finishing {
	struct nvtx_ranges *ranges;
	__u64 end_ns;
	int err;
};

static void thread_finish(void *arg, void *value)
{
	struct finishing *f = arg;
	struct thread *t = value;

	for (struct lane *lane = t->lanes; lane && !f->err; lane = lane->next)
		f->err = lane_end_from(f->ranges, lane, 0, f->end_ns);
}

int nvtx_ranges_finish(struct nvtx_ranges *r, __u64 end_ns)
{
	struct finishing f = {.ranges = r, .err = nvtx_join_finish(r->join)};

	f.end_ns = end_ns > r->last_ns ? end_ns : r->last_ns;
	map_each(&r->threads, thread_finish, &f);
	for (unsigned int i = 0; i < BUCKETS && !f.err; i++) {
		while (r->starts[i] && !f.err)
			f.err = start_end(r, &r->starts[i], f.end_ns, NULL);
	}
	return f.err;
}

struct nvtx_counts nvtx_ranges_counts(const struct nvtx_ranges *r)
{
	struct nvtx_counts counts = r->counts;

	counts.strays = nvtx_join_strays(r->join);
	return counts;
}
