/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call an arrow to GPU work starts at. One launch through the runtime gives two API records
 * of the same correlation id, its own and that of the driver call inside, in either order and from
 * different buffers. The runtime's is the one that launched; a driver's is held back until it is
 * clear whether there is one: until FLOWS_HELD later correlation ids have come by.
 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_FLOWS_H
#define CUPROBE_COLLECTOR_OUTPUT_FLOWS_H

#include <stdbool.h>

#include "cuprobe/abi.h"

struct chrome_name;
struct flows;
struct lane;

#define FLOWS_HELD 65536

/* A call that puts work on a GPU. */
struct flow_call {
	__u64 id; /* see flow_id */
	const struct lane *lane;
	const struct chrome_name *name;
	struct cuprobe_api api;
};

/* Unique in the trace; one process alone has CUPTI's correlation ids. */
static inline __u64 flow_id(__u32 process_number, __u32 correlation)
{
	return (__u64)process_number << 32 | correlation;
}

/* `emit` is called once with each call; `inner`: it is part of another that launched. */
int flows_open(struct flows **ret,
	       void (*emit)(void *arg, const struct flow_call *call, bool inner), void *arg);
void flows_free(struct flows *f);
void flows_add(struct flows *f, const struct flow_call *call);
/* At the end: emits all that is still held back. */
void flows_finish(struct flows *f);

#endif
