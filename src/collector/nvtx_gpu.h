/* SPDX-License-Identifier: Apache-2.0 */
/* GPU work, summed up by stream, for what is to be said of NVTX ranges. */
#ifndef CUPROBE_COLLECTOR_NVTX_GPU_H
#define CUPROBE_COLLECTOR_NVTX_GPU_H

#include <linux/types.h>

struct event;

/* What a launch, or all launches of a range, did on one stream. Times of the GPU. */
struct nvtx_gpu {
	struct nvtx_gpu *next;
	__u32 device, context, stream;
	__u64 first_ns, last_ns;
	__u64 gpu_ns;	 /* sum of durations; work that overlaps counts twice */
	__u64 kernel_ns; /* of kernels, and of graphs launched as a whole */
	__u64 kernels, graphs, copies, memsets;
};

/* What a kernel, graph, memcpy or memset record tells of. */
struct nvtx_gpu nvtx_gpu_of(const struct event *e);
/* Adds `from` to the entry of its stream in `*list`. 0 or -ENOMEM. */
int nvtx_gpu_add(struct nvtx_gpu **list, const struct nvtx_gpu *from);
void nvtx_gpu_free(struct nvtx_gpu *list);

#endif
