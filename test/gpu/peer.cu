/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two GPUs that launch kernels, and copy to each other.
 *
 *	peer [--rounds 100]
 */
#include "bench.h"
#include "bench_cuda.h"

#define BYTES (1u << 20)

static __global__ void increment(char *data)
{
	data[threadIdx.x]++;
}

int main(int argc, char **argv)
{
	unsigned int rounds = (unsigned int)bench_option(argc, argv, "--rounds", 100);
	cudaStream_t streams[2];
	char *data[2];

	for (int device = 0; device < 2; device++) {
		CUDA_CHECK(cudaSetDevice(device));
		CUDA_CHECK(cudaDeviceEnablePeerAccess(!device, 0));
		CUDA_CHECK(cudaStreamCreate(&streams[device]));
		CUDA_CHECK(cudaMalloc(&data[device], BYTES));
	}
	for (unsigned int i = 0; i < rounds; i++) {
		for (int device = 0; device < 2; device++) {
			CUDA_CHECK(cudaSetDevice(device));
			for (int kernels = 0; kernels <= device; kernels++)
				increment<<<1, 32, 0, streams[device]>>>(data[device]);
			CUDA_CHECK(cudaMemcpyPeerAsync(data[!device], !device, data[device], device,
						       BYTES >> device, streams[device]));
			CUDA_CHECK(cudaStreamSynchronize(streams[device]));
		}
	}
	printf("{\"kernels\":{\"0\":%u,\"1\":%u},\"copies\":{\"0>1\":[%u,%llu],\"1>0\":[%u,%llu]}}"
	       "\n",
	       rounds, 2 * rounds, rounds, (unsigned long long)rounds * BYTES, rounds,
	       (unsigned long long)rounds * (BYTES / 2));
	return 0;
}
