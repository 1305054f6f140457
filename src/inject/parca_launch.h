/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe cuda_correlation: fired on the thread that launches, when the call returns, for as many
 * launches as the thread's limits allow.
 */
#ifndef CUPROBE_INJECT_PARCA_LAUNCH_H
#define CUPROBE_INJECT_PARCA_LAUNCH_H

#include <cupti.h>
#include <stdbool.h>

/* To be told of each call that launches, before and after it. */
void cuprobe_parca_launch(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			  const CUpti_CallbackData *call, bool graph);

#endif
