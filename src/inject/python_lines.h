/* SPDX-License-Identifier: Apache-2.0 */
/* The tables by which a code object of CPython tells the lines of its instructions. */
#ifndef CUPROBE_INJECT_PYTHON_LINES_H
#define CUPROBE_INJECT_PYTHON_LINES_H

#include <stddef.h>

#include <linux/types.h>

enum python_lines {
	PYTHON_LNOTAB,	   /* co_lnotab, up to 3.9 */
	PYTHON_LINE_TABLE, /* co_linetable of 3.10 (PEP 626) */
	PYTHON_LOCATIONS,  /* co_linetable from 3.11 on (PEP 657) */
};

/*
 * The line of the instruction at byte `place` of the code; the code's first line when that is
 * negative, 0 when the table knows none.
 */
__u32 cuprobe_python_line(enum python_lines kind, const __u8 *table, size_t bytes, __s32 first_line,
			  __s64 place);

#endif
