/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed memory that goes to the GPU and back, page by page: at least so many bytes each way.
 *
 *	managed [--rounds 4]
 */
#include <cstring>

#include "bench.h"
#include "bench_cuda.h"

#define BYTES (8u << 20)

static __global__ void increment(char *data)
{
	for (size_t i = threadIdx.x; i < BYTES; i += blockDim.x)
		data[i]++;
}

int main(int argc, char **argv)
{
	unsigned int rounds = (unsigned int)bench_option(argc, argv, "--rounds", 4);
	char *data;

	CUDA_CHECK(cudaMallocManaged(&data, BYTES));
	memset(data, 0, BYTES);
	for (unsigned int i = 0; i < rounds; i++) {
		increment<<<1, 256>>>(data);
		CUDA_CHECK(cudaDeviceSynchronize());
		for (size_t at = 0; at < BYTES; at += 4096)
			data[at]++;
	}
	CUDA_CHECK(cudaFree(data));
	printf("{\"rounds\":%u,\"bytes\":%llu}\n", rounds, (unsigned long long)rounds * BYTES);
	return 0;
}
