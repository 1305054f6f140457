/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many of a thread's launches get a stack, so that stacks take no more than a given share of
 * its time. Which ones is left to chance, and each says for how many it stands: then sums over
 * them are right on average, whatever pattern the launches have.
 */
#ifndef CUPROBE_INJECT_BUDGET_H
#define CUPROBE_INJECT_BUDGET_H

#include <stdbool.h>

#include <linux/types.h>

#define CUPROBE_BUDGET_ALL 65536u /* the chance of a launch when there is time enough */

/* A thread's; all zeroes at first. */
struct cuprobe_budget {
	__u64 window_ns; /* when the window of launches that is counted began */
	__u64 random;
	__s64 saved_ns; /* of the share, for a burst of launches; negative: overdrawn */
	__u32 launches; /* in this window */
	__u32 stacks;	/* of them */
	__u32 chance;	/* in 1/65536; changes between windows only */
	__u32 cost_ns;	/* of a stack, as measured lately; 0 not yet */
};

/* A thread's first launch, or the first after a pause. `seed` differs from thread to thread. */
void cuprobe_budget_begin(struct cuprobe_budget *b, __u64 now_ns, __u64 seed);

/* The weight of the launch in 1/256, 0 when it gets no stack. With 100 percent all get one. */
__u32 cuprobe_budget_weight(struct cuprobe_budget *b, __u64 now_ns, __u32 percent);

/* Whether what the stack of this launch costs is to be measured, and what it was. */
bool cuprobe_budget_measures(const struct cuprobe_budget *b);
void cuprobe_budget_spent(struct cuprobe_budget *b, __u64 ns);

#endif
