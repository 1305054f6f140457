/* SPDX-License-Identifier: Apache-2.0 */
/* How to get from a frame to its caller, in eight bytes. */
#ifndef CUPROBE_INJECT_UNWIND_RULE_H
#define CUPROBE_INJECT_UNWIND_RULE_H

#include <linux/types.h>

#include "src/inject/unwind_machine.h"

/* Where the frame's canonical address is: what sp was before the call. */
enum cuprobe_rule_kind {
	CUPROBE_RULE_END,    /* nowhere: there is no caller */
	CUPROBE_RULE_SIGNAL, /* nowhere: the caller is what a signal interrupted */
	CUPROBE_RULE_SP,     /* sp + offset */
	CUPROBE_RULE_FP,     /* fp + offset */
	CUPROBE_RULE_CHAIN,  /* likewise: no rule is known, and the frame pointer is all there is */
	CUPROBE_RULE_FP_MEMORY, /* what lies at fp + offset, and fp's own old value at fp */
};

struct cuprobe_rule {
	__s32 offset; /* bytes */
	__u16 fp;     /* the old fp lies so many words below the canonical address; 0: it is kept */
	__u8 pc;      /* likewise the return address, never 0 */
	__u8 kind;    /* enum cuprobe_rule_kind */
};
_Static_assert(sizeof(struct cuprobe_rule) == sizeof(__u64), "is read and written as one word");

/* As if the function had set up a frame pointer. */
#define CUPROBE_RULE_UNKNOWN                                                                       \
	((struct cuprobe_rule){                                                                    \
		.kind = CUPROBE_RULE_CHAIN, .offset = CUPROBE_FRAME_BYTES, .fp = 2, .pc = 1})

#endif
