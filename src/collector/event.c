/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of any event, whatever its kind. */
#include "src/collector/event.h"

#include <errno.h>
#include <string.h>

static const char *const names[] = {
#define EVENT_NAME(name, number) [number] = #name,
	CUPROBE_FOR_EACH_PROBE(EVENT_NAME)
#undef EVENT_NAME
};

const char *probe_name(unsigned int probe)
{
	return probe < CUPROBE_PROBE_COUNT ? names[probe] : NULL;
}

int probe_number(const char *name)
{
	for (int i = 0; i < CUPROBE_PROBE_COUNT; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -EINVAL;
}

bool event_times(const struct event *e, __u64 *ret_start_ns, __u64 *ret_end_ns)
{
	switch (e->probe) {
	case CUPROBE_PROBE_kernel:
		*ret_start_ns = e->kernel->start_ns;
		*ret_end_ns = e->kernel->end_ns;
		return true;
	case CUPROBE_PROBE_graph:
		*ret_start_ns = e->graph->start_ns;
		*ret_end_ns = e->graph->end_ns;
		return true;
	case CUPROBE_PROBE_memcpy:
		*ret_start_ns = e->memcpy->start_ns;
		*ret_end_ns = e->memcpy->end_ns;
		return true;
	case CUPROBE_PROBE_memset:
		*ret_start_ns = e->memset->start_ns;
		*ret_end_ns = e->memset->end_ns;
		return true;
	case CUPROBE_PROBE_memory:
		*ret_start_ns = e->memory->time_ns;
		*ret_end_ns = e->memory->time_ns;
		return true;
	case CUPROBE_PROBE_sync:
		*ret_start_ns = e->sync->start_ns;
		*ret_end_ns = e->sync->end_ns;
		return e->sync->kind != CUPROBE_SYNC_EVENT_RECORD;
	case CUPROBE_PROBE_api:
		*ret_start_ns = e->api->start_ns;
		*ret_end_ns = e->api->end_ns;
		return true;
	case CUPROBE_PROBE_unified_memory: /* faults have a moment only */
		*ret_start_ns = e->unified_memory->start_ns;
		*ret_end_ns = e->unified_memory->end_ns ? e->unified_memory->end_ns
							: e->unified_memory->start_ns;
		return true;
	case CUPROBE_PROBE_overhead:
		*ret_start_ns = e->overhead->start_ns;
		*ret_end_ns = e->overhead->end_ns;
		return true;
	case CUPROBE_PROBE_nvtx:
		*ret_start_ns = e->nvtx->time_ns;
		*ret_end_ns = e->nvtx->time_ns;
		return true;
	case CUPROBE_PROBE_launch:
		*ret_start_ns = e->launch->time_ns;
		*ret_end_ns = e->launch->time_ns;
		return true;
	case CUPROBE_PROBE_module:
		*ret_start_ns = e->module->time_ns;
		*ret_end_ns = e->module->time_ns;
		return true;
	case CUPROBE_PROBE_pc_sample:
		*ret_start_ns = e->pc_sample->time_ns;
		*ret_end_ns = e->pc_sample->time_ns;
		return true;
	default:
		return false;
	}
}

void event_work(const struct event *e, struct event_work *ret)
{
#define WORK(record, node)                                                                         \
	(struct event_work)                                                                        \
	{                                                                                          \
		.start_ns = (record)->start_ns, .end_ns = (record)->end_ns, .graph_node_id = node, \
		.device = (record)->device, .context = (record)->context,                          \
		.stream = (record)->stream, .correlation = (record)->correlation                   \
	}
	switch (e->probe) {
	case CUPROBE_PROBE_kernel:
		*ret = WORK(e->kernel, e->kernel->graph_node_id);
		break;
	case CUPROBE_PROBE_graph:
		*ret = WORK(e->graph, 0);
		break;
	case CUPROBE_PROBE_memcpy:
		*ret = WORK(e->memcpy, e->memcpy->graph_node_id);
		break;
	case CUPROBE_PROBE_memset:
		*ret = WORK(e->memset, e->memset->graph_node_id);
		break;
	default:
		*ret = (struct event_work){0};
		break;
	}
#undef WORK
}

bool probe_is_told_again(unsigned int probe)
{
	return probe == CUPROBE_PROBE_string || probe == CUPROBE_PROBE_info ||
	       probe == CUPROBE_PROBE_status || probe == CUPROBE_PROBE_stack ||
	       probe == CUPROBE_PROBE_module;
}
