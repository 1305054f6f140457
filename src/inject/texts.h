/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and their string ids. Several tables give ids from ranges of their own: what CUPTI and the
 * library itself name (strings.h), what NVTX clients register or use as names, which is kept, and
 * the messages they pass with events, which are forgotten when they have become too many, because a
 * program may make up a new one for each iteration. Texts are told apart by their whole content.
 */
#ifndef CUPROBE_INJECT_TEXTS_H
#define CUPROBE_INJECT_TEXTS_H

#include <stddef.h>

#include <linux/types.h>

#include "src/inject/slots.h"

struct cuprobe_text {
	__u64 hash;
	size_t at; /* in `store`, with a final zero */
	__u32 bytes;
};

/* Zeroed, with `first_id` and the limits set, is empty. Whoever shares one locks it. */
struct cuprobe_texts {
	__u32 lowest_id;   /* of a table that is cleared: its first one ever */
	__u32 first_id;	   /* of the texts that are there */
	__u32 most;	   /* texts */
	size_t most_bytes; /* of text */
	__u32 count;
	struct cuprobe_slots slots; /* numbers of texts, from 1 */
	char *store;
	struct cuprobe_text *texts;
	size_t store_used, store_capacity, texts_capacity;
};

/* The text's id, made if there is none; 0 when a limit is reached or memory is not to be had. */
__u32 cuprobe_texts_id(struct cuprobe_texts *t, const char *text, size_t bytes);

/* NULL when the id is not one of the table's. Valid until the next call for the table. */
const char *cuprobe_texts_find(const struct cuprobe_texts *t, __u32 id, size_t *ret_bytes);

/* Forgets all texts; new ones get new ids, up to the last there is, and then those of long ago. */
void cuprobe_texts_clear(struct cuprobe_texts *t);

/* Defines an id of the table through the probe `string`. Pump thread. */
void cuprobe_texts_define(const struct cuprobe_texts *t, __u32 id);

/* One record of that: the piece at `offset`. Returns the offset of the next, 0 after the last. */
__u32 cuprobe_texts_define_piece(const struct cuprobe_texts *t, __u32 id, __u32 offset);

#endif
