/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node of a CUDA graph costs when a graph of tiny kernels, one after the other, is replayed:
 * the GPU is the limit, so this shows what tracing does on the GPU.
 *
 *	graph [--serve] [--reps 60] [--nodes 1000] [--replays 10]
 *
 * node_ns: wall time of `replays` launches and the wait for them, for each node; graph_launch_ns:
 * wall time of the cudaGraphLaunch calls alone, for each call.
 */
#include <vector>

#include "bench.h"
#include "bench_cuda.h"

struct load {
	size_t reps, nodes, replays;
	cudaStream_t stream;
	cudaGraphExec_t exec;
};

static __global__ void tiny_node(void)
{
}

static void graph_build(struct load *l)
{
	cudaGraph_t graph;

	CUDA_CHECK(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamBeginCapture(l->stream, cudaStreamCaptureModeGlobal));
	for (size_t i = 0; i < l->nodes; i++)
		tiny_node<<<1, 32, 0, l->stream>>>();
	CUDA_CHECK(cudaStreamEndCapture(l->stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&l->exec, graph, 0));
	CUDA_CHECK(cudaGraphDestroy(graph));
}

static int measure(void *arg, const char *label)
{
	const struct load *l = (const struct load *)arg;
	std::vector<double> node(l->reps), launch(l->reps);

	for (size_t i = 0; i < l->reps + l->reps / 10; i++) {
		size_t at = i % l->reps; /* the first tenth is warm-up, written over */
		uint64_t start = bench_clock_ns(CLOCK_MONOTONIC);

		for (size_t j = 0; j < l->replays; j++)
			CUDA_CHECK(cudaGraphLaunch(l->exec, l->stream));
		launch[at] = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / (double)l->replays;
		CUDA_CHECK(cudaStreamSynchronize(l->stream));
		node[at] = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) /
			   (double)(l->replays * l->nodes);
	}
	printf("{\"program\":\"graph\",\"label\":\"%s\"", label);
	bench_json("node_ns", bench_stat(node.data(), node.size()));
	bench_json("graph_launch_ns", bench_stat(launch.data(), launch.size()));
	printf("}\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct load l = {};

	l.reps = (size_t)bench_option(argc, argv, "--reps", 60);
	l.nodes = (size_t)bench_option(argc, argv, "--nodes", 1000);
	l.replays = (size_t)bench_option(argc, argv, "--replays", 10);
	graph_build(&l);
	return bench_run(argc, argv, measure, &l);
}
