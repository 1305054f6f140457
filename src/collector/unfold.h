/* SPDX-License-Identifier: Apache-2.0 */
/* From a sample to the labels of its frames, from the root to the kernel on the GPU. */
#ifndef CUPROBE_COLLECTOR_UNFOLD_H
#define CUPROBE_COLLECTOR_UNFOLD_H

#include <stdbool.h>

#include "src/collector/labels.h"

struct frame;
struct sample;
struct profile;

/* What the first frames say, before the stack. */
enum unfold_by {
	UNFOLD_BY_KERNEL, /* nothing: the kernel is the last frame in any case */
	UNFOLD_BY_STREAM,
	UNFOLD_BY_DEVICE,
	UNFOLD_BY_THREAD,
	UNFOLD_BY_PROCESS,
	UNFOLD_BY_NVTX,
};

/* -EINVAL for an unknown name. */
int unfold_by_name(const char *name);

/* Zeroed is empty. */
struct unfold {
	struct labels labels;
	const struct label **path; /* of the sample that was unfolded last */
	unsigned int count, room;
	unsigned int
		tail; /* of them at the end, unless reversed: the call and what is on the GPU */
};

/* 0 or -ENOMEM. `reverse`: from the kernel to the root, with what it is grouped by first still. */
int unfold_sample(struct unfold *u, const struct profile *p, const struct sample *s,
		  enum unfold_by by, bool reverse);
void unfold_free(struct unfold *u);

/*
 * The first frame of a sample's stack to show: without the library's and CUPTI's own, and what the
 * CUDA runtime and driver call inside. Its index; the number of frames when none is left.
 */
unsigned int unfold_first(const struct profile *p, const struct sample *s);

#endif
