/* SPDX-License-Identifier: Apache-2.0 */
/* One way to give up when a CUDA call fails: the programs here have nothing to save. */
#ifndef CUPROBE_MICROBENCHMARKS_BENCH_CUDA_H
#define CUPROBE_MICROBENCHMARKS_BENCH_CUDA_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA_CHECK(call)                                                                           \
	do {                                                                                       \
		cudaError_t cuda_err = (call);                                                     \
		if (cuda_err != cudaSuccess) {                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,              \
				cudaGetErrorString(cuda_err));                                     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif
