/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF expressions, evaluated once for an address and not at each step: what they come to there is
 * nearly always a register and an offset, or what lies in memory at such a place.
 */
#ifndef CUPROBE_INJECT_UNWIND_EXPRESSION_H
#define CUPROBE_INJECT_UNWIND_EXPRESSION_H

#include <stdbool.h>

#include <linux/types.h>

struct cuprobe_bytes;

enum cuprobe_value_kind {
	CUPROBE_VALUE_OTHER,	/* cannot be told in advance */
	CUPROBE_VALUE_CONSTANT, /* offset */
	CUPROBE_VALUE_REGISTER, /* a register + offset */
	CUPROBE_VALUE_MEMORY,	/* the word in memory at a register + offset */
};

struct cuprobe_value {
	enum cuprobe_value_kind kind;
	__u32 reg;
	__s64 offset;
};

/* What the expression comes to at `pc`, when it begins with `first` on its stack. */
struct cuprobe_value cuprobe_expression_value(struct cuprobe_bytes expression, __u64 pc,
					      struct cuprobe_value first);

#endif
