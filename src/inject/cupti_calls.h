/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The application's CUDA calls that CUPTI shows us, before and after each, on the thread that makes
 * it. What a call does is told by its name, so that no variant of any version is missing. Switching
 * belongs to the control thread.
 *
 * What is shown stays so: when a call's callback is switched off while the call is under way,
 * cuptiFinalize() corrupts the heap. (Seen on an H200, CUPTI 13.0 and driver 580, with eager
 * PyTorch: attached and detached again and again, 9 of 9 processes died within 15 times; of those
 * in which callbacks stayed on none did, 3 times 30.) One that does nothing costs some 100 ns.
 */
#ifndef CUPROBE_INJECT_CUPTI_CALLS_H
#define CUPROBE_INJECT_CUPTI_CALLS_H

#include <cupti.h>
#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/unwind_machine.h"

/* What a call does; bits. */
enum cuprobe_call_class {
	CUPROBE_CALL_LAUNCHES_KERNEL = 1,
	CUPROBE_CALL_LAUNCHES_GRAPH = 2,
	CUPROBE_CALL_USES_GRAPH = 4, /* makes one ready, or launches one; the driver's */
	CUPROBE_CALL_WAITS = 8,	     /* may last for long; the driver's */
	CUPROBE_CALL_COPIES = 16,    /* copies or sets memory */
	CUPROBE_CALL_FENCED = 32,    /* may run a kernel; the driver's: see cupti_fence.h */
};
#define CUPROBE_CALL_LAUNCHES (CUPROBE_CALL_LAUNCHES_KERNEL | CUPROBE_CALL_LAUNCHES_GRAPH)
#define CUPROBE_CALL_ENQUEUES (CUPROBE_CALL_LAUNCHES | CUPROBE_CALL_COPIES)

/* The classes of a call by the name that CUPTI has for it. */
__u8 cuprobe_calls_classes(const char *name);

/*
 * For every call of the driver or the runtime that is shown; `at` is where it is shown from. True
 * when it is the one that has to finalise CUPTI, see cuprobe_release_call().
 */
bool cuprobe_calls_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			    const CUpti_CallbackData *call, struct cuprobe_registers at);

/* A subscription begins: the driver's calls that use graphs or wait are shown until it ends. */
void cuprobe_calls_begin(CUpti_SubscriberHandle of);

/* Other classes are shown too, until the subscription ends. False, and said, when CUPTI refuses. */
bool cuprobe_calls_show(__u8 classes);

/* Likewise all calls. */
CUptiResult cuprobe_calls_show_all(void);

#endif
