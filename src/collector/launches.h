/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings GPU work together with the call that launched it: one launch has one piece of work, or a
 * graph's many, or none. Both come in any order and apart, so each launch is held until
 * LAUNCHES_MOST have come after it; what comes even later finds no launch.
 */
#ifndef CUPROBE_COLLECTOR_LAUNCHES_H
#define CUPROBE_COLLECTOR_LAUNCHES_H

#include <stdbool.h>

#include "src/collector/event.h"

#define LAUNCHES_MOST (1u << 20) /* 100 MB */

struct stack;

/* Where work came from. */
struct launch_origin {
	bool known;	     /* its launch was seen */
	struct stack *stack; /* NULL: none was taken */
	__u32 thread, domain_api;
};

/* What belongs together: same kind, name, stream, ...; the holder's own. */
struct work;

struct launches_handler {
	/*
	 * `gpu_ns` and `count` of one kind of work of one launch; `launches` in 1/256, which only
	 * the first of a launch has. `range` is what launches_set_range said.
	 */
	int (*work)(void *arg, const struct launch_origin *origin, const void *range,
		    struct work *work, __u64 gpu_ns, __u64 count, __u64 launches);
	void *arg;
};

struct launches;

/* `capture`: the nodes of graphs come from where they were captured, when that was seen. */
int launches_open(struct launches **ret, bool capture, const struct launches_handler *handler);
void launches_free(struct launches *l);
int launches_launch(struct launches *l, const struct event *e);
/* A kernel, graph, memcpy or memset, which is of the kind `work`. */
int launches_work(struct launches *l, const struct event *e, struct work *work);
/* Says what a launch that was seen, or its work, lies in; nothing when it is not held any more. */
void launches_set_range(struct launches *l, const struct process *p, __u32 correlation,
			const void *range);
/* Tells of all that is held. */
int launches_finish(struct launches *l);

#endif
