/* SPDX-License-Identifier: Apache-2.0 */
/* Which libcupti to use: the one that the process has, or the one that fits it best. Never two. */
#ifndef CUPROBE_INJECT_CUPTI_FIND_H
#define CUPROBE_INJECT_CUPTI_FIND_H

#include <stdbool.h>
#include <stddef.h>

#define CUPROBE_PATH_MAX 4096

/*
 * A handle for dlsym() of a libcupti that is never unloaded, and its path (CUPROBE_PATH_MAX bytes).
 * NULL when none can be loaded, and then `ret_why` says so.
 */
void *cuprobe_cupti_find(char *ret_path, char *ret_why, size_t why_size);

/* cuDriverGetVersion() and, where libcudart is a shared object, cudaRuntimeGetVersion(); else 0. */
int cuprobe_cuda_driver_version(void);
int cuprobe_cuda_runtime_version(void);

/* Whether the process has another libcupti beside the one that `ours` lies in, and its path. */
bool cuprobe_cupti_find_other(const void *ours, char *ret_path);

#endif
