/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each distinct stack gets an id, and is defined through the probe `stack` once. Application
 * threads put stacks in without a lock; the pump defines them, and again for a new consumer.
 */
#ifndef CUPROBE_INJECT_STACKS_H
#define CUPROBE_INJECT_STACKS_H

#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/python.h"
#include "src/inject/unwind.h"

/* Python frames of one stack; of more the outermost are left out. */
#define CUPROBE_STACKS_PYTHON 512
#define CUPROBE_STACKS_RECENT 256 /* a power of two */

struct cuprobe_stacks_recent {
	__u64 hash;
	__u32 id; /* 0: none */
};

/* What a thread remembers of its stacks; all zeroes at first. */
struct cuprobe_stacks_thread {
	struct cuprobe_stacks_recent recent[CUPROBE_STACKS_RECENT]; /* by hash */
	struct cuprobe_python_memory python_memory;
	struct cuprobe_python_frame python[CUPROBE_STACKS_PYTHON];
	struct cuprobe_unwinding unwinding;
};

/* Reserves address space, once. 0 or -errno. */
int cuprobe_stacks_init(void);

/*
 * The id of the stack from `at` on, with the thread's Python frames. 0, and counted, when there is
 * no room for one more stack.
 */
__u32 cuprobe_stacks_take(struct cuprobe_stacks_thread *t, struct cuprobe_registers at);

/* The pump's: defines what is new; and everything again, as for strings. */
void cuprobe_stacks_pump(void);
void cuprobe_stacks_replay_begin(void);
bool cuprobe_stacks_replay(__u32 records);

#endif
