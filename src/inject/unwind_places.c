/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/unwind_places.h"

#include <string.h>

#include "src/inject/unwind_rules.h"

#define MOST (CUPROBE_UNWIND_PLACES - CUPROBE_UNWIND_FRAMES) /* at the beginning of a walk */

bool cuprobe_places_are_current(const struct cuprobe_unwinding *u)
{
	return u->generation ==
	       atomic_load_explicit(&cuprobe_rules_generation, memory_order_acquire);
}

void cuprobe_places_forget(struct cuprobe_unwinding *u)
{
	memset(u->places, 0, (u->count + 1) * sizeof(u->places[0]));
	memset(u->index, 0, sizeof(u->index));
	u->count = 0;
	u->generation = atomic_load_explicit(&cuprobe_rules_generation, memory_order_acquire);
}

void cuprobe_places_begin(struct cuprobe_unwinding *u)
{
	if (!cuprobe_places_are_current(u) || u->count > MOST)
		cuprobe_places_forget(u);
}

static struct cuprobe_rule rule_for(struct cuprobe_unwinding *u, __u64 pc)
{
	struct cuprobe_rule rule;

	if (cuprobe_rules_get(pc - 1, &rule))
		return rule;
	u->learned = true;
	return cuprobe_rules_learn(pc - 1);
}

static __u16 *bucket(struct cuprobe_unwinding *u, __u64 pc, __u64 sp)
{
	__u64 hash = (pc ^ sp << 32) * 0x9e3779b97f4a7c15ull;

	return &u->index[hash >> (64 - CUPROBE_UNWIND_PLACES_LOG)];
}

static bool is_between(__u64 at, __u64 low, __u64 high)
{
	return at >= low && at <= high - sizeof(__u64) && !(at % CUPROBE_FRAME_ALIGNMENT);
}

/* On the thread's own stack: what lies above a place that a walk has reached can be read. */
static enum cuprobe_unwind_behind behind(const struct cuprobe_unwinding *u,
					 const struct cuprobe_unwind_place *place)
{
	struct cuprobe_rule rule = place->rule;
	__u64 sp = place[1].sp;

	if (place->sp < u->own_low || sp > u->own_high ||
	    !is_between(sp - rule.pc * sizeof(__u64), place->sp, sp) ||
	    (rule.fp && !is_between(sp - rule.fp * sizeof(__u64), place->sp, sp)))
		return CUPROBE_UNWIND_BEHIND_NOTHING;
	if (rule.kind == CUPROBE_RULE_SP)
		return CUPROBE_UNWIND_BEHIND_BY_SP;
	if (rule.kind == CUPROBE_RULE_FP || rule.kind == CUPROBE_RULE_CHAIN)
		return CUPROBE_UNWIND_BEHIND_BY_FP;
	return CUPROBE_UNWIND_BEHIND_NOTHING;
}

static __u16 place_add(struct cuprobe_unwinding *u, __u32 from, __u16 *head, __u64 pc, __u64 sp)
{
	__u16 number = (__u16)++u->count;

	u->places[number] = (struct cuprobe_unwind_place){
		.pc = pc, .sp = sp, .rule = rule_for(u, pc), .next = *head};
	*head = number;
	if (from && number == from + 1)
		u->places[from].behind = behind(u, &u->places[from]);
	return number;
}

static inline bool is_at(const struct cuprobe_unwind_place *place, __u64 pc, __u64 sp)
{
	return !((place->pc ^ pc) | (place->sp ^ sp));
}

__u32 cuprobe_places_find(struct cuprobe_unwinding *u, __u32 from, __u64 pc, __u64 sp)
{
	__u16 *head, number = u->places[from].caller;

	if (is_at(&u->places[number], pc, sp))
		return number;
	head = bucket(u, pc, sp);
	for (number = *head; number; number = u->places[number].next) {
		if (is_at(&u->places[number], pc, sp))
			break;
	}
	if (!number)
		number = place_add(u, from, head, pc, sp);
	u->places[from].caller = number;
	return number;
}
