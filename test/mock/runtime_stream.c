/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and graphs of the simulated libcudart. */
#include "test/mock/runtime.h"

cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t CUDARTAPI cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream);

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *pStream)
{
	RUNTIME_BEGIN(cudaStreamCreate, v3020, pStream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuStreamCreate(pStream, 0)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t *pStream,
							    unsigned int flags)
{
	RUNTIME_BEGIN(cudaStreamCreateWithFlags, v5000, pStream, flags);
	return RUNTIME_END(WITH_CONTEXT(cu.cuStreamCreate(pStream, flags)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *pStream,
							       unsigned int flags, int priority)
{
	RUNTIME_BEGIN(cudaStreamCreateWithPriority, v5050, pStream, flags, priority);
	return RUNTIME_END(WITH_CONTEXT(cu.cuStreamCreateWithPriority(pStream, flags, priority)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaStreamDestroy, v5050, stream);
	return RUNTIME_END(cu.cuStreamDestroy_v2(stream));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaStreamSynchronize, v3020, stream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuStreamSynchronize(stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaStreamSynchronize_ptsz, v7000, stream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuStreamSynchronize_ptsz(stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaStreamQuery, v3020, stream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuStreamQuery(stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
						      unsigned int flags)
{
	RUNTIME_BEGIN(cudaStreamWaitEvent, v3020, stream, event, flags);
	return RUNTIME_END(WITH_CONTEXT(cu.cuStreamWaitEvent(stream, event, flags)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream,
							 enum cudaStreamCaptureMode mode)
{
	RUNTIME_BEGIN(cudaStreamBeginCapture, v10000, stream, mode);
	return RUNTIME_END(
		WITH_CONTEXT(cu.cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
	RUNTIME_BEGIN(cudaStreamEndCapture, v10000, stream, pGraph);
	return RUNTIME_END(WITH_CONTEXT(cu.cuStreamEndCapture(stream, pGraph)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *event)
{
	RUNTIME_BEGIN(cudaEventCreate, v3020, event);
	return RUNTIME_END(WITH_CONTEXT(cu.cuEventCreate(event, 0)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	RUNTIME_BEGIN(cudaEventCreateWithFlags, v3020, event, flags);
	return RUNTIME_END(WITH_CONTEXT(cu.cuEventCreate(event, flags)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event)
{
	RUNTIME_BEGIN(cudaEventDestroy, v3020, event);
	return RUNTIME_END(cu.cuEventDestroy_v2(event));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaEventRecord, v3020, event, stream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuEventRecord(event, stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaEventRecord_ptsz, v7000, event, stream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuEventRecord_ptsz(event, stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event)
{
	RUNTIME_BEGIN(cudaEventSynchronize, v3020, event);
	return RUNTIME_END(cu.cuEventSynchronize(event));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event)
{
	RUNTIME_BEGIN(cudaEventQuery, v3020, event);
	return RUNTIME_END(cu.cuEventQuery(event));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaEventElapsedTime(float *ms, cudaEvent_t start,
						       cudaEvent_t end)
{
	RUNTIME_BEGIN(cudaEventElapsedTime, v12080, ms, start, end);
	return RUNTIME_END(cu.cuEventElapsedTime_v2(ms, start, end));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
	RUNTIME_BEGIN(cudaGraphCreate, v10000, pGraph, flags);
	return RUNTIME_END(WITH_CONTEXT(cu.cuGraphCreate(pGraph, flags)));
}

static cudaError_t graph_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph,
				    const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS p = {0};
	cudaError_t err = params ? kernel_function(params->func, &p.func) : cudaErrorInvalidValue;

	if (err)
		return err;
	p.gridDimX = params->gridDim.x;
	p.gridDimY = params->gridDim.y;
	p.gridDimZ = params->gridDim.z;
	p.blockDimX = params->blockDim.x;
	p.blockDimY = params->blockDim.y;
	p.blockDimZ = params->blockDim.z;
	p.sharedMemBytes = params->sharedMemBytes;
	return (cudaError_t)cu.cuGraphAddKernelNode_v2(node, graph, NULL, 0, &p);
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGraphAddKernelNode(
	cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
	size_t numDependencies, const struct cudaKernelNodeParams *pNodeParams)
{
	RUNTIME_BEGIN(cudaGraphAddKernelNode, v10000, pGraphNode, graph, pDependencies,
		      numDependencies, pNodeParams);
	return RUNTIME_END(graph_add_kernel(pGraphNode, graph, pNodeParams));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t *pGraphExec,
						       cudaGraph_t graph, unsigned long long flags)
{
	RUNTIME_BEGIN(cudaGraphInstantiate, v12000, pGraphExec, graph, flags);
	return RUNTIME_END(cu.cuGraphInstantiateWithFlags(pGraphExec, graph, flags));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph)
{
	RUNTIME_BEGIN(cudaGraphDestroy, v10000, graph);
	return RUNTIME_END(cu.cuGraphDestroy(graph));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
	RUNTIME_BEGIN(cudaGraphExecDestroy, v10000, graphExec);
	return RUNTIME_END(cu.cuGraphExecDestroy(graphExec));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaGraphLaunch, v10000, graphExec, stream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuGraphLaunch(graphExec, stream)));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t graphExec,
						       cudaStream_t stream)
{
	RUNTIME_BEGIN(cudaGraphLaunch_ptsz, v10000, graphExec, stream);
	return RUNTIME_END(WITH_CONTEXT(cu.cuGraphLaunch_ptsz(graphExec, stream)));
}
