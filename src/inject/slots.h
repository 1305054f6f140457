/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers by a hash of what they stand for: open addressing, at most half full, in memory of the
 * library's own.
 */
#ifndef CUPROBE_INJECT_SLOTS_H
#define CUPROBE_INJECT_SLOTS_H

#include <stddef.h>

#include <linux/types.h>

/* Zeroed is empty. A search begins at the slot `hash & mask` and ends at the first free one. */
struct cuprobe_slots {
	__u32 *numbers; /* 0: free */
	size_t capacity;
	__u32 mask;
};

/*
 * Room for one more beside `count` of them. 1 when the slots had to be made anew: then they are
 * empty, and all are to be put in again. 0 otherwise, or -ENOMEM.
 */
int cuprobe_slots_reserve(struct cuprobe_slots *s, __u32 count);

static inline void cuprobe_slots_put(struct cuprobe_slots *s, __u32 hash, __u32 number)
{
	__u32 slot = hash & s->mask;

	while (s->numbers[slot])
		slot = (slot + 1) & s->mask;
	s->numbers[slot] = number;
}

#endif
