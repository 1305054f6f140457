/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of the provider `parcagpu`, each with one site. What their consumers read is at fixed
 * sizes: memory and strings that are fired must be resident that far.
 */
#ifndef CUPROBE_PROBES_PARCAGPU_H
#define CUPROBE_PROBES_PARCAGPU_H

#include <linux/types.h>

#define PARCAGPU_FOR_EACH_PROBE(X)                                                                 \
	X(cuda_correlation)                                                                        \
	X(kernel_executed)                                                                         \
	X(activity_batch)                                                                          \
	X(cubin_loaded)                                                                            \
	X(cubin_unloaded)                                                                          \
	X(error)                                                                                   \
	X(gpu_config)                                                                              \
	X(nvtx_event_batch)                                                                        \
	X(nvtx_resource_name)                                                                      \
	X(pc_sample_batch)                                                                         \
	X(stall_reason_map)

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

/* An NVTX event as `nvtx_event_batch` carries it. */
struct parcagpu_nvtx {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 tid;
	__u32 correlation; /* 0 none */
	__u32 domain;	   /* 0 default */
	__u16 kind;	   /* 1 push, 2 pop, 3 start, 4 end, 5 mark */
	__u16 flags;
	__u32 color;  /* ARGB, 0 none */
	__u32 device; /* ~0 not known */
	__u64 payload;
	__u64 range; /* that joins start and end; else 0 */
	const char *message;
};
_Static_assert(sizeof(struct parcagpu_nvtx) == 56, "what consumers read");

#define PARCAGPU_NVTX_BATCH 256 /* events in one firing of `nvtx_event_batch`, at most */

struct parcagpu_stall {
	__u32 reason; /* place in the map */
	__u32 samples;
};

#define PARCAGPU_STALLS 64 /* read at every record, however many it has */

/* Samples of one instruction as `pc_sample_batch` carries them: CUPTI's record since 12.4. */
struct parcagpu_pc {
	__u64 size;
	__u64 crc; /* of the cubin */
	__u64 pc_offset;
	__u32 function_index;
	__u32 reserved;
	const char *function;
	__u64 stall_count;
	const struct parcagpu_stall *stalls;
	__u32 correlation; /* of the launch; 0 not known */
	__u32 padding;
};
_Static_assert(sizeof(struct parcagpu_pc) == 64, "CUPTI's layout");

#define PARCAGPU_PC_BATCH 256	 /* records in one firing of `pc_sample_batch`, of 1024 allowed */
#define PARCAGPU_REASON_BYTES 64 /* of one name in the map, padded with zeroes */
#define PARCAGPU_REASONS 64	 /* in the map, which is read whole */

enum parcagpu_resource {
	PARCAGPU_RESOURCE_THREAD = 1, /* by thread id */
	PARCAGPU_RESOURCE_STREAM = 2, /* by the handle that the application named it by */
	PARCAGPU_RESOURCE_DEVICE = 3, /* by ordinal */
	PARCAGPU_RESOURCE_DOMAIN = 4, /* of NVTX, by the number that events have */
};

#define PARCAGPU_MESSAGE 256 /* read of an error's message */
#define PARCAGPU_COMPONENT 64

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
	/* The cubin stays readable for a while after it was unloaded. */
	void (*cubin_loaded)(__u64 crc, const void *cubin, __u64 bytes);
	void (*cubin_unloaded)(__u64 crc);
	/* PARCAGPU_MESSAGE and PARCAGPU_COMPONENT bytes are there. */
	void (*error)(__s32 code, const char *message, const char *component);
	/* An array as that of activity_batch. */
	void (*nvtx_event_batch)(const struct parcagpu_nvtx *const *events, __u32 count);
	void (*nvtx_resource_name)(__u32 kind, __u64 id, const char *name);
	/* Nanoseconds between samples: 2^factor * 10^6 / clock_khz. */
	void (*gpu_config)(__u32 device, __u32 factor, __u32 clock_khz, __u32 multiprocessors);
	void (*pc_sample_batch)(const struct parcagpu_pc *const *records, __u32 count);
	/* PARCAGPU_REASONS names of PARCAGPU_REASON_BYTES, `count` of which mean something. */
	void (*stall_reason_map)(const char *names, __u32 count);
};

extern const struct parcagpu cuprobe_parcagpu_usdt;

#endif
