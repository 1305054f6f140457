/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stack of the calling thread, in programs without frame pointers, at a few nanoseconds a
 * frame. Places that the thread has been at before are not looked up again: each is only computed
 * anew and found to be the one that was expected. No read leaves the thread's stack; a stack that
 * is none of the thread's own (a coroutine's, a signal's) is read from a copy that the kernel
 * makes.
 */
#ifndef CUPROBE_INJECT_UNWIND_H
#define CUPROBE_INJECT_UNWIND_H

#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/unwind_machine.h"
#include "src/inject/unwind_rule.h"

#define CUPROBE_UNWIND_FRAMES 1024   /* of deeper stacks the outermost are left out */
#define CUPROBE_UNWIND_PLACES_LOG 12 /* when there are too many, all are forgotten */
#define CUPROBE_UNWIND_PLACES (1 << CUPROBE_UNWIND_PLACES_LOG)
#define CUPROBE_UNWIND_COPY_BYTES 32768u

/* Whether the place behind is the caller that was found first, and what is to be seen if it is. */
enum cuprobe_unwind_behind {
	CUPROBE_UNWIND_BEHIND_NOTHING, /* or what a whole step is needed for */
	CUPROBE_UNWIND_BEHIND_BY_SP,   /* its pc is on the stack */
	CUPROBE_UNWIND_BEHIND_BY_FP,   /* likewise, and fp leads to its sp */
};

/*
 * A place that a walk has come by: code that calls, at a height of the stack. How walks went on
 * from there is kept beside it, in the order in which they came by, so that going the same way
 * again reads memory one line after the other.
 */
struct cuprobe_unwind_place {
	__u64 pc, sp;
	struct cuprobe_rule rule;
	__u16 caller; /* where a walk last went from here that had to look; or 0 */
	__u16 next;   /* with the same hash, or 0 */
	__u8 behind;  /* enum cuprobe_unwind_behind */
	__u8 reserved[3];
};

enum cuprobe_unwind_end {
	CUPROBE_UNWIND_ON, /* no end: there is a caller */
	CUPROBE_UNWIND_TOP,
	CUPROBE_UNWIND_BROKEN, /* the stack goes on, but could not be followed */
};

/* A thread's. Address space that is touched as far as stacks are deep. */
struct cuprobe_unwinding {
	__u64 own_low, own_high; /* the thread's own stack */
	/* What may be read now, and what to add to an address to read there. */
	__u64 low, high, delta;
	struct cuprobe_registers rare; /* where a rare kind of step leads */
	__u32 generation;	       /* of its rules */
	bool learned;		       /* in the last walk something was seen for the first time */
	/* The last stack: its places, the innermost first. */
	enum cuprobe_unwind_end end;
	__u32 depth;
	__u16 path[CUPROBE_UNWIND_FRAMES];
	/* By hash, then from 1 on; what lies behind the last is none. */
	__u32 count;
	__u16 index[CUPROBE_UNWIND_PLACES];
	struct cuprobe_unwind_place places[CUPROBE_UNWIND_PLACES + 2];
	__u64 copy[CUPROBE_UNWIND_COPY_BYTES / sizeof(__u64)];
};

/* Begins anew for the calling thread. Not cheap. */
void cuprobe_unwind_init(struct cuprobe_unwinding *u);

/* Walks from `at`, and returns the hash of the stack. */
__u64 cuprobe_unwind(struct cuprobe_unwinding *u, struct cuprobe_registers at);

/* A frame of the last stack; 0 is the innermost one. */
static inline const struct cuprobe_unwind_place *
cuprobe_unwind_at(const struct cuprobe_unwinding *u, __u32 frame)
{
	return &u->places[u->path[frame]];
}

#endif
