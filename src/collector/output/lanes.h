/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes of a Chrome trace: the (pid, tid) pairs that slices are drawn on.
 *
 * CPU threads have their real numbers, and GPU streams pid = device and tid = stream, as in
 * Kineto's traces, as long as nobody else in the trace has them. What would clash (a second process
 * on device 0, a second context's stream 7, a pid used twice) gets numbers from LANE_SYNTHETIC on,
 * above every real pid, and a name that says what it is.
 *
 * Slices of one lane nest or follow each other; one that would overlap another partly goes to a
 * further lane of the same name. That is so for kernels of one stream that do run at the same time
 * (programmatic dependent launch) and for threads that wait for the same stream. A slice is
 * compared with the last LANE_WINDOW ones of its lane: slices that overlap each other arrive near
 * each other, whatever the order of the buffers.
 *
 * There are at most about LANES_MOST lanes, however many streams junk makes up; the slices that
 * would need more come together on one lane for each process and kind, with CUPROBE_NO_ID as its
 * id.
 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_LANES_H
#define CUPROBE_COLLECTOR_OUTPUT_LANES_H

#include <stdbool.h>

#include <linux/types.h>

struct process;

#define LANE_WINDOW 128
#define LANES_MOST 16384
#define LANE_SYNTHETIC 10000000
#define LANE_SYNC_TID 1000000 /* plus the stream; likewise in Kineto's traces */
#define LANE_MOST_OVERLAPS 64

enum lane_kind {
	LANE_THREAD,	 /* id: thread */
	LANE_STREAM,	 /* device, context, id: stream */
	LANE_SYNC,	 /* device, context, id: stream or CUPROBE_NO_ID: all of the context */
	LANE_MEMORY,	 /* device: unified memory's own transfers and faults */
	LANE_NVTX,	 /* id: thread, context: NVTX domain */
	LANE_ANNOTATION, /* device, context: number of an annotator, see chrome_nvtx.c, id: stream
			  */
	LANE_OVERHEAD,	 /* id: thread or CUPROBE_NO_ID */
};

/* All lanes of a process with one pid in the trace: its threads, one of its devices, ... */
struct lane_group {
	struct lane_group *next;
	struct process *process;
	__u32 device; /* CUPROBE_NO_ID: the process's CPU threads */
	bool overhead;
	__u32 pid;
	__u64 first_ns;
	struct lane *lanes, **lanes_end;
};

struct lane_window {
	__u64 start_ns[LANE_WINDOW], end_ns[LANE_WINDOW];
	unsigned int count;	/* slices seen */
	unsigned int unordered; /* so many slices ago, at least, one ended before its forerunner */
	__u64 latest_end_ns;
};

struct lane {
	struct lane *next;	/* of the group */
	struct lane *hash_next; /* of the bucket */
	struct lane *overflow;	/* for slices that would overlap this lane's partly */
	struct lane_group *group;
	enum lane_kind kind;
	unsigned int overlap; /* 0, or how many lanes of its name are before it */
	__u32 context, id;
	__u32 tid;
	__u64 first_ns;
	struct lane_window window;
};

struct lanes;

int lanes_open(struct lanes **ret);
void lanes_free(struct lanes *l);

/* The lane of a slice; NULL only without memory. `device` and `context`: see enum lane_kind. */
struct lane *lanes_slice(struct lanes *l, struct process *process, enum lane_kind kind,
			 __u32 device, __u32 context, __u32 id, __u64 start_ns, __u64 end_ns);
/* The group of a device, or of the CPU threads (CUPROBE_NO_ID), without a slice. */
struct lane_group *lanes_group(struct lanes *l, struct process *process, __u32 device,
			       __u64 time_ns);
/* In the order of appearance. */
struct lane_group *lanes_groups(const struct lanes *l);
/* True when a lane of another context of the same group has the same kind and id. */
bool lane_is_ambiguous(const struct lane *lane);

#endif
