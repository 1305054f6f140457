/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings NVTX events and launches into the order of their times, each launch with all the GPU work
 * that it led to: what nvtx_ranges.h needs to say which range work belongs to. Events come in any
 * order, and GPU work later than the call that launched it, so everything is held back: NVTX events
 * for JOIN_NVTX_NS and until the calls of their time have come, launches until their work has come,
 * nothing for longer than JOIN_LAUNCH_NS, and never more than JOIN_MOST of them. What comes even
 * later is counted and belongs to no range.
 */
#ifndef CUPROBE_COLLECTOR_NVTX_JOIN_H
#define CUPROBE_COLLECTOR_NVTX_JOIN_H

#include "src/collector/event.h"

#define JOIN_NVTX_NS 500000000ull
#define JOIN_LAUNCH_NS 10000000000ull
#define JOIN_MOST (1u << 18) /* 60 MB */

struct nvtx_gpu;
struct nvtx_join;

/* Called in the order of times; each may return an error, which ends the work. */
struct nvtx_join_handler {
	int (*nvtx)(void *arg, struct process *p, const struct cuprobe_nvtx *record);
	int (*launch)(void *arg, struct process *p, __u32 thread, __u32 correlation,
		      const struct nvtx_gpu *gpu);
	void *arg;
};

int nvtx_join_open(struct nvtx_join **ret, const struct nvtx_join_handler *handler);
void nvtx_join_free(struct nvtx_join *j);
/* Takes nvtx, api, kernel, graph, memcpy and memset; ignores the rest. */
int nvtx_join_event(struct nvtx_join *j, const struct event *e);
/* Gives out all that is held back. */
int nvtx_join_finish(struct nvtx_join *j);
/* GPU activities whose launch was not seen, or seen too long before. */
__u64 nvtx_join_strays(const struct nvtx_join *j);

#endif
