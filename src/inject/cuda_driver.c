/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cuda_driver.h"

#include <dlfcn.h>
#include <stddef.h>

void *cuprobe_driver_function(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *function = driver ? dlsym(driver, name) : NULL;

	if (driver)
		dlclose(driver);
	return function;
}

int cuprobe_driver_next_used(int device)
{
	int (*count_get)(int *) = cuprobe_driver_function("cuDeviceGetCount");
	int (*state_get)(int, unsigned int *, int *) =
		cuprobe_driver_function("cuDevicePrimaryCtxGetState");
	int devices = 0, active;
	unsigned int flags;

	if (!count_get || !state_get || count_get(&devices))
		return -1;
	for (; device < devices; device++) {
		if (!state_get(device, &flags, &active) && active)
			return device;
	}
	return -1;
}
