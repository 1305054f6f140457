/* SPDX-License-Identifier: Apache-2.0 */
/* The library's unwinder beside the one of libgcc. */
#ifndef CUPROBE_TEST_UNWIND_COMPARE_H
#define CUPROBE_TEST_UNWIND_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

struct cuprobe_unwinding;

#define COMPARISON_FRAMES 4096

struct comparison {
	struct cuprobe_unwinding *unwinding;
	uint64_t equal;	  /* frame by frame, to the end */
	uint64_t marked;  /* equal as far as libgcc gets, and there a mark */
	uint64_t guessed; /* marked where libgcc goes on: the rule needs a register that is not kept
			   */
	uint64_t different;
	uint64_t frames;
	uint64_t pc[COMPARISON_FRAMES]; /* as libgcc has it */
	uint32_t count;
};

/* Compares the stack of the function that calls it. The first differences are printed. */
void compare_stacks(struct comparison *c);

/* Prints what came of it. True when no stack was wrong without a mark. */
bool comparison_report(const struct comparison *c, const char *what);

static inline uint64_t comparison_count(const struct comparison *c)
{
	return c->equal + c->marked + c->guessed + c->different;
}

#endif
