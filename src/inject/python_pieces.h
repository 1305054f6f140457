/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function in the pieces that the compiler made of it. GCC moves what it takes for cold
 * elsewhere, under a local name that stripped files have no more; in Debian's CPython 3.14 that is
 * nearly all of the evaluation loop.
 */
#ifndef CUPROBE_INJECT_PYTHON_PIECES_H
#define CUPROBE_INJECT_PYTHON_PIECES_H

#include <linux/types.h>

struct python_piece {
	__u64 start, bytes;
};

/* Writes at most `most` pieces, the one with the symbol first, and returns how many. */
__u32 cuprobe_python_pieces(const void *function, __u64 bytes, struct python_piece *ret,
			    __u32 most);

#endif
