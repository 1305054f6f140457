/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contexts that are sampled: they come and go, fail, and are tried again. All of it is called
 * under the lock of cupti_pc.c, while CUPTI is held.
 */
#ifndef CUPROBE_INJECT_CUPTI_PC_CONTEXTS_H
#define CUPROBE_INJECT_CUPTI_PC_CONTEXTS_H

#include <cupti.h>
#include <stdbool.h>

#include <linux/types.h>

/* Sampling begins, with no context yet. False, and said, where this CUPTI has none. */
bool cuprobe_pc_contexts_begin(void);
/* What launches that take long prevent is to be tried again: false. */
bool cuprobe_pc_contexts_end(void);

/* A context that is new, or not known to be old. */
void cuprobe_pc_contexts_add(CUcontext handle);
/* Contexts that were there before us; of others than the primary ones nobody tells. */
void cuprobe_pc_contexts_look(void);
/* A module was loaded into it: what CUPTI flushed at that is taken before the next one is. */
void cuprobe_pc_contexts_loaded(CUcontext handle);
/*
 * Without the lock, by the thread that loads: whoever has it may wait for this very thread, see
 * cupti_fence.h, and takes what was flushed meanwhile.
 */
__u32 cuprobe_pc_contexts_load(void);
bool cuprobe_pc_contexts_load_is_seen(__u32 load);
/* It is about to be destroyed. */
void cuprobe_pc_contexts_remove(CUcontext handle);

/* Enables those whose time has come again. */
void cuprobe_pc_contexts_retry(void);
/* Fetches the samples of all. */
void cuprobe_pc_contexts_drain(void);
/* Serialized mode: opens or closes a window in all. False when launches take too long. */
bool cuprobe_pc_contexts_window(bool open);
/* Samples since the last call. */
__u64 cuprobe_pc_contexts_measured(void);

/* CUPTI has refused to switch sampling off. */
bool cuprobe_pc_contexts_stuck(void);

#endif
