/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters that clients have registered. Each has one series or, when its samples are structs,
 * one for every number in them. A counter, once found, stays as it is: threads read it without a
 * lock.
 */
#ifndef CUPROBE_INJECT_NVTX_COUNTERS_H
#define CUPROBE_INJECT_NVTX_COUNTERS_H

#include <stdbool.h>

#include <linux/types.h>

struct nvtx_counter_attributes;

struct nvtx_series {
	__u64 offset; /* in a sample */
	__u32 name;   /* string id */
	__u8 bytes;
	__u8 form; /* enum nvtx_form: signed, unsigned or real */
};

struct nvtx_counter {
	__u64 id, schema;
	__u64 bytes; /* of a sample, never 0 */
	__u32 domain;
	__u32 name;  /* string id */
	__u32 count; /* of series */
	const struct nvtx_series *series;
	__u32 left_out; /* fields that are no single numbers, and have no series */
	bool timed;	/* batches may be taken */
};

/* Its id, the same for the same one again; 0 when it has no numbers or there is no room. */
__u64 cuprobe_nvtx_counter_add(__u32 domain, const struct nvtx_counter_attributes *attributes);

/* NULL when there is none. */
const struct nvtx_counter *cuprobe_nvtx_counter_find(__u32 domain, __u64 id);

#endif
