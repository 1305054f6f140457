/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PC sampling: when contexts are sampled, and the thread that fetches their samples. In continuous
 * mode all the time; in serialized mode in windows that this thread opens and closes.
 */
#ifndef CUPROBE_INJECT_CUPTI_PC_H
#define CUPROBE_INJECT_CUPTI_PC_H

#include <cupti.h>
#include <stdbool.h>

#include <linux/types.h>

/*
 * Samples all contexts there are and will be, or none; returns whether sampling is on, which may
 * take some turns to end. Control thread, while CUPTI is held, or inside cuInit() when there is no
 * context yet (`cuda_up` false).
 */
bool cuprobe_pc_apply(bool wanted, bool cuda_up);

/* CUPTI refused to switch sampling off: finalising it would be unsafe. */
bool cuprobe_pc_is_stuck(void);

/* The process ends: fetches what there is, for at most so long. */
void cuprobe_pc_finish(__u64 timeout_ns);

/* On the application's thread that creates or destroys a context or loads a module. */
void cuprobe_pc_callback(CUpti_CallbackId cbid, const CUpti_ResourceData *data);

/* For the pump: publishes what has been fetched. */
void cuprobe_pc_pump(__u64 now_ns);

#endif
