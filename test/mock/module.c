/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules and their functions. Any name that is asked for is there: workloads choose kernel names
 * freely. With MOCK_NAMES=reuse the names of an unloaded module give their memory to the next one,
 * so that the same pointer comes to mean another kernel.
 */
#include "test/mock/driver.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (1u << 20) /* of names a module */

static pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the lists and arenas */
static CUmodule _Atomic all_modules;				/* newest first, never freed */
static uint32_t last_module_id;
static char *free_arena; /* of the module that was unloaded last */

struct CUmod_st *mock_modules(void)
{
	return all_modules;
}

static size_t image_bytes(const void *image)
{
	const Elf64_Ehdr *elf = image;
	size_t sections, segments;

	if (!image)
		return 0;
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG))
		return strlen(image) + 1;
	sections = elf->e_shoff + (size_t)elf->e_shnum * elf->e_shentsize;
	segments = elf->e_phoff + (size_t)elf->e_phnum * elf->e_phentsize;
	return sections > segments ? sections : segments;
}

static CUresult module_load(CUmodule *ret_module, const void *image)
{
	const struct mock_tools *tools = call_tools();
	CUcontext context;
	CUmodule module;
	CUresult err = ret_module ? context_need(&context) : CUDA_ERROR_INVALID_VALUE;

	if (err)
		return err;
	module = calloc(1, sizeof(*module));
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	module->context = context;
	module->image_bytes = image_bytes(image);
	module->image =
		image ? memcpy(malloc(module->image_bytes), image, module->image_bytes) : NULL;
	module->alive = true;
	pthread_mutex_lock(&module_lock);
	module->id = ++last_module_id;
	module->names = free_arena;
	free_arena = NULL;
	module->next = all_modules;
	all_modules = module;
	pthread_mutex_unlock(&module_lock);
	if (tools)
		tools->module(true, module);
	*ret_module = module;
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
	DRIVER_BEGIN(cuModuleLoadData, module, image);
	return DRIVER_END(module_load(module, image));
}

static CUresult module_unload(CUmodule module)
{
	const char *reuse = mock_setting("MOCK_NAMES");
	const struct mock_tools *tools = call_tools();

	if (!module || !module->alive)
		return CUDA_ERROR_INVALID_HANDLE;
	if (tools)
		tools->module(false, module);
	pthread_mutex_lock(&module_lock);
	module->alive = false;
	for (CUfunction f = module->functions; f; f = f->next)
		truth_kernel(f, atomic_exchange(&f->launches, 0));
	if (reuse && !strcmp(reuse, "reuse"))
		free_arena = module->names;
	pthread_mutex_unlock(&module_lock);
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuModuleUnload(CUmodule hmod)
{
	DRIVER_BEGIN(cuModuleUnload, hmod);
	return DRIVER_END(module_unload(hmod));
}

/* Copies the name; names too long for the module's arena get memory of their own. */
static const char *module_name(CUmodule module, const char *name)
{
	size_t bytes = strlen(name) + 1;
	char *copy;

	if (!module->names)
		module->names = calloc(1, ARENA_BYTES);
	if (!module->names || bytes > ARENA_BYTES - module->names_used)
		return strdup(name);
	copy = module->names + module->names_used;
	module->names_used += bytes;
	return memcpy(copy, name, bytes);
}

static CUfunction function_new(CUmodule module, const char *name)
{
	CUfunction function = calloc(1, sizeof(*function));

	if (!function)
		return NULL;
	function->module = module;
	function->name = module_name(module, name);
	function->duration_ns = gpu_kernel_ns(name);
	function->registers = 16 + (uint32_t)(function->duration_ns % 112);
	function->static_shared = (uint32_t)(function->duration_ns % 4) * 1024;
	function->next = module->functions;
	module->functions = function;
	return function;
}

CUfunction module_function(CUmodule module, const char *name)
{
	CUfunction function;

	pthread_mutex_lock(&module_lock);
	for (function = module->functions; function; function = function->next) {
		if (!strcmp(function->name, name))
			break;
	}
	if (!function)
		function = function_new(module, name);
	pthread_mutex_unlock(&module_lock);
	return function;
}

static CUresult function_get(CUfunction *ret_function, CUmodule module, const char *name)
{
	if (!ret_function || !module || !module->alive || !name || !*name)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_function = module_function(module, name);
	return *ret_function ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

MOCK_EXPORT CUresult CUDAAPI cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	DRIVER_BEGIN(cuModuleGetFunction, hfunc, hmod, name);
	return DRIVER_END(function_get(hfunc, hmod, name));
}

MOCK_EXPORT CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction hfunc)
{
	DRIVER_BEGIN(cuFuncGetName, name, hfunc);
	if (!name || !hfunc)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	*name = hfunc->name;
	return DRIVER_END(CUDA_SUCCESS);
}
