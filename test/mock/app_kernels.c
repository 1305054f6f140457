/* SPDX-License-Identifier: Apache-2.0 */
/* The workloads' kernels, registered as the code that nvcc generates does, and ways to launch them.
 */
#include "test/mock/app.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector_types.h>

#define MAX_KERNELS 8192

void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaRegisterFunction(void **handle, const char *hostFun, char *deviceFun,
			    const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
			    dim3 *bDim, dim3 *gDim, int *wSize);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *func);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
			       size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args,
				  size_t shared, cudaStream_t stream);
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			     unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			     CUstream stream, void **params, void **extra);

static const char *const builtin_names[] = {
	"_Z6vecAddPKfS0_Pfi",
	"_Z9transposePfPKfii",
	"_Z13reduce_blocksILi256EfEvPKT0_PS0_i",
	"ampere_sgemm_128x64_tn",
	NULL,
};

static const char *const hostile_names[] = {
	"quote\"and\\backslash",
	"semicolon;in;the;name with blanks",
	"control\001\n\r\t\033[31mbytes",
	"bad utf-8 \xff\xfe\xc3(",
	"{\"json\": [\"injection\"]}, <b>&amp;'",
	"_Z6kernelIZ4mainEUlvE_EvT_",
	"_ZnotMangled$%s%n%d",
	"\xe2\x80\xaeright to left\xf0\x9f\x98\x80",
	NULL,
};

static const char hosts[MAX_KERNELS]; /* their addresses stand for the host functions */
static char *symbols[MAX_KERNELS];
static unsigned int count;
static __thread CUmodule module;
static __thread CUfunction functions[MAX_KERNELS];

/* The program's code, as far as there is any. */
static const void *image = NULL;
static char *cubin_names[MAX_KERNELS + 1];

static void *file_read(const char *path, size_t *ret_bytes)
{
	FILE *file = fopen(path, "rb");
	char *data;

	app_check(path, file ? 0 : cudaErrorFileNotFound);
	fseek(file, 0, SEEK_END);
	*ret_bytes = (size_t)ftell(file);
	rewind(file);
	data = malloc(*ret_bytes + 1);
	app_check(path, fread(data, 1, *ret_bytes, file) == *ret_bytes ? 0 : cudaErrorUnknown);
	fclose(file);
	return data;
}

/* Its kernels are the global functions of its symbol table. */
static const char *const *cubin_load(const char *path)
{
	size_t bytes;
	const char *file = file_read(path, &bytes);
	const Elf64_Ehdr *elf = (const void *)file;
	const Elf64_Shdr *sections = (const void *)(file + elf->e_shoff);
	unsigned int found = 0;

	image = file;
	for (unsigned int i = 0; i < elf->e_shnum; i++) {
		const Elf64_Sym *symbol = (const void *)(file + sections[i].sh_offset);
		const char *strings = file + sections[sections[i].sh_link].sh_offset;
		size_t left = sections[i].sh_type == SHT_SYMTAB
				      ? sections[i].sh_size / sizeof(*symbol)
				      : 0;

		for (; left && found < MAX_KERNELS; left--, symbol++) {
			if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
			    ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL)
				cubin_names[found++] = strdup(strings + symbol->st_name);
		}
	}
	return (const char *const *)cubin_names;
}

/* `base`, made different from the others by a number, and filled up to `bytes`. */
static char *kernel_make_name(const char *base, unsigned int number, size_t bytes)
{
	size_t length = strlen(base) + 16;
	char *name;

	if (length < bytes)
		length = bytes;
	name = malloc(length + 1);
	if (number)
		snprintf(name, length + 1, "%s_%u", base, number);
	else
		snprintf(name, length + 1, "%s", base);
	for (size_t at = strlen(name); at < bytes; at++) {
		name[at] = (char)('a' + at % 26);
		name[at + 1] = '\0';
	}
	return name;
}

void kernels_register(const struct app_options *options, const char *const *names)
{
	const char *const given[] = {options->name, NULL};
	unsigned int bases = 0;
	void **handle;

	if (options->cubin)
		names = cubin_load(options->cubin);
	else if (options->name)
		names = given;
	else if (options->hostile)
		names = hostile_names;
	else if (!names)
		names = builtin_names;
	handle = __cudaRegisterFatBinary((void *)image);
	while (names[bases])
		bases++;
	for (count = 0; count < MAX_KERNELS; count++) {
		if (count == (options->kernels ? options->kernels : bases))
			break;
		symbols[count] =
			kernel_make_name(names[count % bases], count / bases, options->name_bytes);
		__cudaRegisterFunction(handle, &hosts[count], symbols[count], symbols[count], -1,
				       NULL, NULL, NULL, NULL, NULL);
	}
}

unsigned int kernels_count(void)
{
	return count;
}

const void *kernel_host(unsigned int number)
{
	return &hosts[number % count];
}

const char *kernel_symbol(unsigned int number)
{
	return symbols[number % count];
}

/* The thread's own driver handle of a kernel; its module is loaded at the first use. */
static CUfunction kernel_driver(unsigned int number)
{
	number %= count;
	if (!module)
		CHECK(cuModuleLoadData(&module, image ? image : "// kernels of a thread"));
	if (!functions[number])
		CHECK(cuModuleGetFunction(&functions[number], module, symbols[number]));
	return functions[number];
}

static void launch_ex(unsigned int number, dim3 grid, dim3 block, cudaStream_t stream)
{
	cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension};
	cudaLaunchConfig_t config = {.gridDim = grid,
				     .blockDim = block,
				     .stream = stream,
				     .attrs = &attribute,
				     .numAttrs = 1};

	attribute.val.clusterDim.x = 2;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	CHECK(cudaLaunchKernelExC(&config, kernel_host(number), NULL));
}

static void launch_driver(unsigned int number, dim3 grid, dim3 block, cudaStream_t stream)
{
	CHECK(cuLaunchKernel(kernel_driver(number), grid.x, grid.y, grid.z, block.x, block.y,
			     block.z, 0, stream, NULL, NULL));
}

static void launch_driver_ex(unsigned int number, dim3 grid, dim3 block, cudaStream_t stream)
{
	CUlaunchConfig config = {.gridDimX = grid.x,
				 .gridDimY = grid.y,
				 .gridDimZ = grid.z,
				 .blockDimX = block.x,
				 .blockDimY = block.y,
				 .blockDimZ = block.z,
				 .hStream = stream};

	CHECK(cuLaunchKernelEx(&config, kernel_driver(number), NULL, NULL));
}

static void launch_13(unsigned int number, dim3 grid, dim3 block, cudaStream_t stream)
{
	static __thread cudaKernel_t handles[MAX_KERNELS];
	cudaKernel_t *handle = &handles[number % count];

	if (!*handle)
		CHECK(__cudaGetKernel(handle, kernel_host(number)));
	CHECK(__cudaLaunchKernel(*handle, grid, block, NULL, 0, stream));
}

void kernel_launch(unsigned int number, enum app_api api, cudaStream_t stream)
{
	dim3 grid = {1 + number % 132, 1, 1}, block = {128, 1, 1};

	switch (api) {
	case APP_RUNTIME:
		CHECK(cudaLaunchKernel(kernel_host(number), grid, block, NULL, 0, stream));
		break;
	case APP_RUNTIME_13:
		launch_13(number, grid, block, stream);
		break;
	case APP_RUNTIME_EX:
		launch_ex(number, grid, block, stream);
		break;
	case APP_COOPERATIVE:
		CHECK(cudaLaunchCooperativeKernel(kernel_host(number), grid, block, NULL, 0,
						  stream));
		break;
	case APP_RUNTIME_PTSZ:
		CHECK(cudaLaunchKernel_ptsz(kernel_host(number), grid, block, NULL, 0, stream));
		break;
	case APP_DRIVER:
		launch_driver(number, grid, block, stream);
		break;
	case APP_DRIVER_EX:
		launch_driver_ex(number, grid, block, stream);
		break;
	case APP_DRIVER_PTSZ:
		CHECK(cuLaunchKernel_ptsz(kernel_driver(number), grid.x, grid.y, grid.z, block.x,
					  block.y, block.z, 0, stream, NULL, NULL));
		break;
	case APP_APIS:
		kernel_launch(number, (enum app_api)(number % APP_APIS), stream);
		break;
	}
}
