/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of the provider `parcagpu`, each with one site. What their consumers read is at fixed
 * sizes: memory and strings that are fired must be resident that far.
 */
#ifndef CUPROBE_PROBES_PARCAGPU_H
#define CUPROBE_PROBES_PARCAGPU_H

#include <linux/types.h>

#define PARCAGPU_FOR_EACH_PROBE(X) X(cuda_correlation) X(kernel_executed) X(activity_batch)

enum parcagpu_probe_id {
#define PARCAGPU_PROBE_ID(name) PARCAGPU_##name,
	PARCAGPU_FOR_EACH_PROBE(PARCAGPU_PROBE_ID)
#undef PARCAGPU_PROBE_ID
};

#define PARCAGPU_BIT(probe) (1u << PARCAGPU_##probe)

/* A kernel as `activity_batch` carries it: what CUpti_ActivityKernel5 to 10 have in common. */
struct parcagpu_kernel {
	__u32 kind; /* 3 or 10 */
	__u8 head[12];
	__u64 start_ns, end_ns, completed_ns;
	__u32 device, context, stream;
	__u8 shape[40];
	__u32 correlation;
	__u64 grid_id;
	const char *name;
	__u64 reserved;
	__u64 queued_ns, submitted_ns;
	__u8 launch[8];
	__u64 graph_node_id;
	__u32 shared_limit;
	__u32 graph_id;
};
_Static_assert(sizeof(struct parcagpu_kernel) == 160, "CUPTI's layout");

#define PARCAGPU_BATCH 128   /* records in one firing of `activity_batch`, at most */
#define PARCAGPU_POINTERS 16 /* read at a time, however many there are */

/* The provider as the library sees it; tests put their own in its place. */
struct parcagpu {
	/* PARCAGPU_BIT(probe) for each probe that somebody is attached to; a load for each. */
	__u32 (*attached)(void);
	/* `cbid` is CUPTI's, of the runtime; or negated, of the driver. */
	void (*cuda_correlation)(__u32 correlation, __s32 cbid, const char *name);
	void (*kernel_executed)(const struct parcagpu_kernel *kernel);
	/* Up to PARCAGPU_BATCH records, in an array whose size is a multiple of PARCAGPU_POINTERS.
	 */
	void (*activity_batch)(const struct parcagpu_kernel *const *records, __u32 count);
};

extern const struct parcagpu cuprobe_parcagpu_usdt;

#endif
