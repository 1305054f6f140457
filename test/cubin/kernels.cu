// SPDX-License-Identifier: Apache-2.0
// Three kernels of known character, with device functions that are inlined and one that is not. The
// line tables of the cubin made of this file are compared with nvdisasm's, so what matters is what
// the compiler makes of it; test/gpu/stalls.cu runs them.
static __device__ __forceinline__ float multiply_add(float x, int n)
{
	for (int i = 0; i < n; i++)
		x = fmaf(x, 1.0001f, 0.5f);
	return x;
}

static __device__ __forceinline__ float twice(float x, int n)
{
	return multiply_add(x, n) + multiply_add(x * 2, n);
}

static __device__ __noinline__ float root(float x)
{
	return sqrtf(x) * multiply_add(x, 3);
}

// Waits for memory: each step depends on what the last one loaded.
extern "C" __global__ void gather(const unsigned int *next, unsigned int *out, int steps)
{
	unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;

	for (int i = 0; i < steps; i++)
		at = next[at];
	out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// Waits for the arithmetic: one long chain of multiply-adds.
__global__ void compute(float *out, int n)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;

	out[at] = twice((float)at, n) + root((float)n);
}

// Waits at barriers: one warp of each block adds up what all the others wait for.
template <int BLOCK> __global__ void reduce(float *out, const float *in, int rounds)
{
	__shared__ float partial[BLOCK];
	float sum = 0;

	for (int round = 0; round < rounds; round++) {
		partial[threadIdx.x] = in[threadIdx.x] + round;
		__syncthreads();
		if (threadIdx.x < 32) {
			for (int i = threadIdx.x + 32; i < BLOCK; i += 32)
				partial[threadIdx.x] += partial[i];
		}
		__syncthreads();
		sum += partial[0];
	}
	if (!threadIdx.x)
		out[blockIdx.x] = sum;
}

template __global__ void reduce<1024>(float *, const float *, int);
