/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches, through every entry point that the driver has for them. */
#include "test/mock/driver.h"

#include <string.h>

CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
				     unsigned int gridDimZ, unsigned int blockDimX,
				     unsigned int blockDimY, unsigned int blockDimZ,
				     unsigned int sharedMemBytes, CUstream hStream,
				     void **kernelParams, void **extra);
CUresult CUDAAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f,
				       void **kernelParams, void **extra);
CUresult CUDAAPI cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gridDimX,
						unsigned int gridDimY, unsigned int gridDimZ,
						unsigned int blockDimX, unsigned int blockDimY,
						unsigned int blockDimZ, unsigned int sharedMemBytes,
						CUstream hStream, void **kernelParams);

static struct mock_op launch_op(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
				unsigned int bx, unsigned int by, unsigned int bz,
				unsigned int shared)
{
	return (struct mock_op){
		.kind = MOCK_KERNEL,
		.kernel = {.function = f,
			   .grid = {gx, gy, gz},
			   .block = {bx, by, bz},
			   .dynamic_shared = shared},
	};
}

static CUresult launch_run(struct mock_op *op, CUstream handle, bool per_thread)
{
	const uint32_t *grid = op->kernel.grid, *block = op->kernel.block;
	CUstream stream;
	CUresult err = context_stream(handle, per_thread, &stream);

	if (err)
		return err;
	if (!op->kernel.function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2] ||
	    (uint64_t)block[0] * block[1] * block[2] > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	op->duration_ns = op->kernel.function->duration_ns;
	return gpu_submit(stream, op);
}

#define LAUNCH_KERNEL(api, per_thread)                                                             \
	MOCK_EXPORT CUresult CUDAAPI api(                                                          \
		CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, \
		unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,            \
		unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)  \
	{                                                                                          \
		DRIVER_CALL(api, f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, \
			    sharedMemBytes, hStream, kernelParams, extra);                         \
		struct mock_op op = launch_op(f, gridDimX, gridDimY, gridDimZ, blockDimX,          \
					      blockDimY, blockDimZ, sharedMemBytes);               \
                                                                                                   \
		call_.symbol = f ? f->name : NULL;                                                 \
		DRIVER_ENTER();                                                                    \
		return DRIVER_END(launch_run(&op, hStream, per_thread));                           \
	}

LAUNCH_KERNEL(cuLaunchKernel, false)
LAUNCH_KERNEL(cuLaunchKernel_ptsz, true)

#define LAUNCH_COOPERATIVE(api, per_thread)                                                        \
	MOCK_EXPORT CUresult CUDAAPI api(                                                          \
		CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, \
		unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,            \
		unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)                \
	{                                                                                          \
		DRIVER_CALL(api, f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, \
			    sharedMemBytes, hStream, kernelParams);                                \
		struct mock_op op = launch_op(f, gridDimX, gridDimY, gridDimZ, blockDimX,          \
					      blockDimY, blockDimZ, sharedMemBytes);               \
                                                                                                   \
		op.kernel.launch_type = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;      \
		call_.symbol = f ? f->name : NULL;                                                 \
		DRIVER_ENTER();                                                                    \
		return DRIVER_END(launch_run(&op, hStream, per_thread));                           \
	}

LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

static struct mock_op launch_config_op(const CUlaunchConfig *config, CUfunction f)
{
	struct mock_op op = {.kind = MOCK_KERNEL};

	if (!config)
		return op;
	op = launch_op(f, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
		       config->blockDimY, config->blockDimZ, config->sharedMemBytes);
	for (unsigned int i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attr = &config->attrs[i];

		if (attr->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			memcpy(op.kernel.cluster, &attr->value.clusterDim,
			       sizeof(op.kernel.cluster));
		if (attr->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attr->value.cooperative)
			op.kernel.launch_type =
				CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
	}
	return op;
}

#define LAUNCH_EX(api, per_thread)                                                                 \
	MOCK_EXPORT CUresult CUDAAPI api(const CUlaunchConfig *config, CUfunction f,               \
					 void **kernelParams, void **extra)                        \
	{                                                                                          \
		DRIVER_CALL(api, config, f, kernelParams, extra);                                  \
		struct mock_op op = launch_config_op(config, f);                                   \
                                                                                                   \
		call_.symbol = f ? f->name : NULL;                                                 \
		DRIVER_ENTER();                                                                    \
		return DRIVER_END(launch_run(&op, config ? config->hStream : NULL, per_thread));   \
	}

LAUNCH_EX(cuLaunchKernelEx, false)
LAUNCH_EX(cuLaunchKernelEx_ptsz, true)
