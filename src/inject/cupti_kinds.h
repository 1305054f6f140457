/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which CUPTI activity kinds stand behind which probe, and switching them. Only the control thread
 * comes here, and the driver's injection call before that thread exists.
 */
#ifndef CUPROBE_INJECT_CUPTI_KINDS_H
#define CUPROBE_INJECT_CUPTI_KINDS_H

#include <cupti.h>
#include <stdbool.h>

#include <linux/types.h>

/* Probes that CUPTI is needed for. */
extern const __u32 cuprobe_kinds_probes;

/*
 * Switches the kinds behind the wanted probes on and all others off. A kind that CUPTI refuses is
 * reported once and tried again later; the rest goes on. `cuda_up` is false inside cuInit(), where
 * what needs a driver is left for the next call. Returns the probes of which something is on.
 * CUDA graphs are traced node by node while CUPROBE_PARCA_KERNELS is among what is wanted.
 */
__u32 cuprobe_kinds_apply(__u32 wanted_probes, bool cuda_up);

/*
 * Switches everything off, or, when CUPTI is gone, only forgets that it was on. False when CUPTI
 * refused to switch a kind off, now or before.
 */
bool cuprobe_kinds_stop(bool cupti_gone);

/* What a user can do when CUPTI refuses with that; NULL: nothing is known. */
const char *cuprobe_kinds_remedy(CUptiResult result);

/*
 * Whether, since CUPTI came up or was finalised, kinds were on that change what CUDA graphs do on
 * the GPU, and whether graphs keep memory of CUPTI's because of what was on.
 */
bool cuprobe_kinds_gpu_used(void);
bool cuprobe_kinds_gpu_sticks(void);
void cuprobe_kinds_gpu_forget(void);

#endif
