/* SPDX-License-Identifier: Apache-2.0 */
/* The places that a thread's walks have come by; see unwind.h. */
#ifndef CUPROBE_INJECT_UNWIND_PLACES_H
#define CUPROBE_INJECT_UNWIND_PLACES_H

#include "src/inject/unwind.h"

/* Makes sure that what is known is right, and that there is room for a stack of new places. */
void cuprobe_places_begin(struct cuprobe_unwinding *u);

/* False when modules were unloaded meanwhile, so that rules may be wrong. */
bool cuprobe_places_are_current(const struct cuprobe_unwinding *u);

void cuprobe_places_forget(struct cuprobe_unwinding *u);

/* The place, known or new, that a walk goes to from place `from`; 0 is where walks begin. */
__u32 cuprobe_places_find(struct cuprobe_unwinding *u, __u32 from, __u64 pc, __u64 sp);

#endif
