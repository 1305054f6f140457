/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The application's CUDA calls that CUPTI shows us, before and after each, on the thread that makes
 * it. Switching belongs to the control thread.
 */
#ifndef CUPROBE_INJECT_CUPTI_CALLS_H
#define CUPROBE_INJECT_CUPTI_CALLS_H

#include <cupti.h>
#include <stdbool.h>

/* What a call does; bits. */
enum cuprobe_call_class {
	CUPROBE_CALL_LAUNCHES_KERNEL = 1,
	CUPROBE_CALL_LAUNCHES_GRAPH = 2,
	CUPROBE_CALL_USES_GRAPH = 4, /* makes one ready, or launches one */
	CUPROBE_CALL_WAITS = 8,	     /* may last for long */
};
#define CUPROBE_CALL_LAUNCHES (CUPROBE_CALL_LAUNCHES_KERNEL | CUPROBE_CALL_LAUNCHES_GRAPH)

/*
 * For every call of the driver or the runtime that is shown. True when it is the one that has to
 * finalise CUPTI, see cuprobe_release_call().
 */
bool cuprobe_calls_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			    const CUpti_CallbackData *call);

/* A subscription begins: the driver's calls that use graphs or wait are shown until it ends. */
void cuprobe_calls_begin(CUpti_SubscriberHandle of);

/* Whether those that launch kernels and graphs are shown too. */
void cuprobe_calls_show_launches(bool on);

/* Whether all are; what was shown before is shown after it. */
CUptiResult cuprobe_calls_show_all(bool on);

#endif
