/* SPDX-License-Identifier: Apache-2.0 */
/* What of the memory may be read as the calling thread's stack. */
#ifndef CUPROBE_INJECT_UNWIND_WINDOW_H
#define CUPROBE_INJECT_UNWIND_WINDOW_H

#include <stdbool.h>

#include <linux/types.h>

struct cuprobe_unwinding;

/* Finds the calling thread's own stack. */
void cuprobe_window_init(struct cuprobe_unwinding *u);

/* Sets what may be read from `sp` upwards. False: nothing. */
bool cuprobe_window_move(struct cuprobe_unwinding *u, __u64 sp);

/* Likewise, where nothing but what a signal's frame has says that there is a stack. */
bool cuprobe_window_jump(struct cuprobe_unwinding *u, __u64 sp);

#endif
