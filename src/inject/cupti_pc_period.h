/* SPDX-License-Identifier: Apache-2.0 */
/* How often PC sampling takes a sample. */
#ifndef CUPROBE_INJECT_CUPTI_PC_PERIOD_H
#define CUPROBE_INJECT_CUPTI_PC_PERIOD_H

#include <linux/types.h>

/*
 * The period of a device, as a power of two of its cycles, with which it keeps to the settings;
 * `up` more than that when samples were too many. 0: CUPTI's own.
 */
__u32 cuprobe_pc_period(__u32 device, __u32 up);

#endif
