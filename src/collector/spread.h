/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a quantity is spread: exact count, sum, least, greatest, mean and standard deviation, and a
 * median that is exact below 128 and within 0.8 % (1/128) above, in a few KiB whatever the count.
 */
#ifndef CUPROBE_COLLECTOR_SPREAD_H
#define CUPROBE_COLLECTOR_SPREAD_H

#include <linux/types.h>

#define SPREAD_STEPS_LOG2 6 /* buckets in each power of two */
#define SPREAD_OCTAVES (65 - SPREAD_STEPS_LOG2)

/* Zeroed is empty. */
struct spread {
	__u64 count, sum, least, greatest; /* sum stays at its maximum rather than wrap */
	double mean, squares;		   /* of Welford's method */
	__u64 *octaves[SPREAD_OCTAVES];
};

/* 0 or -ENOMEM. */
int spread_add(struct spread *s, __u64 value);
/* Adds all that `from` has seen. 0 or -ENOMEM. */
int spread_merge(struct spread *s, const struct spread *from);
double spread_deviation(const struct spread *s); /* of a sample; 0 for fewer than 2 */
__u64 spread_median(const struct spread *s);
void spread_free(struct spread *s);

#endif
