/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up events as they pass: one row for each kernel name, copy direction, API, ... and the busy
 * time of each device. Memory grows with the number of rows, never with the number of events.
 */
#ifndef CUPROBE_COLLECTOR_STATS_H
#define CUPROBE_COLLECTOR_STATS_H

#include <stddef.h>

#include "src/collector/busy.h"
#include "src/collector/event.h"
#include "src/collector/spread.h"

struct model;
struct stats;

enum stats_section {
	STATS_KERNELS,
	STATS_GRAPHS,
	STATS_COPIES,
	STATS_MEMSETS,
	STATS_APIS,
	STATS_SYNCS,
	STATS_MEMORY,
	STATS_UNIFIED_MEMORY,
	STATS_OVERHEADS,
	STATS_SECTIONS
};

struct stats_row {
	char *name;
	struct spread times; /* nanoseconds; for memory the bytes of each operation */
	__u64 bytes;
	__u64 peak_bytes; /* memory: most that was allocated at once, since the recording began */
};

struct stats_device {
	char *name;
	struct busy busy; /* kernels, graphs, copies, memsets */
	__u64 kernels, copies, memsets, graphs;
};

/* `mangled`: do not demangle kernel names. The model outlives the stats. */
int stats_open(struct stats **ret, struct model *model, bool mangled);
void stats_free(struct stats *s);
/* For struct event_sink, with the stats as the argument. 0 or -ENOMEM. */
int stats_event(void *stats, const struct event *e);

/*
 * Brings together what has one name, sorted by total time, the largest first. Once, after the last
 * event; what the functions below give belongs to the stats.
 */
int stats_finish(struct stats *s);
const struct stats_row *stats_rows(const struct stats *s, enum stats_section section,
				   size_t *ret_count);
struct stats_device *stats_devices(struct stats *s, size_t *ret_count);
/* Graph launches that hide the kernels inside, and kernels that were seen inside of graphs. */
__u64 stats_graph_launches(const struct stats *s);
/* Events of the kinds that make rows. */
__u64 stats_events(const struct stats *s);

#endif
