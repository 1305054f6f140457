/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stack of the calling thread, in programs without frame pointers, at a few nanoseconds a
 * frame. What has not changed since the thread's last walk is not looked up again: each of its
 * frames is only computed anew and found to be the same. No read leaves the thread's stack; a stack
 * that is none of the thread's own (a coroutine's, a signal's) is read from a copy that the kernel
 * makes.
 */
#ifndef CUPROBE_INJECT_UNWIND_H
#define CUPROBE_INJECT_UNWIND_H

#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/unwind_machine.h"
#include "src/inject/unwind_rule.h"

#define CUPROBE_UNWIND_FRAMES 1024 /* of deeper stacks the outermost are left out */
#define CUPROBE_UNWIND_COPY_BYTES 32768u

struct cuprobe_unwind_frame {
	struct cuprobe_registers at;
	struct cuprobe_rule rule;
	__u64 hash; /* of this frame and those above */
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
	/* The last stack: frames[first] is the innermost frame, the outermost one is the last. */
	__u32 first;
	enum cuprobe_unwind_end end;
	__u32 generation; /* of its rules */
	bool learned;	  /* in the last walk something was seen for the first time */
	struct cuprobe_unwind_frame frames[CUPROBE_UNWIND_FRAMES];
	struct cuprobe_unwind_frame fresh[CUPROBE_UNWIND_FRAMES]; /* of a walk under way */
	__u64 copy[CUPROBE_UNWIND_COPY_BYTES / sizeof(__u64)];
};

/* Begins anew for the calling thread. Not cheap. */
void cuprobe_unwind_init(struct cuprobe_unwinding *u);

/* Walks from `at`. The stack is in u->frames then; returns its hash. */
__u64 cuprobe_unwind(struct cuprobe_unwinding *u, struct cuprobe_registers at);

static inline __u32 cuprobe_unwind_depth(const struct cuprobe_unwinding *u)
{
	return CUPROBE_UNWIND_FRAMES - u->first;
}

#endif
