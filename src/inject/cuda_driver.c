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
