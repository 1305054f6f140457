/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PC samples put below a kernel in a profile: the functions inlined into it, the line, and
 * what its warps waited for.
 */
#ifndef CUPROBE_COLLECTOR_LEAVES_H
#define CUPROBE_COLLECTOR_LEAVES_H

#include <stdbool.h>

#include <linux/types.h>

struct cubins;
struct leaves;
struct stalls;

/* Texts are readable and belong to the leaf. */
struct kernel_leaf {
	struct kernel_leaf *next; /* of the same kernel */
	__u64 samples;
	unsigned int function_count;
	const char **functions; /* from the outermost inside the kernel to the innermost */
	const char *place;	/* "file.cu:24"; NULL: not known */
	const char *path;	/* of the file; NULL */
	const char *reason;
};

/* After stalls_finish; `stalls` and `cubins` outlive it. 0 or -ENOMEM. */
int leaves_open(struct leaves **ret, const struct stalls *stalls, const struct cubins *cubins,
		bool mangled);
void leaves_free(struct leaves *l);
/* The first of a kernel's, and how many samples all have; NULL when it was not sampled. */
const struct kernel_leaf *leaves_of(const struct leaves *l, const char *kernel, __u64 *ret_samples);

#endif
