/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples on their way from whoever fetched them, one thread at a time, to the pump. The memory is
 * taken at the first use.
 */
#ifndef CUPROBE_INJECT_PC_RING_H
#define CUPROBE_INJECT_PC_RING_H

#include <stdbool.h>

#include <linux/types.h>

#define CUPROBE_PC_REASON_BYTES 80

enum cuprobe_pc_item_kind {
	CUPROBE_PC_ITEM_SAMPLE, /* and the kinds of enum cuprobe_pc_kind in `sample.kind` */
	CUPROBE_PC_ITEM_REASON,
	CUPROBE_PC_ITEM_CONFIG,
};

struct cuprobe_pc_item {
	__u32 item; /* enum cuprobe_pc_item_kind */
	__u32 device, context;
	union {
		struct {
			__u32 kind;
			__u64 crc, pc_offset, range, samples;
			const char *function; /* CUPTI's, which it never frees */
			__u32 function_index, stall, correlation, not_issued;
		} sample;
		struct {
			__u32 index;
			char name[CUPROBE_PC_REASON_BYTES];
		} reason;
		struct {
			__u32 period_log2, mode;
			__u64 hardware_bytes;
		} config;
	};
};

/* Waits a little when there is no room, and then counts a lost sample. */
void cuprobe_pc_ring_put(const struct cuprobe_pc_item *item);

/* For the pump: the next one; false when there is none. */
bool cuprobe_pc_ring_take(struct cuprobe_pc_item *ret);

#endif
