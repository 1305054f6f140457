/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of functions and files of Python, copied on the application's thread when they are seen
 * first: without a lock, into memory that is there. A text has a number, which is equal for equal
 * texts and lasts as long as the process; the pump makes string ids of numbers.
 */
#ifndef CUPROBE_INJECT_PYTHON_TEXTS_H
#define CUPROBE_INJECT_PYTHON_TEXTS_H

#include <stddef.h>

#include <linux/types.h>

#define PYTHON_TEXTS 32768u		/* distinct ones, at most */
#define PYTHON_TEXT_BYTES (4u << 20)	/* in all */
#define PYTHON_TEXT_LONGEST (64u << 10) /* characters; longer ones are not taken */

/*
 * The number of the text of `length` characters of `width` bytes (1, 2 or 4) each, which are
 * copied as UTF-8; 0, and counted, when there is no room. Any thread.
 */
__u32 cuprobe_python_text(const void *characters, size_t length, __u32 width);

/* The text of a number; the empty one for 0. */
const char *cuprobe_python_text_get(__u32 number);

/* How many texts found no room. */
__u64 cuprobe_python_texts_lost(void);

#endif
