/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_find.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/inject/env.h"
#include "src/inject/log.h"

struct search {
	char *path;		       /* the caller's, of the library that was loaded */
	char cudart[CUPROBE_PATH_MAX]; /* folder of the mapped libcudart, or "" */
	int major;		       /* of CUDA, to be preferred; 0 not known */
	bool any_major;		       /* the second round */
	void *library;
};

/* Where libcupti lies, seen from the folder of libcudart: toolkit, then the pip layouts. */
static const char *const beside_cudart[] = {
	"",
	"/../extras/CUPTI/lib64",
	"/../../../extras/CUPTI/lib64",
	"/../../cuda_cupti/lib",
};

/* The same, seen from the root of a toolkit. */
static const char *const in_toolkit[] = {
	"/extras/CUPTI/lib64",	   "/lib64", "/targets/x86_64-linux/lib",
	"/targets/sbsa-linux/lib", "/lib",
};

static const char *const prefixes[] = {"/usr/local/cuda", "/opt/cuda", "/usr/local/cuda-*",
				       "/opt/cuda-*"};

static const char *const loader_names[] = {"libcupti.so.13",   "libcupti.so.12",
					   "libcupti.so.11.8", "libcupti.so.11.7",
					   "libcupti.so.11.6", "libcupti.so"};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct mapped {
	const char *prefix; /* of the file's name */
	const void *but;    /* not the one that this lies in */
	char *ret_path;
};

static bool object_has(const struct dl_phdr_info *object, const void *address)
{
	ElfW(Addr) at = (ElfW(Addr))address - object->dlpi_addr;

	for (unsigned int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && at - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static int object_matches(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct mapped *mapped = arg;
	const char *name = strrchr(object->dlpi_name, '/');

	(void)size;
	name = name ? name + 1 : object->dlpi_name;
	if (strncmp(name, mapped->prefix, strlen(mapped->prefix)) ||
	    object_has(object, mapped->but))
		return 0;
	snprintf(mapped->ret_path, CUPROBE_PATH_MAX, "%s", object->dlpi_name);
	return 1;
}

/* The path of a loaded object whose file name begins with `prefix`. */
static bool mapped_find(const char *prefix, const void *but, char *ret_path)
{
	struct mapped mapped = {prefix, but, ret_path};

	return dl_iterate_phdr(object_matches, &mapped) == 1;
}

bool cuprobe_cupti_find_other(const void *ours, char *ret_path)
{
	return mapped_find("libcupti.so", ours, ret_path);
}

static int version_from(const char *prefix, const char *function)
{
	char path[CUPROBE_PATH_MAX];
	int (*get)(int *);
	int version = 0;
	void *library;

	if (!mapped_find(prefix, NULL, path))
		return 0;
	library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return 0;
	*(void **)&get = dlsym(library, function);
	if (!get || get(&version))
		version = 0;
	dlclose(library);
	return version;
}

int cuprobe_cuda_driver_version(void)
{
	return version_from("libcuda.so", "cuDriverGetVersion");
}

int cuprobe_cuda_runtime_version(void)
{
	return version_from("libcudart.so", "cudaRuntimeGetVersion");
}

/* CUDA's major version in a name such as libcupti.so.12 or libcupti.so.2025.3.1; 0 none. */
static int name_major(const char *path)
{
	const char *number = strstr(path, ".so.");
	int major = number ? atoi(number + 4) : 0;

	return major < 100 ? major : 0;
}

static bool library_open(struct search *search, const char *path)
{
	char real[CUPROBE_PATH_MAX];
	struct link_map *map;

	if (strchr(path, '/') && !search->any_major && search->major) {
		int major = name_major(realpath(path, real) ? real : path);

		if (!major)
			major = name_major(path);
		if (major && major != search->major)
			return false;
	}
	search->library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!search->library) {
		cuprobe_log(CUPROBE_DEBUG, "%s", dlerror());
		return false;
	}
	snprintf(search->path, CUPROBE_PATH_MAX, "%s", path);
	if (!dlinfo(search->library, RTLD_DI_LINKMAP, &map) && *map->l_name)
		snprintf(search->path, CUPROBE_PATH_MAX, "%s", map->l_name);
	return true;
}

/* Tries every libcupti.so* of a folder (a pattern), the shortest name first. */
static bool folder_try(struct search *search, const char *folder, const char *below)
{
	char pattern[CUPROBE_PATH_MAX];
	bool found = false;
	glob_t files;

	if ((size_t)snprintf(pattern, sizeof(pattern), "%s%s/libcupti.so*", folder, below) >=
	    sizeof(pattern))
		return false;
	if (glob(pattern, 0, NULL, &files))
		return false;
	for (size_t i = 0; i < files.gl_pathc && !found; i++)
		found = library_open(search, files.gl_pathv[i]);
	globfree(&files);
	return found;
}

static bool folders_try(struct search *search, const char *root, const char *const *below,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (folder_try(search, root, below[i]))
			return true;
	}
	return false;
}

static bool variable_try(struct search *search, const char *name)
{
	const char *root = secure_getenv(name);

	return root && *root && folders_try(search, root, in_toolkit, COUNT(in_toolkit));
}

static bool loader_try(struct search *search)
{
	for (size_t i = 0; i < COUNT(loader_names); i++) {
		int major = name_major(loader_names[i]);

		if (!search->any_major && search->major && major != search->major)
			continue;
		if (library_open(search, loader_names[i]))
			return true;
	}
	return false;
}

static bool prefixes_try(struct search *search)
{
	for (size_t i = 0; i < COUNT(prefixes); i++) {
		if (folders_try(search, prefixes[i], in_toolkit, COUNT(in_toolkit)))
			return true;
	}
	return false;
}

static bool round_try(struct search *search)
{
	if (*search->cudart &&
	    folders_try(search, search->cudart, beside_cudart, COUNT(beside_cudart)))
		return true;
	return variable_try(search, "CUDA_HOME") || variable_try(search, "CUDA_PATH") ||
	       loader_try(search) || prefixes_try(search);
}

static bool asked_for_try(struct search *search)
{
	struct stat st;

	search->any_major = true; /* whoever names a libcupti gets it */
	if (!stat(cuprobe_env.cupti_path, &st) && S_ISDIR(st.st_mode))
		return folder_try(search, cuprobe_env.cupti_path, "");
	return library_open(search, cuprobe_env.cupti_path);
}

static void search_init(struct search *search)
{
	int version = cuprobe_cuda_runtime_version();

	if (!version)
		version = cuprobe_cuda_driver_version();
	search->major = version / 1000;
	if (mapped_find("libcudart.so", NULL, search->cudart))
		dirname(search->cudart);
}

void *cuprobe_cupti_find(char *ret_path, char *ret_why, size_t why_size)
{
	struct search search = {.path = ret_path};

	if (mapped_find("libcupti.so", NULL, ret_path)) {
		search.library = dlopen(ret_path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
		if (search.library)
			return search.library;
	}
	search_init(&search);
	if (cuprobe_env.cupti_path) {
		if (!asked_for_try(&search))
			snprintf(ret_why, why_size,
				 "CUPROBE_CUPTI_PATH: no libcupti can be loaded "
				 "from '%s'",
				 cuprobe_env.cupti_path);
		return search.library;
	}
	if (round_try(&search))
		return search.library;
	search.any_major = true;
	if (round_try(&search))
		cuprobe_log(CUPROBE_NOTE, "no libcupti of CUDA %d was found", search.major);
	else
		snprintf(ret_why, why_size, "no libcupti was found for CUDA %d", search.major);
	return search.library;
}
