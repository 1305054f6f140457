/* SPDX-License-Identifier: Apache-2.0 */
/* A CUPTI that accepts all and delivers nothing, as one that is older than the driver does. */
#ifndef CUPROBE_INJECT_CUPTI_SILENCE_H
#define CUPROBE_INJECT_CUPTI_SILENCE_H

#include <stdbool.h>

/* CUPTI has come up, while the program used CUDA already or not, to deliver records or not. */
void cuprobe_silence_begin(bool cuda_up, bool records);

/* Now and then while it is up: says so when it has been silent for too long. */
void cuprobe_silence_watch(void);

#endif
