/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One context that is sampled: how it is set up, and how its samples are fetched. All of it is
 * called under the lock of cupti_pc.c.
 */
#ifndef CUPROBE_INJECT_CUPTI_PC_CONTEXT_H
#define CUPROBE_INJECT_CUPTI_PC_CONTEXT_H

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <stdbool.h>

#include <linux/types.h>

#define CUPROBE_PC_REASONS 128 /* stall reasons that are taken at most */

enum cuprobe_pc_role {
	CUPROBE_PC_ROLE_NONE,	    /* not a reason: a count of something else */
	CUPROBE_PC_ROLE_REASON,	    /* what warps wait for */
	CUPROBE_PC_ROLE_NOT_ISSUED, /* a part of the samples of the reason `base` */
};

/* Room for the samples of one call, laid out as this version of CUPTI does. */
struct cuprobe_pc_room {
	CUpti_PCSamplingData data;
	__u8 *memory;
	size_t capacity;
	__u32 pcs, reasons;
};

struct cuprobe_pc_context {
	CUcontext handle; /* NULL: not in use */
	__u32 id, device;
	bool enabled;
	bool started; /* in a window, where there are windows */
	__u32 period_log2;
	__u64 hardware_bytes;
	__u32 reason_count;
	uint32_t reasons[CUPROBE_PC_REASONS];
	struct {
		__u8 role; /* enum cuprobe_pc_role */
		__u8 base;
	} roles[CUPROBE_PC_REASONS];   /* by CUPTI's index */
	struct cuprobe_pc_room config; /* CUPTI puts samples here by itself, when it must */
	/* How it goes: */
	__u32 failures; /* calls that failed, one after another */
	__u32 restarts;
	__u64 measured_samples; /* since the last window was looked at */
};

/* Makes room for `pcs` instructions with `reasons` reasons each. False without memory. */
bool cuprobe_pc_room_make(struct cuprobe_pc_room *room, __u32 pcs, __u32 reasons);
void cuprobe_pc_room_free(struct cuprobe_pc_room *room);
/* Instruction number `i` of a room. */
CUpti_PCSamplingPCData *cuprobe_pc_room_at(const struct cuprobe_pc_room *room, size_t i);

/*
 * Begins sampling: enable, stall reasons, configuration, which is read back. What CUPTI refused,
 * and of which of its functions that was; sampling may have been enabled then. The period is for
 * good: one that is set while sampling runs is taken, can be read back, and changes nothing (CUPTI
 * 13.0 on an H200).
 */
CUptiResult cuprobe_pc_context_enable(struct cuprobe_pc_context *c, __u32 period_log2,
				      const char **ret_function);
/* False when CUPTI refuses, and may go on. No launch may be under way. */
bool cuprobe_pc_context_disable(struct cuprobe_pc_context *c);

/* Serialized mode: opens or closes a window. No launch may be under way. */
CUptiResult cuprobe_pc_context_window(struct cuprobe_pc_context *c, bool open);

/*
 * Fetches until nothing remains, up to a limit. `room` is the caller's, and serves all contexts.
 * What the last call returned.
 */
CUptiResult cuprobe_pc_context_drain(struct cuprobe_pc_context *c, struct cuprobe_pc_room *room);
/* Takes what CUPTI has put into the context's own room by itself. */
void cuprobe_pc_context_collect(struct cuprobe_pc_context *c);

#endif
