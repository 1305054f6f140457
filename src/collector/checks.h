/* SPDX-License-Identifier: Apache-2.0 */
/* What `cuprobe doctor` looks at, one thing after the other. */
#ifndef CUPROBE_COLLECTOR_CHECKS_H
#define CUPROBE_COLLECTOR_CHECKS_H

#include <stdbool.h>

enum check_state {
	CHECK_OK,
	CHECK_WARN, /* something works less well, or only for some programs */
	CHECK_FAIL, /* programs cannot be traced */
};

struct check {
	const char *name;
	enum check_state state;
	char found[512];  /* what is there */
	char remedy[512]; /* what to do; "" when all is well */
};

/* Runs check number `index`; false: there is no such check any more. */
bool check_run(unsigned int index, struct check *ret);

/* Of checks_cuda.c, about the GPU's software. */
void check_driver(struct check *c);
void check_libcuda(struct check *c);
void check_libcupti(struct check *c);
void check_restriction(struct check *c);

/* One line of what was found, and what to do. */
void check_found(struct check *c, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void check_remedy(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
