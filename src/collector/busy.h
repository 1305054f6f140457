/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The length of the union of time intervals that come in any order: how long a device did
 * anything at all.
 *
 * Memory is bounded. When more than BUSY_KEPT separate intervals are known, the older half becomes
 * one, whose holes are remembered as a sum. The figure stays exact as long as nothing comes in
 * later than that; an interval that does is taken to fill holes.
 */
#ifndef CUPROBE_COLLECTOR_BUSY_H
#define CUPROBE_COLLECTOR_BUSY_H

#include <stddef.h>

#include <linux/types.h>

#define BUSY_KEPT 32768

struct busy_interval {
	__u64 start, end;
	__u64 holes; /* of the time from start to end, not busy after all */
};

/* Zeroed is empty. */
struct busy {
	struct busy_interval *kept; /* sorted, apart from each other */
	size_t kept_count, kept_room;
	struct busy_interval *fresh; /* as they came */
	size_t fresh_count, fresh_room;
};

/* start <= end. 0 or -ENOMEM. */
int busy_add(struct busy *b, __u64 start, __u64 end);
/* Adds all that `from` has seen. */
int busy_merge(struct busy *b, struct busy *from);
/* Time covered. */
__u64 busy_total(struct busy *b);
void busy_free(struct busy *b);

#endif
