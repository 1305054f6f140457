/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and their string ids. NVTX has two tables of them: what clients register or use as names,
 * which is kept, and the messages they pass with events, which are forgotten when they have become
 * too many, because a program may make up a new one for each iteration. Both give ids from ranges
 * of their own, apart from those of strings.h, and no id ever stands for a second text.
 */
#ifndef CUPROBE_INJECT_NVTX_TEXTS_H
#define CUPROBE_INJECT_NVTX_TEXTS_H

#include <stddef.h>

#include <linux/types.h>

struct nvtx_texts_entry {
	__u64 hash;
	size_t at;
	__u32 bytes;
};

/* Zeroed, with `first_id` and the limits set, is empty. Whoever shares one locks it. */
struct nvtx_texts {
	__u32 first_id;
	__u32 most;	   /* texts */
	size_t most_bytes; /* of text */
	__u32 count;
	__u32 slot_mask;
	char *store;
	struct nvtx_texts_entry *entries;
	__u32 *slots; /* open addressing: number + 1, 0 free; at most half full */
	size_t store_used, store_capacity, entries_capacity, slots_capacity;
};

/* The text's id, made if there is none; 0 when a limit is reached or memory is not to be had. */
__u32 cuprobe_nvtx_texts_id(struct nvtx_texts *t, const char *text, size_t bytes);
/* NULL when the id is not one of the table's. Valid until the next call for the table. */
const char *cuprobe_nvtx_texts_find(const struct nvtx_texts *t, __u32 id, size_t *ret_bytes);
/* Forgets all texts; new ones get new ids. */
void cuprobe_nvtx_texts_clear(struct nvtx_texts *t);
/* Defines an id of the table through the probe `string`. Pump thread. */
void cuprobe_nvtx_texts_define(const struct nvtx_texts *t, __u32 id);

#endif
