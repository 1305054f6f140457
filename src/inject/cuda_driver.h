/* SPDX-License-Identifier: Apache-2.0 */
/* The driver that the process has loaded, asked without linking to it. */
#ifndef CUPROBE_INJECT_CUDA_DRIVER_H
#define CUPROBE_INJECT_CUDA_DRIVER_H

#include <stdbool.h>

/* NULL when the process has no libcuda, or one without the function. */
void *cuprobe_driver_function(const char *name);

/* A device has a primary context by now. */
bool cuprobe_driver_is_used(void);

#endif
