/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every entry from foreign code (CUPTI's callbacks, the driver's injection call, atfork and
 * exit handlers) begins with: no recursion, errno kept, and nothing at all in a forked child.
 */
#ifndef CUPROBE_INJECT_GUARD_H
#define CUPROBE_INJECT_GUARD_H

#include <errno.h>
#include <stdbool.h>

struct cuprobe_guard {
	int saved_errno;
};

/* Called once, before any thread of ours exists. */
void cuprobe_guard_init(void);

/* False in a process that was forked from the one that the library was loaded into. */
bool cuprobe_guard_alive(void);

/* False when the caller must return at once; otherwise cuprobe_guard_leave() must follow. */
bool cuprobe_guard_enter(struct cuprobe_guard *guard);
void cuprobe_guard_leave(const struct cuprobe_guard *guard);

#endif
