/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/unwind.h"

#include "src/inject/hash.h"
#include "src/inject/unwind_places.h"
#include "src/inject/unwind_rules.h"
#include "src/inject/unwind_window.h"

#define FIRST_PAGES 65536u /* no code lies below */

/* Every word of the stack is read here: other tools' red zones are none of our business. */
__attribute__((no_sanitize("address", "thread"))) static inline __u64
word(const struct cuprobe_unwinding *u, __u64 at)
{
	return *(const __u64 *)(at + u->delta);
}

struct stepped {
	struct cuprobe_registers to;
	enum cuprobe_unwind_end end;
};

static inline bool is_readable(const struct cuprobe_unwinding *u, __u64 at)
{
	return at >= u->low && at <= u->high - sizeof(__u64) && !(at % CUPROBE_FRAME_ALIGNMENT);
}

/* A copied stack may go on where the copy ends. */
static bool copy_anew(struct cuprobe_unwinding *u, __u64 sp)
{
	return u->delta && u->low != sp && cuprobe_window_move(u, sp);
}

static bool signal_is_readable(const struct cuprobe_unwinding *u, __u64 sp)
{
	return is_readable(u, sp + CUPROBE_SIGNAL_FP) && is_readable(u, sp + CUPROBE_SIGNAL_PC);
}

/* What a signal interrupted may have run on another stack. */
static enum cuprobe_unwind_end signal_step(struct cuprobe_unwinding *u, __u64 sp)
{
	if (!signal_is_readable(u, sp) && (!copy_anew(u, sp) || !signal_is_readable(u, sp)))
		return CUPROBE_UNWIND_BROKEN;
	u->rare.fp = word(u, sp + CUPROBE_SIGNAL_FP);
	u->rare.sp = word(u, sp + CUPROBE_SIGNAL_SP);
	u->rare.pc = word(u, sp + CUPROBE_SIGNAL_PC) + 1;
	if (!is_readable(u, u->rare.sp) && !cuprobe_window_jump(u, u->rare.sp))
		return CUPROBE_UNWIND_BROKEN;
	return CUPROBE_UNWIND_ON;
}

/* 0 where there can be none: it is always above sp and within what may be read. */
static inline __u64 canonical_address(const struct cuprobe_unwinding *u, struct cuprobe_rule rule,
				      struct cuprobe_registers from)
{
	__u64 cfa = (rule.kind == CUPROBE_RULE_SP ? from.sp : from.fp) + (__u64)(__s64)rule.offset;

	if (rule.kind < CUPROBE_RULE_SP)
		return 0;
	if (rule.kind == CUPROBE_RULE_FP_MEMORY)
		cfa = is_readable(u, cfa) && is_readable(u, from.fp) ? word(u, cfa) : 0;
	if (cfa - from.sp - 1 >= u->high - from.sp || cfa % CUPROBE_FRAME_ALIGNMENT)
		return 0;
	return cfa;
}

static enum cuprobe_unwind_end rare_step(struct cuprobe_unwinding *u, struct cuprobe_rule rule,
					 struct cuprobe_registers from);

/* From a frame to its caller. Keeps sp between u->low and u->high. */
static inline struct stepped step(struct cuprobe_unwinding *u, struct cuprobe_rule rule,
				  struct cuprobe_registers from)
{
	__u64 cfa = canonical_address(u, rule, from);
	__u64 pc_at = cfa - rule.pc * sizeof(__u64);
	__u64 fp_at = rule.kind == CUPROBE_RULE_FP_MEMORY ? from.fp : cfa - rule.fp * sizeof(__u64);
	struct stepped s;

	if (!cfa || pc_at < u->low || fp_at < u->low) {
		s.end = rare_step(u, rule, from);
		s.to = u->rare;
		return s;
	}
	s.to.sp = cfa;
	s.to.pc = word(u, pc_at);
	s.to.fp = fp_at == cfa ? from.fp : word(u, fp_at);
	s.end = s.to.pc < FIRST_PAGES ? CUPROBE_UNWIND_TOP : CUPROBE_UNWIND_ON;
	return s;
}

/* Where there is no canonical address. */
__attribute__((noinline)) static enum cuprobe_unwind_end
rare_step(struct cuprobe_unwinding *u, struct cuprobe_rule rule, struct cuprobe_registers from)
{
	struct stepped s;

	if (rule.kind == CUPROBE_RULE_END)
		return CUPROBE_UNWIND_TOP;
	if (rule.kind == CUPROBE_RULE_SIGNAL)
		return signal_step(u, from.sp);
	if (!copy_anew(u, from.sp))
		return CUPROBE_UNWIND_BROKEN;
	s = step(u, rule, from);
	u->rare = s.to;
	return s.end;
}

/* Addresses mean something else after a module was unloaded: so the hash is another one. */
static __u64 hash_end(__u64 hash, enum cuprobe_unwind_end end)
{
	hash = cuprobe_hash_mix(hash,
				atomic_load_explicit(&cuprobe_rules_unloads, memory_order_relaxed));
	return cuprobe_hash_mix(hash, end);
}

/*
 * What is read next depends on the place that was expected, not on what was read last: so the
 * processor need not wait for one load to begin the next. The compiler must not see that both are
 * the same.
 */
static inline const struct cuprobe_unwind_place *place_at(const struct cuprobe_unwinding *u,
							  __u32 number)
{
	__asm__("" : "+r"(number));
	return &u->places[number];
}

/*
 * Whether the caller is the place behind; on the thread's own stack. `fp` is where fp's value is:
 * few frames need it.
 */
__attribute__((no_sanitize("address", "thread"))) static inline bool
goes_behind(const struct cuprobe_unwind_place *place, const __u64 **fp)
{
	struct cuprobe_rule rule = place->rule;
	const __u64 *sp = (const __u64 *)place[1].sp;

	if (place->behind == CUPROBE_UNWIND_BEHIND_NOTHING)
		return false;
	if (place->behind == CUPROBE_UNWIND_BEHIND_BY_FP &&
	    **fp + (__u64)(__s64)rule.offset != (__u64)sp)
		return false;
	if (sp[-rule.pc] != place[1].pc)
		return false;
	if (rule.fp)
		*fp = &sp[-rule.fp];
	return true;
}

__attribute__((noinline, no_sanitize("address", "thread"))) static struct stepped
whole_step(struct cuprobe_unwinding *u, const struct cuprobe_unwind_place *place, const __u64 *fp)
{
	return step(u, place->rule, (struct cuprobe_registers){.sp = place->sp, .fp = *fp});
}

static __u64 walk(struct cuprobe_unwinding *u, struct cuprobe_registers at)
{
	__u32 number = cuprobe_places_find(u, 0, at.pc, at.sp), depth = 0;
	struct stepped s = {.to = at, .end = CUPROBE_UNWIND_BROKEN};
	const __u64 *fp = &s.to.fp;
	__u64 hash = 0;

	for (;;) {
		const struct cuprobe_unwind_place *place = place_at(u, number);

		u->path[depth++] = (__u16)number;
		hash = cuprobe_hash_append(hash, cuprobe_hash_mix(0, place->pc));
		if (depth == CUPROBE_UNWIND_FRAMES)
			break;
		number++;
		if (!u->delta && goes_behind(place, &fp))
			continue;
		s = whole_step(u, place, fp);
		fp = &s.to.fp;
		if (s.end != CUPROBE_UNWIND_ON)
			break;
		number = cuprobe_places_find(u, number - 1, s.to.pc, s.to.sp);
	}
	u->depth = depth;
	u->end = s.end == CUPROBE_UNWIND_ON ? CUPROBE_UNWIND_BROKEN : s.end;
	return hash_end(hash, u->end);
}

static __u64 walk_from(struct cuprobe_unwinding *u, struct cuprobe_registers at)
{
	cuprobe_places_begin(u);
	cuprobe_window_move(u, at.sp);
	return walk(u, at);
}

__u64 cuprobe_unwind(struct cuprobe_unwinding *u, struct cuprobe_registers at)
{
	__u64 hash;

	u->learned = false;
	hash = walk_from(u, at);
	/* Learning may have found that a module is gone. */
	return cuprobe_places_are_current(u) ? hash : walk_from(u, at);
}

void cuprobe_unwind_init(struct cuprobe_unwinding *u)
{
	cuprobe_window_init(u);
	cuprobe_places_forget(u);
}
