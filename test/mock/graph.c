/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA graphs, built node by node or captured from a stream. Dependencies are accepted and not
 * kept: the nodes of a graph run one after another.
 */
#include "test/mock/driver.h"

#include <stdlib.h>
#include <string.h>

CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream);

static _Atomic uint32_t last_graph_id;
static _Atomic uint64_t last_node_id;

static CUresult graph_create(CUgraph *ret_graph)
{
	if (!ret_graph)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_graph = calloc(1, sizeof(**ret_graph));
	if (!*ret_graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*ret_graph)->id = atomic_fetch_add(&last_graph_id, 1) + 1;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
	DRIVER_BEGIN(cuGraphCreate, phGraph, flags);
	return DRIVER_END(graph_create(phGraph));
}

/* As with the real driver a node's id has the id of its graph in the upper half. */
static uint64_t node_number(uint32_t graph_id)
{
	return (uint64_t)graph_id << 32 | (atomic_fetch_add(&last_node_id, 1) + 1);
}

CUresult graph_append(CUgraph graph, const struct mock_op *op, CUgraphNode *ret_node)
{
	CUgraphNode node = calloc(1, sizeof(*node));

	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->graph = graph;
	node->op = *op;
	node->op.node_id = node_number(graph->id);
	node->op.duration_ns = gpu_vary(op->duration_ns, node->op.node_id);
	if (graph->last)
		graph->last->next = node;
	else
		graph->nodes = node;
	graph->last = node;
	graph->node_count++;
	if (call_tools())
		call_tools()->node(node, NULL);
	if (ret_node)
		*ret_node = node;
	return CUDA_SUCCESS;
}

static CUresult graph_add_kernel(CUgraphNode *ret_node, CUgraph graph,
				 const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct mock_op op = {.kind = MOCK_KERNEL};

	if (!graph || !params || !params->func)
		return CUDA_ERROR_INVALID_VALUE;
	op.duration_ns = params->func->duration_ns;
	op.kernel.function = params->func;
	memcpy(op.kernel.grid, (uint32_t[]){params->gridDimX, params->gridDimY, params->gridDimZ},
	       sizeof(op.kernel.grid));
	memcpy(op.kernel.block,
	       (uint32_t[]){params->blockDimX, params->blockDimY, params->blockDimZ},
	       sizeof(op.kernel.block));
	op.kernel.dynamic_shared = params->sharedMemBytes;
	return graph_append(graph, &op, ret_node);
}

MOCK_EXPORT CUresult CUDAAPI cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
						     const CUgraphNode *dependencies,
						     size_t numDependencies,
						     const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	DRIVER_BEGIN(cuGraphAddKernelNode_v2, phGraphNode, hGraph, dependencies, numDependencies,
		     nodeParams);
	return DRIVER_END(graph_add_kernel(phGraphNode, hGraph, nodeParams));
}

static CUresult graph_destroy(CUgraph graph)
{
	CUgraphNode next;

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	for (CUgraphNode node = graph->nodes; node; node = next) {
		next = node->next;
		free(node);
	}
	free(graph);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuGraphDestroy(CUgraph hGraph)
{
	DRIVER_BEGIN(cuGraphDestroy, hGraph);
	return DRIVER_END(graph_destroy(hGraph));
}

/* What can be launched is a copy, and its nodes are told as new ones and then as copies. */
static struct mock_op node_copy(struct CUgraphNode_st *node)
{
	struct CUgraphNode_st copy = *node;

	copy.op.node_id = node_number(node->graph->id);
	if (call_tools()) {
		call_tools()->node(&copy, NULL);
		call_tools()->node(&copy, node);
	}
	return copy.op;
}

static CUresult graph_instantiate(CUgraphExec *ret_exec, CUgraph graph)
{
	CUgraphExec exec;

	if (!ret_exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	exec = calloc(1, sizeof(*exec) + graph->node_count * sizeof(exec->ops[0]));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->id = atomic_fetch_add(&last_graph_id, 1) + 1;
	exec->graph_id = graph->id;
	exec->alive = true;
	for (CUgraphNode node = graph->nodes; node; node = node->next) {
		exec->duration_ns += node->op.duration_ns;
		exec->ops[exec->op_count++] = node_copy(node);
	}
	truth_graph(exec);
	if (call_tools())
		call_tools()->instantiated(exec);
	*ret_exec = exec;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
							 unsigned long long flags)
{
	DRIVER_BEGIN(cuGraphInstantiateWithFlags, phGraphExec, hGraph, flags);
	return DRIVER_END(graph_instantiate(phGraphExec, hGraph));
}

MOCK_EXPORT CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	DRIVER_BEGIN(cuGraphExecDestroy, hGraphExec);
	if (!hGraphExec || !hGraphExec->alive)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	hGraphExec->alive = false;
	return DRIVER_END(CUDA_SUCCESS);
}

static CUresult graph_launch(CUgraphExec exec, CUstream handle, bool per_thread)
{
	CUstream stream;
	CUresult err = context_stream(handle, per_thread, &stream);

	if (err)
		return err;
	if (!exec || !exec->alive)
		return CUDA_ERROR_INVALID_VALUE;
	if (exec->broken) {
		mock_violation("a graph was launched that cuptiFinalize has broken");
		return CUDA_ERROR_LAUNCH_FAILED;
	}
	return gpu_run(stream, exec->ops, exec->op_count, exec);
}

MOCK_EXPORT CUresult CUDAAPI cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
	DRIVER_BEGIN(cuGraphLaunch, hGraphExec, hStream);
	return DRIVER_END(graph_launch(hGraphExec, hStream, false));
}

MOCK_EXPORT CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
	DRIVER_BEGIN(cuGraphLaunch_ptsz, hGraphExec, hStream);
	return DRIVER_END(graph_launch(hGraphExec, hStream, true));
}

CUresult graph_capture_begin(CUstream stream)
{
	CUgraph graph;
	CUresult err = stream->capture ? CUDA_ERROR_ILLEGAL_STATE : graph_create(&graph);

	if (!err)
		stream->capture = graph;
	return err;
}

CUresult graph_capture_end(CUstream stream, CUgraph *ret_graph)
{
	if (!stream->capture || !ret_graph)
		return CUDA_ERROR_ILLEGAL_STATE;
	*ret_graph = stream->capture;
	stream->capture = NULL;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
	CUstream stream;
	CUresult err;
	DRIVER_BEGIN(cuStreamBeginCapture_v2, hStream, mode);

	err = context_stream(hStream, false, &stream);
	return DRIVER_END(err ? err : graph_capture_begin(stream));
}

MOCK_EXPORT CUresult CUDAAPI cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
	CUstream stream;
	CUresult err;
	DRIVER_BEGIN(cuStreamEndCapture, hStream, phGraph);

	err = context_stream(hStream, false, &stream);
	return DRIVER_END(err ? err : graph_capture_end(stream, phGraph));
}
