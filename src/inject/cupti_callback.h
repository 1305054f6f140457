/* SPDX-License-Identifier: Apache-2.0 */
/* The subscriber's callback, which CUPTI calls on application threads for all that is enabled. */
#ifndef CUPROBE_INJECT_CUPTI_CALLBACK_H
#define CUPROBE_INJECT_CUPTI_CALLBACK_H

#include <cupti.h>

void CUPTIAPI cuprobe_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			       const void *data);

/*
 * Of resources CUPTI tells what was asked for until the subscription ends, as of calls
 * (cupti_calls.h). Control thread, while CUPTI is held.
 */
void cuprobe_callback_begin(CUpti_SubscriberHandle of);

/* From now on, with contexts and modules. */
void cuprobe_callback_modules(void);

/* Likewise, with nodes of graphs. */
void cuprobe_callback_nodes(void);

#endif
