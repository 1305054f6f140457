/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a language model does to a GPU: weights are copied, tokens are made kernel by kernel, then
 * through a captured CUDA graph; ids go in, logits come out, and the CPU waits for each token.
 */
#include "test/mock/app.h"

#include <stdio.h>

#define LAYERS 28
#define LAYER_BYTES (16u << 20)
#define LOGITS_BYTES (32000u * 4)

enum llm_kernel {
	GEMM_QKV,
	GEMM_OUT,
	GEMM_UP,
	GEMM_DOWN,
	ATTENTION,
	ADD,
	MULTIPLY,
	NORM,
	SILU,
	CONCAT,
	INDEX,
	REDUCE,
};

const char *const llm_kernels[] = {
	[GEMM_QKV] = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT",
	[GEMM_OUT] = "nvjet_tst_128x8_64x12_2x1_v_bz_TNT",
	[GEMM_UP] = "nvjet_tst_192x8_64x10_1x1_h_bz_TNN",
	[GEMM_DOWN] = "nvjet_tst_128x8_64x12_2x1_v_bz_splitK_TNT",
	[ATTENTION] =
		"_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4ELb0EL"
		"b0EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_EELb0ELb1"
		"ELb0ELb0ELb1ELb1ELb0EEEvNS_16Flash_fwd_paramsE",
	[ADD] = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
		"addIN3c108BFloat16E"
		"EESt5arrayIPcLm3EEEEviT0_T1_",
	[MULTIPLY] =
		"_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_13BinaryFunctorIN3c108BFloat"
		"16ES4_S4_NS0_15binary_internal10MulFunctorIfEEEESt5arrayIPcLm3EEEEviT0_T1_",
	[NORM] = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_"
		 "7MeanOpsIffffEEjfLi4ELi4EEEE"
		 "EvT1_",
	[SILU] = "triton_poi_fused_mul_silu_3",
	[CONCAT] = "_ZN2at6native12_GLOBAL__N_135CatArrayBatchedCopy_alignedK_contigINS1_"
		   "10OpaqueTypeILj"
		   "2EEEjLi4ELi128ELi1ELi16EEEvPT_NS1_25CatArrInputTensorMetadataIS5_T0_XT2_EXT3_"
		   "EEENS1_"
		   "16TensorSizeStrideIS8_Lj4EEEiS8_",
	[INDEX] = "triton_per_fused_embedding_0",
	[REDUCE] = "triton_red_fused_argmax_7",
	NULL,
};

/* The kernels of one layer, in order. */
static const enum llm_kernel layer[] = {NORM,	   MULTIPLY, GEMM_QKV,	CONCAT, CONCAT,
					ATTENTION, GEMM_OUT, ADD,	NORM,	MULTIPLY,
					GEMM_UP,   SILU,     GEMM_DOWN, ADD};

struct llm {
	cudaStream_t stream, copy_stream;
	void *weights, *ids, *logits, *host_ids, *host_logits, *host_weights;
	cudaGraphExec_t graph;
};

static void llm_load(struct llm *llm)
{
	CHECK(cudaStreamCreateWithPriority(&llm->stream, cudaStreamNonBlocking, -1));
	CHECK(cudaStreamCreateWithFlags(&llm->copy_stream, cudaStreamNonBlocking));
	CHECK(cudaMallocHost(&llm->host_weights, LAYER_BYTES));
	CHECK(cudaMallocHost(&llm->host_ids, 4096));
	CHECK(cudaMallocHost(&llm->host_logits, LOGITS_BYTES));
	CHECK(cudaMalloc(&llm->weights, (size_t)LAYERS * LAYER_BYTES));
	CHECK(cudaMalloc(&llm->ids, 4096));
	CHECK(cudaMalloc(&llm->logits, LOGITS_BYTES));
	for (unsigned int i = 0; i < LAYERS; i++)
		CHECK(cudaMemcpyAsync((char *)llm->weights + (size_t)i * LAYER_BYTES,
				      llm->host_weights, LAYER_BYTES, cudaMemcpyHostToDevice,
				      llm->copy_stream));
	CHECK(cudaMemset(llm->logits, 0, LOGITS_BYTES));
	CHECK(cudaStreamSynchronize(llm->copy_stream));
}

static void llm_forward(const struct llm *llm)
{
	kernel_launch(INDEX, APP_RUNTIME, llm->stream);
	for (unsigned int i = 0; i < LAYERS; i++) {
		for (size_t k = 0; k < sizeof(layer) / sizeof(*layer); k++)
			kernel_launch(layer[k], layer[k] < ATTENTION ? APP_RUNTIME_EX : APP_RUNTIME,
				      llm->stream);
	}
	kernel_launch(NORM, APP_RUNTIME, llm->stream);
	kernel_launch(GEMM_OUT, APP_RUNTIME_EX, llm->stream);
	kernel_launch(REDUCE, APP_RUNTIME, llm->stream);
}

static void llm_capture(struct llm *llm)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(llm->stream, cudaStreamCaptureModeGlobal));
	llm_forward(llm);
	CHECK(cudaStreamEndCapture(llm->stream, &graph));
	CHECK(cudaGraphInstantiate(&llm->graph, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

static void llm_token(const struct llm *llm)
{
	CHECK(cudaMemcpyAsync(llm->ids, llm->host_ids, 8, cudaMemcpyHostToDevice, llm->stream));
	if (llm->graph)
		CHECK(cudaGraphLaunch(llm->graph, llm->stream));
	else
		llm_forward(llm);
	CHECK(cudaMemcpyAsync(llm->host_logits, llm->logits, LOGITS_BYTES, cudaMemcpyDeviceToHost,
			      llm->stream));
	CHECK(cudaStreamSynchronize(llm->stream));
}

static uint64_t llm_phase(const struct llm *llm, const struct app_options *options, uint64_t tokens)
{
	uint64_t end = app_now() + (uint64_t)(options->seconds / 2 * 1e9), done;

	for (done = 0; done < tokens || (!tokens && app_now() < end); done++)
		llm_token(llm);
	return done;
}

/* -n or -d is shared by the two phases. */
int llm_run(const struct app_options *options)
{
	struct llm llm = {0};
	uint64_t begun, eager, replayed;

	CHECK(cudaSetDevice(0));
	llm_load(&llm);
	begun = app_now();
	eager = llm_phase(&llm, options, (options->count + 1) / 2);
	llm_capture(&llm);
	replayed = llm_phase(&llm, options, options->count / 2);
	CHECK(cudaDeviceSynchronize());
	if (!options->quiet)
		printf("%llu tokens eager, %llu through a graph, in %.3f s\n",
		       (unsigned long long)eager, (unsigned long long)replayed,
		       (double)(app_now() - begun) / 1e9);
	return 0;
}
