/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each distinct stack gets an id, and is defined through the probe `stack` once. Application
 * threads put stacks in without a lock; the pump defines them, and again for a new consumer.
 */
#ifndef CUPROBE_INJECT_STACKS_H
#define CUPROBE_INJECT_STACKS_H

#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/unwind_machine.h"

struct cuprobe_python_frame;
struct cuprobe_unwinding;

#define CUPROBE_STACKS_PYTHON                                                                      \
	512 /* Python frames of one stack; of more the outermost are left out */

/* Reserves address space, once. 0 or -errno. */
int cuprobe_stacks_init(void);

/*
 * The id of the stack from `at` on, with the thread's Python frames, for which `python` has room.
 * 0, and counted, when there is no room for one more stack.
 */
__u32 cuprobe_stacks_take(struct cuprobe_unwinding *u, struct cuprobe_registers at,
			  struct cuprobe_python_frame *python);

/* The pump's: defines what is new; and everything again, as for strings. */
void cuprobe_stacks_pump(void);
void cuprobe_stacks_replay_begin(void);
bool cuprobe_stacks_replay(__u32 records);

#endif
