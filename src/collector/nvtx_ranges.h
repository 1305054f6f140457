/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX events as ranges: pushes with their pops, starts with their ends, each with the GPU work
 * that was launched inside it: for push/pop by its own thread, for start/end, which belong to the
 * process, by any. And acquisitions of synchronisation objects, which have no GPU work.
 *
 * Memory grows with the ranges that are open at one time, up to RANGES_MOST.
 */
#ifndef CUPROBE_COLLECTOR_NVTX_RANGES_H
#define CUPROBE_COLLECTOR_NVTX_RANGES_H

#include "src/collector/event.h"
#include "src/collector/nvtx_gpu.h"

#define RANGES_MOST (1u << 21)
/*
 * Start/end ranges of one process that GPU work is counted for at one time; further ones have none,
 * and `gpu_known` false. So have those that were handed in when their launches had gone by.
 */
#define RANGES_TRACKED 64
#define RANGES_AROUND 256 /* most that a launch is told to lie in */

struct nvtx_range {
	struct process *process;
	struct cuprobe_nvtx start; /* the push, start or acquire: name, colour, thread, ... */
	__u64 end_ns;
	__u32 end_payload; /* string id of what the pop or end had to say; 0 nothing */
	bool unfinished;   /* its thread or the recording ended before it */
	bool failed;	   /* to acquire */
	bool gpu_known;
	struct nvtx_gpu *gpu; /* by stream */
};

/* Of one thread, not of the process. */
static inline bool nvtx_range_is_of_thread(const struct nvtx_range *r)
{
	return r->start.kind != CUPROBE_NVTX_START;
}

struct nvtx_ranges_handler {
	/* A range that has ended; inner ones before outer ones. */
	int (*range)(void *arg, const struct nvtx_range *r); /* or NULL */
	/* A mark, or a release. */
	int (*mark)(void *arg, struct process *p, const struct cuprobe_nvtx *mark); /* or NULL */
	/*
	 * A launch, with the ranges open around it, in the order of their starts: of its own
	 * thread in all domains, and of its process.
	 */
	int (*launch)(void *arg, struct process *p, __u32 correlation,
		      const struct nvtx_range *const *ranges, unsigned int count); /* or NULL */
	void *arg;
};

struct nvtx_counts {
	__u64 pops_without_push, ends_without_start;
	__u64 unfinished;
	__u64 too_many; /* not kept: RANGES_MOST were open */
	__u64 strays;	/* GPU activities whose launch is not known */
};

struct nvtx_ranges;

int nvtx_ranges_open(struct nvtx_ranges **ret, const struct nvtx_ranges_handler *handler);
void nvtx_ranges_free(struct nvtx_ranges *r);
int nvtx_ranges_event(struct nvtx_ranges *r, const struct event *e);
/* After the last event: ends what is open, at `end_ns` (0: when the last thing happened). */
int nvtx_ranges_finish(struct nvtx_ranges *r, __u64 end_ns);
struct nvtx_counts nvtx_ranges_counts(const struct nvtx_ranges *r);

#endif
