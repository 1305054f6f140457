/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes activity_batch and kernel_executed: kernels in CUPTI's own layout. Those whose launch
 * was not told through cuda_correlation are left out, as nobody could tell where they came from;
 * unless nobody listens there. Everything here belongs to the pump thread.
 */
#ifndef CUPROBE_INJECT_PARCA_KERNELS_H
#define CUPROBE_INJECT_PARCA_KERNELS_H

#include <stdbool.h>

#include <linux/types.h>

/* Before a buffer is decoded. True when somebody wants its kernels. */
bool cuprobe_parca_kernels_begin(void);

/* Takes one record of CUPTI's, of any version. */
void cuprobe_parca_kernel(const __u8 *record);

/* Fires what has been taken. */
void cuprobe_parca_kernels_fire(void);

#endif
