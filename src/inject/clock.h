/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one clock of all records, CLOCK_MONOTONIC. Where CUPTI cannot be made to read it, its own
 * times are moved by an offset that is measured again and again while it runs.
 */
#ifndef CUPROBE_INJECT_CLOCK_H
#define CUPROBE_INJECT_CLOCK_H

#include <stdbool.h>
#include <time.h>

#include <linux/types.h>

static inline __u64 cuprobe_clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000000000ull + (__u64)now.tv_nsec;
}

/* What must be added to CUPTI's times; 0 while CUPTI reads our clock. Pump thread. */
extern __s64 cuprobe_clock_offset_ns;

/*
 * Measures the offset. `foreign` reads CUPTI's clock and is false when it cannot; of several
 * readings the one with the least time around it counts.
 */
void cuprobe_clock_calibrate(bool (*foreign)(__u64 *ret_ns));

#endif
