/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Chrome trace (JSON) as PyTorch's profiler, Kineto, writes it, so that Perfetto,
 * chrome://tracing and Holistic Trace Analysis read it in the same way. The parts of one sink:
 * chrome.c opens, closes and hands events out; chrome_gpu.c, chrome_cpu.c, chrome_memory.c and
 * chrome_nvtx.c write them; chrome_meta.c says what the lanes are, and what the recording was.
 *
 * Times are microseconds since the base. `baseTimeNanoseconds` is the base in CLOCK_REALTIME: the
 * moment, CHROME_LEAD_NS before the recording began, for which ts is 0. The lead is there because a
 * call may have begun before the recording did, and viewers drop negative times.
 *
 * Where this trace says more or otherwise than Kineto's, it is because of this:
 * - Synchronisation has lanes of its own, and no `stream` argument but `on stream`: HTA takes all
 *   that has a stream for GPU work, and would see no idle time while the CPU waits.
 * - Overhead has synthetic pids, not pid -1, which Perfetto draws on GPU 0.
 * - A driver call inside a runtime call has `runtime correlation`, not `correlation`: HTA would
 * take it for one more launch.
 * - A graph launched as a whole (GRAPH_TRACE) is a slice of category `kernel`.
 * - `cuprobe`, behind the events, holds the loss ledger.
 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_CHROME_H
#define CUPROBE_COLLECTOR_OUTPUT_CHROME_H

#include <stdbool.h>
#include <stddef.h>

#include "src/collector/event.h"
#include "src/collector/map.h"
#include "src/collector/output/file.h"
#include "src/collector/output/flows.h"
#include "src/collector/output/lanes.h"
#include "src/collector/output/text.h"
#include "src/collector/sink.h"

#define CHROME_LEAD_NS 1000000000ull
#define CHROME_ARGS_BYTES 4096 /* room for the arguments of one event */
#define CHROME_HEAD_BYTES 16384

/* A name as it goes between quotes. */
struct chrome_name {
	size_t bytes;
	bool enqueues; /* an API call that puts work on a GPU */
	char text[];
};

/* What launches of the same shape have in common, as text; direct-mapped. */
#define SHAPE_NUMBERS 14
#define SHAPES 1024
struct chrome_shape {
	__u32 key[SHAPE_NUMBERS];
	unsigned int bytes; /* 0: free */
	char text[512];
};

/* Where and by which call an event was recorded last; direct-mapped. */
#define RECORDED_EVENTS 16384
struct recorded_event {
	__u64 key; /* 0: free */
	__u32 stream, correlation;
};

struct sink {
	struct sink_opts opts;
	struct output *out;
	struct lanes *lanes;
	struct flows *flows;	       /* NULL: no API calls were recorded */
	struct map names[2];	       /* by string; of kernels, of API calls */
	struct chrome_name *undefined; /* the last name that was not defined (yet) */
	struct map memory;	       /* struct memory_counter by process and device */
	struct chrome_nvtx *nvtx;      /* NULL: no NVTX is to come */
	__u64 base_ns;
	__u64 last_ns;
	struct chrome_shape shapes[SHAPES];
	struct recorded_event recorded[RECORDED_EVENTS];
};

/* In ts: since the base. */
static inline char *put_ts(const struct sink *s, char *p, __u64 ns)
{
	return put_us(p, ns > s->base_ns ? ns - s->base_ns : 0);
}

/*
 * Writes a slice up to the first argument and returns where arguments go (each with a comma behind
 * it but the last), with room for CHROME_ARGS_BYTES; end it with chrome_end. `name` is escaped.
 */
char *chrome_slice(struct sink *s, const char *category, const struct lane *lane, __u64 start_ns,
		   __u64 end_ns, const char *name, size_t name_bytes);
int chrome_end(struct sink *s, char *p);
/* The end of an arrow, at the start of a slice on `lane`. */
void chrome_flow_end(struct sink *s, const struct lane *lane, __u64 start_ns, __u32 correlation);

/* Writes an API call and, unless it is part of another, the start of its arrow. */
void chrome_call(void *sink, const struct flow_call *call, bool inner);

/* NULL only without memory. */
const struct chrome_name *chrome_kernel_name(struct sink *s, struct process *p, __u32 id);
const struct chrome_name *chrome_api_name(struct sink *s, struct process *p, __u32 id);

int chrome_kernel(struct sink *s, const struct event *e);
int chrome_graph(struct sink *s, const struct event *e);
int chrome_memcpy(struct sink *s, const struct event *e);
int chrome_memset(struct sink *s, const struct event *e);
int chrome_api(struct sink *s, const struct event *e);
int chrome_sync(struct sink *s, const struct event *e);
int chrome_overhead(struct sink *s, const struct event *e);
int chrome_memory(struct sink *s, const struct event *e);
int chrome_unified_memory(struct sink *s, const struct event *e);

/* Ranges are written when they have ended and their GPU work has come: finish writes the rest. */
int chrome_nvtx_open(struct sink *s);
int chrome_nvtx(struct sink *s, const struct event *e);
int chrome_nvtx_finish(struct sink *s, __u64 end_ns);
void chrome_nvtx_free(struct chrome_nvtx *c);
/* The name of a lane of kind LANE_NVTX or LANE_ANNOTATION; returns its length. */
int chrome_nvtx_lane_words(const struct sink *s, const struct lane *lane, char *name, size_t size);

/* What stands before the events and is known only at the end, at most CHROME_HEAD_BYTES. */
size_t chrome_put_head(const struct sink *s, char *p);
/* Names and order of processes and threads. */
void chrome_put_lanes(struct sink *s);
/* The last event, the end of the list, and what follows it. */
void chrome_put_tail(struct sink *s);

#endif
