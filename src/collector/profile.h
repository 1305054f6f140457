/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU time by where it comes from: one sample for each distinct stack, call and kind of GPU work.
 * What flame graphs, folded files, pprof and `report --stacks` are made of. Its memory grows with
 * what is distinct, never with the number of events.
 */
#ifndef CUPROBE_COLLECTOR_PROFILE_H
#define CUPROBE_COLLECTOR_PROFILE_H

#include <stddef.h>
#include <stdio.h>

#include "src/collector/launches.h"
#include "src/collector/works.h"

struct kernel_leaf;
struct model;
struct profile;
struct sink_opts;

/* An NVTX range in its outer one. */
struct range_path {
	struct range_path *next;
	const struct range_path *outer;
	const char *name;
};

struct sample {
	struct sample *next;
	struct launch_origin origin;
	const struct range_path *range; /* the innermost; NULL none */
	const struct work *work;
	const struct kernel_leaf *leaf; /* inside the kernel, by PC samples; NULL: not known */
	__u64 gpu_ns;
	__u64 works;	/* kernels, copies, ... */
	__u64 launches; /* in 1/256 */
};

struct profile_opts {
	struct model *model; /* outlives the profile */
	bool mangled;	     /* names of kernels as they are in the binary */
	bool native;	     /* stacks without Python frames */
	bool nvtx;	     /* with ranges; needs the records of API calls */
	bool inside;	     /* with what PC samples tell of the inside of kernels */
	bool capture;	     /* see launches_open */
	FILE *remarks;	     /* profile_finish says there what it has; NULL: nowhere */
};

int profile_open(struct profile **ret, const struct profile_opts *opts);
/* As an output file is to have it: with the inside of kernels. */
int profile_open_for_sink(struct profile **ret, const struct sink_opts *opts);
void profile_free(struct profile *p);
/* The kinds of events that it wants: bit n is probe n. */
#define PROFILE_WORK                                                                               \
	(1u << CUPROBE_PROBE_kernel | 1u << CUPROBE_PROBE_graph | 1u << CUPROBE_PROBE_memcpy |     \
	 1u << CUPROBE_PROBE_memset)
#define PROFILE_CAUSES                                                                             \
	(1u << CUPROBE_PROBE_launch | 1u << CUPROBE_PROBE_stack | 1u << CUPROBE_PROBE_api |        \
	 1u << CUPROBE_PROBE_nvtx | 1u << CUPROBE_PROBE_pc_sample)
int profile_event(struct profile *p, const struct event *e);
/* Once, after the last event; what follows holds then. */
int profile_finish(struct profile *p);

/* The first of them, by next; all are valid until profile_free. */
const struct sample *profile_samples(const struct profile *p);
/* What the call of a sample whose launch is known is called. */
const char *profile_api_name(const struct profile *p, const struct sample *s);

struct profile_totals {
	__u64 gpu_ns, works;
	__u64 unlaunched_ns; /* no launch is known */
	__u64 unstacked_ns;  /* a launch is, and no stack of it */
};
struct profile_totals profile_totals(const struct profile *p);
/* In words: how much it is, and what share of it no stack is known of. Returns `buffer`. */
#define PROFILE_TOTALS_TEXT 160
const char *profile_totals_text(char *buffer, const struct profile_totals *t);
bool profile_is_native(const struct profile *p);

#endif
