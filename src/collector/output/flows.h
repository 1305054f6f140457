/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the arrow from a call to its GPU work starts. One launch through the runtime gives two API
 * records of the same correlation id, its own and that of the driver call inside, in either order
 * and from different buffers. The arrow starts at the runtime's; a driver's start is held back
 * until it is clear that there is none: until FLOWS_HELD later correlation ids have come by.
 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_FLOWS_H
#define CUPROBE_COLLECTOR_OUTPUT_FLOWS_H

#include <stdbool.h>

#include <linux/types.h>

#define FLOWS_HELD 65536

struct flow_start {
	__u64 id; /* see flow_id */
	__u64 time_ns;
	__u32 pid, tid;
};

struct flows;

/* Unique in the trace; one process alone has CUPTI's correlation ids. */
static inline __u64 flow_id(__u32 process_number, __u32 correlation)
{
	return (__u64)process_number << 32 | correlation;
}

/* `emit` is called with each start that is to be written. */
int flows_open(struct flows **ret, void (*emit)(void *arg, const struct flow_start *start),
	       void *arg);
void flows_free(struct flows *f);
void flows_add(struct flows *f, const struct flow_start *start, bool from_runtime);
/* At the end: emits all that is still held back. */
void flows_finish(struct flows *f);

#endif
