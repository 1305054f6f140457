/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/unwind.h"

#include "src/inject/unwind_rules.h"
#include "src/inject/unwind_window.h"

#define FRAMES CUPROBE_UNWIND_FRAMES
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

static inline bool is_same(struct cuprobe_registers a, struct cuprobe_registers b)
{
	return a.pc == b.pc && a.sp == b.sp && a.fp == b.fp;
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
	if (!is_readable(u, u->rare.sp) && !cuprobe_window_move(u, u->rare.sp))
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

static inline struct cuprobe_rule rule_for(struct cuprobe_unwinding *u, __u64 pc)
{
	struct cuprobe_rule rule;

	if (cuprobe_rules_get(pc - 1, &rule))
		return rule;
	u->learned = true;
	return cuprobe_rules_learn(pc - 1);
}

/* A walk under way. */
struct walk {
	struct cuprobe_registers at;
	__u32 count; /* of fresh frames */
	__u32 known; /* the frame of the last stack at or above `at` */
	enum cuprobe_unwind_end end;
};

/*
 * `at` is a frame of the last stack: goes on as long as the frames above are those of that stack.
 * Returns how many are; `at` is then the first that is not one, unless the end was reached.
 */
static inline __u32 known_follow(struct cuprobe_unwinding *u, struct walk *w)
{
	const struct cuprobe_unwind_frame *frame = &u->frames[w->known],
					  *last = &u->frames[FRAMES - 1];
	struct stepped s;

	for (;; frame++) {
		s = step(u, frame->rule, frame->at);
		if (s.end != CUPROBE_UNWIND_ON || frame == last || !is_same(s.to, frame[1].at))
			break;
	}
	w->at = s.to;
	w->end = s.end;
	return (__u32)(frame + 1 - u->frames) - w->known;
}

static void known_copy(struct cuprobe_unwinding *u, struct walk *w, __u32 count)
{
	for (; count && w->count < FRAMES; count--)
		u->fresh[w->count++] = u->frames[w->known++];
}

/* True when all the rest of the last stack is the rest of this one. */
static bool known_walk(struct cuprobe_unwinding *u, struct walk *w)
{
	__u32 count = known_follow(u, w);

	if (w->known + count == FRAMES && w->end != CUPROBE_UNWIND_ON && w->end == u->end)
		return true;
	known_copy(u, w, count);
	return false;
}

/* Goes on to the next frame of the last stack, or to the end. */
static void fresh_walk(struct cuprobe_unwinding *u, struct walk *w)
{
	const struct cuprobe_unwind_frame *known = &u->frames[w->known], *end = &u->frames[FRAMES];
	struct stepped s = {.to = w->at};
	__u32 count = w->count;

	do {
		struct cuprobe_unwind_frame *frame = &u->fresh[count++];

		frame->at = s.to;
		frame->rule = rule_for(u, s.to.pc);
		s = step(u, frame->rule, s.to);
		while (known < end && known->at.sp < s.to.sp)
			known++;
	} while (s.end == CUPROBE_UNWIND_ON && count < FRAMES &&
		 !(known < end && is_same(known->at, s.to)));
	*w = (struct walk){s.to, count, (__u32)(known - u->frames), s.end};
}

static __u64 hash_mix(__u64 hash, __u64 number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

/* Addresses mean something else after a module was unloaded: so the hash is another one. */
static __u64 hash_begin(enum cuprobe_unwind_end end)
{
	return hash_mix(atomic_load_explicit(&cuprobe_rules_unloads, memory_order_relaxed), end);
}

/* Puts the fresh frames below what is known. Returns the hash of all. */
static __u64 frames_join(struct cuprobe_unwinding *u, const struct walk *w)
{
	__u64 hash = w->known < FRAMES ? u->frames[w->known].hash : hash_begin(w->end);
	struct cuprobe_unwind_frame *to = &u->frames[w->known];

	for (__u32 i = w->count; i--;) {
		hash = hash_mix(hash, u->fresh[i].at.pc);
		*--to = u->fresh[i];
		to->hash = hash;
	}
	u->first = (__u32)(to - u->frames);
	u->end = w->end;
	return hash;
}

static void walk(struct cuprobe_unwinding *u, struct walk *w)
{
	while (w->end == CUPROBE_UNWIND_ON && w->count < FRAMES) {
		if (w->known == FRAMES || !is_same(u->frames[w->known].at, w->at))
			fresh_walk(u, w);
		else if (known_walk(u, w))
			return;
	}
	w->known = FRAMES;
	if (w->end == CUPROBE_UNWIND_ON)
		w->end = CUPROBE_UNWIND_BROKEN;
}

static bool generation_is_current(const struct cuprobe_unwinding *u)
{
	return u->generation ==
	       atomic_load_explicit(&cuprobe_rules_generation, memory_order_acquire);
}

static void frames_forget(struct cuprobe_unwinding *u)
{
	u->first = FRAMES;
	u->generation = atomic_load_explicit(&cuprobe_rules_generation, memory_order_acquire);
}

static struct walk walk_from(struct cuprobe_unwinding *u, struct cuprobe_registers at)
{
	struct walk w = {.at = at, .known = u->first};

	cuprobe_window_move(u, at.sp);
	walk(u, &w);
	return w;
}

__u64 cuprobe_unwind(struct cuprobe_unwinding *u, struct cuprobe_registers at)
{
	struct walk w;

	u->learned = false;
	if (!generation_is_current(u))
		frames_forget(u);
	w = walk_from(u, at);
	/* Learning may have found that a module is gone; and what is known leaves no room for more.
	 */
	if (!generation_is_current(u) || w.count > w.known) {
		frames_forget(u);
		w = walk_from(u, at);
	}
	return frames_join(u, &w);
}

void cuprobe_unwind_init(struct cuprobe_unwinding *u)
{
	cuprobe_window_init(u);
	frames_forget(u);
}
