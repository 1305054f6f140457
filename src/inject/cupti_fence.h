/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments without a launch. To switch PC sampling off, or to open or close a window of it, CUPTI
 * takes its own lock and then the driver's; a kernel that is launched takes them the other way
 * around, and both wait for ever. Kernels of the driver's own do, too: it sets memory with them,
 * copies on the device or to an array, and fills the variables of modules that are loaded, which
 * may be when something of theirs is asked for. (Seen on an H200, CUPTI 13.0 and driver 580: a
 * thread that did one of these again and again stood still within the first
 * cuptiPCSamplingDisable(); none of 19 other kinds of calls did in 15 of them, like making memory,
 * streams, events and contexts, and copies from and to the host.) So these calls are counted while
 * contexts are sampled, and held back for as long as such a switch takes. test/gpu/standstill.cu
 * shows which they are.
 */
#ifndef CUPROBE_INJECT_CUPTI_FENCE_H
#define CUPROBE_INJECT_CUPTI_FENCE_H

#include <cupti.h>
#include <stdbool.h>

/* Launches that begin from now on are counted. When nothing is sampled yet. */
void cuprobe_fence_begin(void);
/* No longer; opens the fence, which is closed, so that none is under way. */
void cuprobe_fence_end(void);

/* On the application's thread, before and after each of these calls of the driver. */
void cuprobe_fence_launch(const CUpti_CallbackData *call);

/*
 * Holds back launches that begin, and waits a moment for those under way; `meanwhile` is called
 * again and again, for what they may wait for themselves. False when they take too long, and for
 * some time after that: the application is to run on. One thread at a time.
 */
bool cuprobe_fence_close(void (*meanwhile)(void));
void cuprobe_fence_open(void);

#endif
