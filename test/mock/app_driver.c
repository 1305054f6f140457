/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver functions of a program that finds libcuda with dlopen, as many do. With it the program
 * names neither libcuda nor libcudart among its libraries.
 */
#include "test/mock/app.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void mock_truth_write(void);

static void *driver_find(const char *name)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	void *function = library ? dlsym(library, name) : NULL;

	if (!function) {
		fprintf(stderr, "mock_app: %s: %s\n", name, dlerror());
		exit(1);
	}
	return function;
}

/* DRIVER(name, (parameters), (arguments)): calls the function of that name. */
#define DRIVER(name, params, args)                                                                 \
	CUresult name params                                                                       \
	{                                                                                          \
		static __thread CUresult(*function) params;                                        \
                                                                                                   \
		if (!function)                                                                     \
			*(void **)&function = driver_find(#name);                                  \
		return function args;                                                              \
	}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			     unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			     CUstream stream, void **params, void **extra);

DRIVER(cuCtxSynchronize, (void), ())
DRIVER(cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
DRIVER(cuModuleUnload, (CUmodule module), (module))
DRIVER(cuModuleGetFunction, (CUfunction * function_, CUmodule module, const char *name),
       (function_, module, name))
DRIVER(cuLaunchKernel,
       (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
	unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params,
	void **extra),
       (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
DRIVER(cuLaunchKernel_ptsz,
       (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
	unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params,
	void **extra),
       (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
DRIVER(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction f, void **params, void **extra),
       (config, f, params, extra))

void mock_truth_write(void)
{
	void (*function)(void);

	*(void **)&function = driver_find("mock_truth_write");
	function();
}
