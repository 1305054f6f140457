/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/clock.h"

#define CALIBRATION_READINGS 8

__s64 cuprobe_clock_offset_ns;

void cuprobe_clock_calibrate(bool (*foreign)(__u64 *ret_ns))
{
	__u64 narrowest = ~0ull;

	for (int i = 0; i < CALIBRATION_READINGS; i++) {
		__u64 before = cuprobe_clock_now(), after, foreign_ns;

		if (!foreign(&foreign_ns))
			return;
		after = cuprobe_clock_now();
		if (after - before >= narrowest)
			continue;
		narrowest = after - before;
		cuprobe_clock_offset_ns = (__s64)(before + narrowest / 2 - foreign_ns);
	}
}
