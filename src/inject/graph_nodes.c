/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/graph_nodes.h"

#include <string.h>

#include "src/inject/cupti_api.h"
#include "src/inject/cupti_gate.h"
#include "src/inject/launch.h"
#include "src/inject/memory.h"

#define NODES_MOST (1u << 20) /* kept; then all are forgotten */

static __thread bool copying;

/* The pump's: open addressing, never more than half full. */
static struct kept {
	__u64 node; /* 0: empty */
	__u32 stack;
} * kept;
static size_t kept_capacity;
static __u64 kept_mask;
static __u32 kept_count;

void cuprobe_graph_nodes_call(const CUpti_CallbackData *call)
{
	copying = call->callbackSite == CUPTI_API_ENTER;
}

/* 0 when it cannot be told. */
static __u64 node_id(CUgraphNode node)
{
	uint64_t id = 0;

	if (!node || !cuprobe_gate_enter())
		return 0;
	if (cuprobe_cupti.GetGraphNodeId(node, &id) != CUPTI_SUCCESS)
		id = 0;
	cuprobe_gate_leave();
	return id;
}

static bool node_works(const CUpti_GraphData *graph)
{
	return graph->nodeType == CU_GRAPH_NODE_TYPE_KERNEL ||
	       graph->nodeType == CU_GRAPH_NODE_TYPE_MEMCPY ||
	       graph->nodeType == CU_GRAPH_NODE_TYPE_MEMSET;
}

void cuprobe_graph_nodes_callback(CUpti_CallbackId cbid, const CUpti_ResourceData *resource,
				  struct cuprobe_registers at)
{
	bool created = cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && !copying;
	const CUpti_GraphData *graph = resource->resourceDescriptor;

	if ((!created && cbid != CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) || !cuprobe_launch_busy() ||
	    !node_works(graph))
		return;
	if (created)
		cuprobe_launch_node(node_id(graph->node), at);
	else
		cuprobe_launch_copy(node_id(graph->node), node_id(graph->originalNode));
}

static struct kept *place_find(__u64 node)
{
	__u64 i = node * 0x9e3779b97f4a7c15ull >> 32;

	while (kept[i & kept_mask].node && kept[i & kept_mask].node != node)
		i++;
	return &kept[i & kept_mask];
}

/* True when there is a place for one more. */
static bool places_reserve(void)
{
	struct kept *old = kept, *grown;
	size_t old_capacity = kept_capacity, capacity = 0;

	if (kept && kept_count * 2 < kept_mask)
		return true;
	grown = cuprobe_memory_grow(NULL, &capacity, kept ? 2 * old_capacity : 1);
	if (!grown)
		return false;
	kept = grown;
	kept_capacity = capacity;
	kept_mask = capacity / sizeof(*kept) - 1;
	for (size_t i = 0; i < old_capacity / sizeof(*old); i++) {
		if (old[i].node)
			*place_find(old[i].node) = old[i];
	}
	cuprobe_memory_free(old, old_capacity);
	return true;
}

void cuprobe_graph_nodes_keep(__u64 node, __u32 stack)
{
	struct kept *place;

	if (!places_reserve())
		return;
	if (kept_count == NODES_MOST) {
		memset(kept, 0, kept_capacity);
		kept_count = 0;
	}
	place = place_find(node);
	kept_count += !place->node;
	*place = (struct kept){node, stack};
}

__u32 cuprobe_graph_nodes_stack(__u64 node)
{
	return kept ? place_find(node)->stack : 0;
}
