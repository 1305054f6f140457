/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges around GPU work, on the simulator: STEPS steps of three layers; layer N launches N + 1
 * kernels in a stream called "compute", and after each step two more in no range.
 *
 *	gpu [STEPS [early]]	early: NVTX is used before CUDA
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "test/mock/app.h"

#define LAYERS 3

void app_check(const char *what, int error)
{
	if (!error)
		return;
	fprintf(stderr, "gpu: %s: error %d\n", what, error);
	exit(1);
}

int main(int argc, char **argv)
{
	const struct app_options options = {.name = "layer_kernel"};
	long steps = argc > 1 ? atol(argv[1]) : 10;
	nvtxRangeId_t epoch;
	cudaStream_t stream;
	char layer[16];

	if (argc > 2)
		nvtxMarkA("before CUDA");
	kernels_register(&options, NULL);
	CHECK(cudaStreamCreate(&stream));
	nvtxNameCudaStreamA(stream, "compute");
	nvtxNameCudaDeviceA(0, "first GPU");
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "main thread");
	epoch = nvtxRangeStartA("epoch");
	for (long step = 0; step < steps; step++) {
		nvtxRangePushA("step");
		for (unsigned int i = 0; i < LAYERS; i++) {
			snprintf(layer, sizeof(layer), "layer %u", i);
			nvtxRangePushA(layer);
			for (unsigned int j = 0; j <= i; j++)
				kernel_launch(0, APP_RUNTIME, stream);
			nvtxRangePop();
		}
		nvtxRangePop();
		kernel_launch(0, APP_RUNTIME, stream);
		kernel_launch(0, APP_DRIVER, stream);
	}
	CHECK(cudaStreamSynchronize(stream));
	nvtxRangeEnd(epoch);
	return 0;
}
