/* SPDX-License-Identifier: Apache-2.0 */
/* The driver that the process has loaded, asked without linking to it. */
#ifndef CUPROBE_INJECT_CUDA_DRIVER_H
#define CUPROBE_INJECT_CUDA_DRIVER_H

/* NULL when the process has no libcuda, or one without the function. */
void *cuprobe_driver_function(const char *name);

/* The first device from this number on that has a primary context by now; -1: none has. */
int cuprobe_driver_next_used(int device);

#endif
