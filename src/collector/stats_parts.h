/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct stats, for the two files that make it. */
#ifndef CUPROBE_COLLECTOR_STATS_PARTS_H
#define CUPROBE_COLLECTOR_STATS_PARTS_H

#include <stdbool.h>

#include "src/collector/map.h"
#include "src/collector/stats.h"

struct process;

/* A row under way. */
struct part {
	struct part *next;
	enum stats_section section;
	struct process *process;
	__u64 key;
	__u32 image;	  /* of the process, when the row began */
	__u32 name_id;	  /* string id; 0 when the name comes from the key */
	const char *name; /* NULL until the string is known */
	struct spread times;
	__u64 bytes;
	__s64 live_bytes, peak_bytes;
};

struct device_part {
	struct device_part *next;
	struct process *process;
	__u32 device;
	struct stats_device figures;
};

struct stats {
	struct model *model;
	bool mangled;
	struct map parts[STATS_SECTIONS];
	struct part *all_parts;
	unsigned int part_count;
	struct map devices;
	struct device_part *all_devices;
	unsigned int device_part_count;
	__u64 events, graph_launches;
	/* After stats_finish: */
	struct stats_row *rows[STATS_SECTIONS];
	size_t row_count[STATS_SECTIONS];
	struct stats_device *joined_devices;
	size_t device_count;
};

/* Looks up the name, unless it is known. Its definition may come after the first event. */
void stats_part_name(struct stats *s, struct part *p);
void stats_free_parts(struct stats *s);

#endif
