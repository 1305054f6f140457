/* SPDX-License-Identifier: Apache-2.0 */
/* One record of one process, checked, as every sink sees it. */
#ifndef CUPROBE_COLLECTOR_EVENT_H
#define CUPROBE_COLLECTOR_EVENT_H

#include <stdbool.h>

#include "cuprobe/abi.h"

struct process;

/*
 * Valid during the call that passes it. The record is as large as this build's struct, whatever
 * the library's version: what an older library did not write is zero.
 */
struct event {
	struct process *process;
	enum cuprobe_probe_id probe; /* says which member of the union holds */
	__u32 tid;		     /* thread that fired; not the thread that made the record */
	__u64 fired_ns;		     /* when the batch was fired */
	union {
		const void *record;
		const struct cuprobe_kernel *kernel;
		const struct cuprobe_graph *graph;
		const struct cuprobe_memcpy *memcpy;
		const struct cuprobe_memset *memset;
		const struct cuprobe_memory *memory;
		const struct cuprobe_sync *sync;
		const struct cuprobe_api *api;
		const struct cuprobe_unified_memory *unified_memory;
		const struct cuprobe_overhead *overhead;
		const struct cuprobe_string *string;
		const struct cuprobe_info *info;
		const struct cuprobe_status *status;
		const struct cuprobe_nvtx *nvtx;
		const struct cuprobe_launch *launch;
		const struct cuprobe_stack *stack;
		const struct cuprobe_module *module;
		const struct cuprobe_pc_sample *pc_sample;
	};
};

/* Start and end on CLOCK_MONOTONIC; false for records that have none. */
bool event_times(const struct event *e, __u64 *ret_start_ns, __u64 *ret_end_ns);

/* When and where work ran on a GPU, and the call that it comes from. */
struct event_work {
	__u64 start_ns, end_ns;
	__u64 graph_node_id; /* 0: no node of a graph, or a graph as a whole */
	__u32 device, context, stream, correlation;
};

/* Of a kernel, graph, memcpy or memset; zeroes for other records. */
void event_work(const struct event *e, struct event_work *ret);

/* Records of the probe are definitions and messages, which come again and again. */
bool probe_is_told_again(unsigned int probe);

/* "kernel", "graph", ...; NULL for an unknown number. And back: -EINVAL for an unknown name. */
const char *probe_name(unsigned int probe);
int probe_number(const char *name);

#endif
