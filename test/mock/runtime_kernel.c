/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered kernels and their launches. What nvcc generates calls __cudaRegisterFunction before
 * main and, since CUDA 13, launches through __cudaLaunchKernel, which has callback ids of its own.
 */
#include "test/mock/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <vector_types.h>

#define MAX_KERNELS 16384 /* a power of two */
#define MAX_DEVICES 16

struct CUkern_st {
	const void *host_function;
	char *name;
	CUfunction _Atomic functions[MAX_DEVICES]; /* found at the first launch on each device */
};

struct launch_params {
	const void *function;
	dim3 grid, block;
	void **args;
	size_t shared;
	cudaStream_t stream;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what is added below */
static struct CUkern_st *_Atomic kernels[MAX_KERNELS];	 /* by hash; entries stay for ever */
static CUmodule modules[MAX_DEVICES];

void **CUDARTAPI __cudaRegisterFatBinary(void *fatCubin);
void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle);
void CUDARTAPI __cudaUnregisterFatBinary(void **handle);
void CUDARTAPI __cudaRegisterFunction(void **handle, const char *hostFun, char *deviceFun,
				      const char *deviceName, int thread_limit, uint3 *tid,
				      uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize);
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *func);
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
					 void **args, size_t sharedMem, cudaStream_t stream);
cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
					      void **args, size_t sharedMem, cudaStream_t stream);
cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void *func, dim3 gridDim, dim3 blockDim,
					    void **args, size_t sharedMem, cudaStream_t stream);
cudaError_t CUDARTAPI cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func,
					       void **args);

static void *program_code; /* what the program has registered; NULL: nothing */

static struct CUkern_st *_Atomic *kernel_slot(const void *host_function)
{
	uint64_t at = ((uint64_t)(uintptr_t)host_function * 0x9e3779b97f4a7c15ull) >> 40;

	for (;; at++) {
		struct CUkern_st *_Atomic *slot = &kernels[at % MAX_KERNELS];
		/* pairs with the store in __cudaRegisterFunction */
		struct CUkern_st *kernel = atomic_load_explicit(slot, memory_order_acquire);

		if (!kernel || kernel->host_function == host_function)
			return slot;
	}
}

MOCK_EXPORT void **CUDARTAPI __cudaRegisterFatBinary(void *fatCubin)
{
	program_code = fatCubin;
	return &program_code;
}

MOCK_EXPORT void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

MOCK_EXPORT void CUDARTAPI __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

MOCK_EXPORT void CUDARTAPI __cudaRegisterFunction(void **handle, const char *hostFun,
						  char *deviceFun, const char *deviceName,
						  int thread_limit, uint3 *tid, uint3 *bid,
						  dim3 *bDim, dim3 *gDim, int *wSize)
{
	struct CUkern_st *_Atomic *slot = kernel_slot(hostFun);
	struct CUkern_st *kernel;

	(void)handle, (void)deviceFun, (void)thread_limit, (void)tid;
	(void)bid, (void)bDim, (void)gDim, (void)wSize;
	pthread_mutex_lock(&lock);
	if (!atomic_load(slot)) {
		kernel = calloc(1, sizeof(*kernel));
		kernel->host_function = hostFun;
		kernel->name = strdup(deviceName);
		atomic_store_explicit(slot, kernel, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
}

/* Kernels of the program are one module a device, loaded at the first launch there. */
static CUresult kernel_resolve(struct CUkern_st *kernel, uint32_t device)
{
	CUresult err = CUDA_SUCCESS;
	CUfunction function;

	pthread_mutex_lock(&lock);
	if (!modules[device])
		err = cu.cuModuleLoadData(&modules[device],
					  program_code ? program_code : "// the program's kernels");
	if (!err)
		err = cu.cuModuleGetFunction(&function, modules[device], kernel->name);
	if (!err)
		kernel->functions[device] = function;
	pthread_mutex_unlock(&lock);
	return err;
}

cudaError_t kernel_handle_function(cudaKernel_t kernel, CUfunction *ret_function)
{
	uint32_t device;
	cudaError_t need = runtime_need();

	if (need)
		return need;
	if (!kernel)
		return cudaErrorInvalidDeviceFunction;
	device = cu.driver->current()->device;
	if (!kernel->functions[device]) {
		need = (cudaError_t)kernel_resolve(kernel, device);
		if (need)
			return need;
	}
	*ret_function = kernel->functions[device];
	return cudaSuccess;
}

cudaError_t kernel_function(const void *host_function, CUfunction *ret_function)
{
	return kernel_handle_function(atomic_load(kernel_slot(host_function)), ret_function);
}

const char *kernel_handle_name(cudaKernel_t kernel)
{
	return kernel ? kernel->name : NULL;
}

const char *kernel_name(const void *host_function)
{
	return kernel_handle_name(atomic_load(kernel_slot(host_function)));
}

MOCK_EXPORT cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *func)
{
	RUNTIME_CALL(__cudaGetKernel, v13000);
	RUNTIME_ENTER();
	*kernel = atomic_load(kernel_slot(func));
	return RUNTIME_END(*kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

static cudaError_t launch(CUfunction function, const struct launch_params *p, bool per_thread)
{
	__typeof__(cuLaunchKernel) *call = per_thread ? cu.cuLaunchKernel_ptsz : cu.cuLaunchKernel;

	return (cudaError_t)call(function, p->grid.x, p->grid.y, p->grid.z, p->block.x, p->block.y,
				 p->block.z, (unsigned int)p->shared, p->stream, p->args, NULL);
}

static cudaError_t launch_registered(const struct launch_params *p, bool per_thread)
{
	CUfunction function;
	cudaError_t err = kernel_function(p->function, &function);

	return err ? err : launch(function, p, per_thread);
}

static cudaError_t launch_handle(cudaKernel_t kernel, const struct launch_params *p,
				 bool per_thread)
{
	CUfunction function;
	cudaError_t err = kernel_handle_function(kernel, &function);

	return err ? err : launch(function, p, per_thread);
}

#define LAUNCH_REGISTERED(api, per_thread)                                                         \
	MOCK_EXPORT cudaError_t CUDARTAPI api(const void *func, dim3 gridDim, dim3 blockDim,       \
					      void **args, size_t sharedMem, cudaStream_t stream)  \
	{                                                                                          \
		struct launch_params p = {func, gridDim, blockDim, args, sharedMem, stream};       \
		RUNTIME_CALL(api, v7000);                                                          \
                                                                                                   \
		call_.params = &p;                                                                 \
		call_.symbol = kernel_name(func);                                                  \
		RUNTIME_ENTER();                                                                   \
		return RUNTIME_END(launch_registered(&p, per_thread));                             \
	}

LAUNCH_REGISTERED(cudaLaunchKernel, false)
LAUNCH_REGISTERED(cudaLaunchKernel_ptsz, true)

#define LAUNCH_HANDLE(api, per_thread)                                                             \
	MOCK_EXPORT cudaError_t CUDARTAPI api(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,    \
					      void **args, size_t sharedMem, cudaStream_t stream)  \
	{                                                                                          \
		struct launch_params p = {kernel, gridDim, blockDim, args, sharedMem, stream};     \
		RUNTIME_CALL(api, v13000);                                                         \
                                                                                                   \
		call_.params = &p;                                                                 \
		call_.symbol = kernel_handle_name(kernel);                                         \
		RUNTIME_ENTER();                                                                   \
		return RUNTIME_END(launch_handle(kernel, &p, per_thread));                         \
	}

LAUNCH_HANDLE(__cudaLaunchKernel, false)
LAUNCH_HANDLE(__cudaLaunchKernel_ptsz, true)

static cudaError_t launch_ex(const cudaLaunchConfig_t *config, const void *func, void **args,
			     bool per_thread)
{
	__typeof__(cuLaunchKernelEx) *call =
		per_thread ? cu.cuLaunchKernelEx_ptsz : cu.cuLaunchKernelEx;
	CUlaunchConfig c;
	CUfunction function;
	cudaError_t err = config ? kernel_function(func, &function) : cudaErrorInvalidValue;

	if (err)
		return err;
	c = (CUlaunchConfig){.gridDimX = config->gridDim.x,
			     .gridDimY = config->gridDim.y,
			     .gridDimZ = config->gridDim.z,
			     .blockDimX = config->blockDim.x,
			     .blockDimY = config->blockDim.y,
			     .blockDimZ = config->blockDim.z,
			     .sharedMemBytes = (unsigned int)config->dynamicSmemBytes,
			     .hStream = config->stream,
			     .attrs = (CUlaunchAttribute *)config->attrs,
			     .numAttrs = config->numAttrs};
	return (cudaError_t)call(&c, function, args, NULL);
}

#define LAUNCH_EX(api, per_thread)                                                                 \
	MOCK_EXPORT cudaError_t CUDARTAPI api(const cudaLaunchConfig_t *config, const void *func,  \
					      void **args)                                         \
	{                                                                                          \
		RUNTIME_PARAMS(api, v11060, config, func, args);                                   \
		call_.symbol = kernel_name(func);                                                  \
		RUNTIME_ENTER();                                                                   \
		return RUNTIME_END(launch_ex(config, func, args, per_thread));                     \
	}

LAUNCH_EX(cudaLaunchKernelExC, false)
LAUNCH_EX(cudaLaunchKernelExC_ptsz, true)

static cudaError_t launch_cooperative(const struct launch_params *p)
{
	CUfunction function;
	cudaError_t err = kernel_function(p->function, &function);

	if (err)
		return err;
	return (cudaError_t)cu.cuLaunchCooperativeKernel(
		function, p->grid.x, p->grid.y, p->grid.z, p->block.x, p->block.y, p->block.z,
		(unsigned int)p->shared, p->stream, p->args);
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void *func, dim3 gridDim,
							      dim3 blockDim, void **args,
							      size_t sharedMem, cudaStream_t stream)
{
	struct launch_params p = {func, gridDim, blockDim, args, sharedMem, stream};
	RUNTIME_CALL(cudaLaunchCooperativeKernel, v9000);

	call_.params = &p;
	call_.symbol = kernel_name(func);
	RUNTIME_ENTER();
	return RUNTIME_END(launch_cooperative(&p));
}
