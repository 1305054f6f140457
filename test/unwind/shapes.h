/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of every shape that makes a stack hard to follow, compiled by several compilers at
 * several levels, that call each other at random. At the end of each path `leaf` is called.
 */
#ifndef CUPROBE_TEST_UNWIND_SHAPES_H
#define CUPROBE_TEST_UNWIND_SHAPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct path {
	uint64_t random;
	int depth;  /* calls that are left */
	int nested; /* coroutines, signals and jumps under way; they are few on one stack */
	void (*leaf)(struct path *path);
};

#define SHAPES_NESTED 4

typedef int shape(struct path *path);

/* Goes on with one of all shapes, or with the leaf. */
int path_next(struct path *path);
uint32_t path_random(struct path *path, uint32_t below);

#define SHAPES_REALIGNING 2 /* functions of each compiler that align the stack anew */

struct shapes {
	shape *const *shapes;
	int count;
};

extern const struct shapes shapes_exceptions, shapes_jumps;

#ifdef __cplusplus
}
#endif

#endif
