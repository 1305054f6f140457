/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated libcudart's own state: the driver it found, the thread's device, the last error. */
#include "test/mock/runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define RUNTIME_VERSION 13000

struct runtime cu;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static __thread int thread_device;
static __thread cudaError_t thread_error;

static void runtime_find(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library)
		return;
#define RUNTIME_FIND(name) *(void **)&cu.name = dlsym(library, #name);
	RUNTIME_FOR_EACH_DRIVER_FUNCTION(RUNTIME_FIND)
#undef RUNTIME_FIND
	cu.driver = dlsym(library, "mock_driver_table");
}

cudaError_t runtime_load(void)
{
	pthread_once(&load_once, runtime_find);
	return cu.driver ? cudaSuccess : cudaErrorInsufficientDriver;
}

static cudaError_t runtime_bind(int device)
{
	CUcontext context;
	CUresult err = cu.cuInit(0);

	if (!err)
		err = cu.cuDevicePrimaryCtxRetain(&context, device);
	if (!err)
		err = cu.cuCtxSetCurrent(context);
	return (cudaError_t)err;
}

cudaError_t runtime_need(void)
{
	if (cu.driver->current() && cu.driver->initialized())
		return cudaSuccess;
	return runtime_bind(thread_device);
}

cudaError_t runtime_last(cudaError_t error)
{
	if (error && error != cudaErrorNotReady)
		thread_error = error;
	return error;
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGetLastError(void)
{
	cudaError_t error = thread_error;

	thread_error = cudaSuccess;
	return error;
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
	return thread_error;
}

MOCK_EXPORT const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
	const char *name = "cudaErrorUnknown";

	if (!runtime_load())
		cu.cuGetErrorName((CUresult)error, &name);
	return name;
}

MOCK_EXPORT const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
	return cudaGetErrorName(error);
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *runtimeVersion)
{
	RUNTIME_BEGIN(cudaRuntimeGetVersion, v3020, runtimeVersion);
	*runtimeVersion = RUNTIME_VERSION;
	return RUNTIME_END(cudaSuccess);
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaDriverGetVersion(int *driverVersion)
{
	RUNTIME_BEGIN(cudaDriverGetVersion, v3020, driverVersion);
	return RUNTIME_END(cu.cuDriverGetVersion(driverVersion));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGetDeviceCount(int *count)
{
	CUresult err;
	RUNTIME_BEGIN(cudaGetDeviceCount, v3020, count);

	err = cu.cuInit(0);
	return RUNTIME_END(err ? err : cu.cuDeviceGetCount(count));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGetDevice(int *device)
{
	RUNTIME_BEGIN(cudaGetDevice, v3020, device);
	*device = thread_device;
	return RUNTIME_END(cudaSuccess);
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaSetDevice(int device)
{
	cudaError_t err;
	RUNTIME_BEGIN(cudaSetDevice, v3020, device);

	err = runtime_bind(device);
	if (!err)
		thread_device = device;
	return RUNTIME_END(err);
}

static cudaError_t device_properties(struct cudaDeviceProp *prop, int device)
{
	CUresult err = cu.cuInit(0);

	if (err)
		return (cudaError_t)err;
	memset(prop, 0, sizeof(*prop));
	err = cu.cuDeviceGetName(prop->name, sizeof(prop->name), device);
	if (err)
		return (cudaError_t)err;
	cu.cuDeviceGetUuid_v2((CUuuid *)&prop->uuid, device);
	cu.cuDeviceTotalMem_v2(&prop->totalGlobalMem, device);
	cu.cuDeviceGetAttribute(&prop->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	cu.cuDeviceGetAttribute(&prop->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	cu.cuDeviceGetAttribute(&prop->multiProcessorCount,
				CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
	cu.cuDeviceGetAttribute(&prop->warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
	return cudaSuccess;
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	RUNTIME_CALL(cudaGetDeviceProperties, v12000);
	RUNTIME_ENTER();
	return RUNTIME_END(device_properties(prop, device));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr,
							 int device)
{
	CUresult err;
	RUNTIME_BEGIN(cudaDeviceGetAttribute, v5000, value, attr, device);

	err = cu.cuInit(0);
	return RUNTIME_END(err ? err
			       : cu.cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device));
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	RUNTIME_BEGIN(cudaDeviceGetStreamPriorityRange, v5050, least, greatest);
	*least = 0;
	*greatest = -5;
	return RUNTIME_END(cudaSuccess);
}

MOCK_EXPORT cudaError_t CUDARTAPI cudaDeviceSynchronize(void)
{
	RUNTIME_CALL(cudaDeviceSynchronize, v3020);
	RUNTIME_ENTER();
	return RUNTIME_END(WITH_CONTEXT(cu.cuCtxSynchronize()));
}
