/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/budget.h"

#include "cuprobe/abi.h"

#define WINDOW 64u	   /* launches */
#define LEAST 256u	   /* the chance never falls below one in 256 */
#define MEASURED_EVERY 16u /* reading the clock costs, too */
#define MEMORY 8u	   /* measurements that the cost is an average of */
#define MOST_NS 100000000u
#define FIRST_MOST_NS 100000u
#define JUMP 8u /* times the average: beyond that the thread had lost its core meanwhile */
#define SAVED_FIRST_NS 5000000
#define SAVED_MOST_NS 50000000
#define SPREAD 8 /* windows that savings are spent in, or debts paid */

void cuprobe_budget_begin(struct cuprobe_budget *b, __u64 now_ns, __u64 seed)
{
	*b = (struct cuprobe_budget){.window_ns = now_ns,
				     .random = seed | 1,
				     .chance = CUPROBE_BUDGET_ALL,
				     .saved_ns = SAVED_FIRST_NS};
}

static __s64 clamp(__s64 value, __s64 least, __s64 most)
{
	if (value < least)
		return least;
	return value < most ? value : most;
}

static void window_next(struct cuprobe_budget *b, __u64 now_ns, __u32 percent)
{
	__s64 share_ns = (__s64)((now_ns - b->window_ns) * percent / 100);
	__s64 needed_ns = (__s64)b->launches * b->cost_ns, allowed_ns;

	b->saved_ns = clamp(b->saved_ns + share_ns - (__s64)b->stacks * b->cost_ns, -SAVED_MOST_NS,
			    SAVED_MOST_NS);
	allowed_ns = share_ns + b->saved_ns / SPREAD;
	b->chance = CUPROBE_BUDGET_ALL;
	if (percent < 100 && needed_ns > allowed_ns)
		b->chance = (__u32)clamp(allowed_ns * (__s64)CUPROBE_BUDGET_ALL / needed_ns, LEAST,
					 CUPROBE_BUDGET_ALL);
	b->window_ns = now_ns;
	b->launches = 0;
	b->stacks = 0;
}

/* Marsaglia's xorshift. */
static __u32 random_next(struct cuprobe_budget *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return (__u32)(b->random >> 32) % CUPROBE_BUDGET_ALL;
}

__u32 cuprobe_budget_weight(struct cuprobe_budget *b, __u64 now_ns, __u32 percent)
{
	if (b->launches == WINDOW)
		window_next(b, now_ns, percent);
	b->launches++;
	if (b->chance != CUPROBE_BUDGET_ALL && random_next(b) >= b->chance)
		return 0;
	b->stacks++;
	return CUPROBE_LAUNCH_WEIGHT_ONE * CUPROBE_BUDGET_ALL / b->chance;
}

bool cuprobe_budget_measures(const struct cuprobe_budget *b)
{
	return b->chance != CUPROBE_BUDGET_ALL || b->launches % MEASURED_EVERY == 1;
}

void cuprobe_budget_spent(struct cuprobe_budget *b, __u64 ns)
{
	__u64 most_ns = b->cost_ns ? JUMP * (__u64)b->cost_ns : FIRST_MOST_NS;
	__u32 cost_ns = (__u32)clamp((__s64)ns, 0, most_ns < MOST_NS ? (__s64)most_ns : MOST_NS);

	if (b->cost_ns)
		b->cost_ns += cost_ns / MEMORY - b->cost_ns / MEMORY;
	else
		b->cost_ns = cost_ns;
}
