/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes of CUDA graphs, told with the stacks that they were captured or added from. A graph that is
 * made ready to launch is a copy, whose nodes have ids of their own: those have the same stacks.
 */
#ifndef CUPROBE_INJECT_GRAPH_NODES_H
#define CUPROBE_INJECT_GRAPH_NODES_H

#include <cupti.h>

#include <linux/types.h>

#include "src/inject/unwind_machine.h"

/* A call that uses graphs begins or ends: nodes that are made in it are copies. */
void cuprobe_graph_nodes_call(const CUpti_CallbackData *call);

/* A callback of the resource domain, on the application's thread. */
void cuprobe_graph_nodes_callback(CUpti_CallbackId cbid, const CUpti_ResourceData *resource,
				  struct cuprobe_registers at);

/* Keeps a node's stack; and the one that is kept, or 0. Pump thread. */
void cuprobe_graph_nodes_keep(__u64 node, __u32 stack);
__u32 cuprobe_graph_nodes_stack(__u64 node);

#endif
