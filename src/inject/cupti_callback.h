/* SPDX-License-Identifier: Apache-2.0 */
/* The subscriber's callback, which CUPTI calls on application threads for all that is enabled. */
#ifndef CUPROBE_INJECT_CUPTI_CALLBACK_H
#define CUPROBE_INJECT_CUPTI_CALLBACK_H

#include <cupti.h>
#include <stdbool.h>

void CUPTIAPI cuprobe_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			       const void *data);

/* Whether to be told of contexts and modules. Control thread, while CUPTI is held. */
void cuprobe_callback_resources(bool wanted);

#endif
