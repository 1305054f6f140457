/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of the calling thread, for launch stacks: CPython 3.9 to 3.14, read where they
 * lie, with the GIL or without. Nothing else can change them while their own thread is in one of
 * our callbacks.
 */
#ifndef CUPROBE_INJECT_PYTHON_H
#define CUPROBE_INJECT_PYTHON_H

#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/python_find.h"

struct cuprobe_python_frame {
	__u32 function, file; /* cuprobe_python_string() gives the string ids; 0: not known */
	__u32 line;	      /* 0 not known */
	/*
	 * Which evaluation loop runs it: 0 is the innermost on the native stack. From 3.11 on one
	 * loop can run several Python frames, and at times none that shows.
	 */
	__u32 evaluation;
};

#define CUPROBE_PYTHON_PLACES 256 /* a power of two */

/* A frame as it was seen last, and what it showed; see python.c. */
struct cuprobe_python_place {
	const char *frame, *code;
	__u64 instruction;
	__u32 version; /* 0: nothing is known */
	__u32 function, file, line;
	bool early;
} __attribute__((aligned(64)));

/* What walks of one thread remember; all zeroes at first. */
struct cuprobe_python_memory {
	struct cuprobe_python_place places[CUPROBE_PYTHON_PLACES];
};

/*
 * Looks for the interpreter, while there is none, and whether its frames can be read; says so where
 * they cannot. For helper threads and injection calls, again and again while stacks are wanted.
 */
void cuprobe_python_look(void);

/*
 * Writes the frames of the calling thread, the innermost first, and returns how many; if `most`,
 * outer ones may be missing. 0 where there are none or they cannot be read. No lock, no allocation,
 * no system call.
 */
__u32 cuprobe_python_walk(struct cuprobe_python_memory *memory, struct cuprobe_python_frame *ret,
			  __u32 most);

/* The string id of `function` or `file`. Pump thread. */
__u32 cuprobe_python_string(__u32 text);

/* The evaluation loop, after the first cuprobe_python_walk() that found frames. */
extern struct python_piece cuprobe_python_evaluation[PYTHON_PIECES];

/* True when a return address is one of the evaluation loop's. */
static inline bool cuprobe_python_evaluates(__u64 pc)
{
	for (__u32 i = 0; i < PYTHON_PIECES; i++) {
		if (pc - cuprobe_python_evaluation[i].start < cuprobe_python_evaluation[i].bytes)
			return true;
	}
	return false;
}

#endif
