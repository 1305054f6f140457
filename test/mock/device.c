/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated devices: MOCK_DEVICES of them, all alike but for their UUIDs. */
#include "test/mock/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DEVICES 2
#define MAX_DEVICES 16
#define DEVICE_BYTES (80ull << 30)

uint32_t mock_device_count(void)
{
	const char *text = mock_setting("MOCK_DEVICES");
	unsigned long count = text ? strtoul(text, NULL, 10) : DEFAULT_DEVICES;

	return count > MAX_DEVICES ? MAX_DEVICES : (uint32_t)count;
}

uint32_t mock_compute_minor(void)
{
	const char *text = mock_setting("MOCK_COMPUTE_MINOR");

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static CUresult device_check(const void *result, CUdevice device)
{
	if (!result)
		return CUDA_ERROR_INVALID_VALUE;
	if (device < 0 || (uint32_t)device >= mock_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuDeviceGetCount(int *count)
{
	DRIVER_BEGIN(cuDeviceGetCount, count);
	if (!count)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	*count = (int)mock_device_count();
	return DRIVER_END(CUDA_SUCCESS);
}

MOCK_EXPORT CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult err;
	DRIVER_BEGIN(cuDeviceGet, device, ordinal);

	err = device_check(device, ordinal);
	if (!err)
		*device = ordinal;
	return DRIVER_END(err);
}

MOCK_EXPORT CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice dev)
{
	CUresult err;
	DRIVER_BEGIN(cuDeviceGetName, name, len, dev);

	err = len > 0 ? device_check(name, dev) : CUDA_ERROR_INVALID_VALUE;
	if (!err)
		snprintf(name, (size_t)len, "Simulated GPU");
	return DRIVER_END(err);
}

static CUresult device_uuid(CUuuid *uuid, CUdevice device)
{
	CUresult err = device_check(uuid, device);

	if (err)
		return err;
	memcpy(uuid->bytes, "cuprobe mock GPU", sizeof(uuid->bytes));
	uuid->bytes[15] = (char)('0' + device);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	DRIVER_BEGIN(cuDeviceGetUuid_v2, uuid, dev);
	return DRIVER_END(device_uuid(uuid, dev));
}

MOCK_EXPORT CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	CUresult err;
	DRIVER_BEGIN(cuDeviceTotalMem_v2, bytes, dev);

	err = device_check(bytes, dev);
	if (!err)
		*bytes = DEVICE_BYTES;
	return DRIVER_END(err);
}

static int device_attribute(CUdevice_attribute attribute)
{
	const struct {
		CUdevice_attribute attribute;
		int value;
	} table[] = {
		{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
		{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
		{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
		{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
		{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
		{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
		{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
		{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
		{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
		{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
		{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
		{CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
		{CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
		{CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
		{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
		{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
		{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 52428800},
		{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
		{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
		{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
		{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
		{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, (int)mock_compute_minor()},
		{CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
		{CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
		{CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
		{CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
		{CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
		{CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (table[i].attribute == attribute)
			return table[i].value;
	}
	return 0;
}

MOCK_EXPORT CUresult CUDAAPI cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	CUresult err;
	DRIVER_BEGIN(cuDeviceGetAttribute, pi, attrib, dev);

	err = device_check(pi, dev);
	if (!err)
		*pi = device_attribute(attrib);
	return DRIVER_END(err);
}
