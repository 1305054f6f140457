/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/nvtx_gpu.h"

#include <errno.h>
#include <stdlib.h>

#include "src/collector/event.h"

struct nvtx_gpu nvtx_gpu_of(const struct event *e)
{
	struct event_work w;

	event_work(e, &w);
	return (struct nvtx_gpu){
		.device = w.device,
		.context = w.context,
		.stream = w.stream,
		.first_ns = w.start_ns,
		.last_ns = w.end_ns,
		.gpu_ns = w.end_ns - w.start_ns,
		.kernel_ns = e->probe == CUPROBE_PROBE_kernel || e->probe == CUPROBE_PROBE_graph
				     ? w.end_ns - w.start_ns
				     : 0,
		.kernels = e->probe == CUPROBE_PROBE_kernel,
		.graphs = e->probe == CUPROBE_PROBE_graph,
		.copies = e->probe == CUPROBE_PROBE_memcpy,
		.memsets = e->probe == CUPROBE_PROBE_memset,
	};
}

int nvtx_gpu_add(struct nvtx_gpu **list, const struct nvtx_gpu *from)
{
	struct nvtx_gpu *g = *list;

	while (g && (g->stream != from->stream || g->context != from->context ||
		     g->device != from->device))
		g = g->next;
	if (!g) {
		g = malloc(sizeof(*g));
		if (!g)
			return -ENOMEM;
		*g = *from;
		g->next = *list;
		*list = g;
		return 0;
	}
	if (from->first_ns < g->first_ns)
		g->first_ns = from->first_ns;
	if (from->last_ns > g->last_ns)
		g->last_ns = from->last_ns;
	g->gpu_ns += from->gpu_ns;
	g->kernel_ns += from->kernel_ns;
	g->kernels += from->kernels;
	g->graphs += from->graphs;
	g->copies += from->copies;
	g->memsets += from->memsets;
	return 0;
}

void nvtx_gpu_free(struct nvtx_gpu *list)
{
	struct nvtx_gpu *next;

	for (; list; list = next) {
		next = list->next;
		free(list);
	}
}
