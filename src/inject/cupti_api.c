/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/inject/cupti_find.h"
#include "src/inject/notice.h"

struct cuprobe_cupti_api cuprobe_cupti;
uint32_t cuprobe_cupti_version;

static char path[CUPROBE_PATH_MAX];

struct symbol {
	const char *name;
	void **place;
};

#define SYMBOL(name, result, arguments) {"cupti" #name, (void **)&cuprobe_cupti.name},
static const struct symbol required[] = {CUPROBE_CUPTI_REQUIRED(SYMBOL)};
static const struct symbol optional[] = {CUPROBE_CUPTI_OPTIONAL(SYMBOL)};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int symbols_find(void *library, char *ret_why, size_t why_size)
{
	for (size_t i = 0; i < COUNT(required); i++) {
		*required[i].place = dlsym(library, required[i].name);
		if (*required[i].place)
			continue;
		snprintf(ret_why, why_size, "%s lacks %s", path, required[i].name);
		return -ENOSYS;
	}
	for (size_t i = 0; i < COUNT(optional); i++) {
		*optional[i].place = dlsym(library, optional[i].name);
		if (!*optional[i].place)
			cuprobe_log(CUPROBE_NOTE, "%s lacks %s", path, optional[i].name);
	}
	return 0;
}

int cuprobe_cupti_load(char *ret_why, size_t why_size)
{
	void *library;
	int err;

	if (cuprobe_cupti_version)
		return 0;
	library = cuprobe_cupti_find(path, ret_why, why_size);
	if (!library)
		return -ENOENT;
	err = symbols_find(library, ret_why, why_size);
	if (err)
		return err;
	if (cuprobe_cupti.GetVersion(&cuprobe_cupti_version) != CUPTI_SUCCESS ||
	    !cuprobe_cupti_version) {
		snprintf(ret_why, why_size, "%s does not tell its version", path);
		cuprobe_cupti_version = 0;
		return -EPROTO;
	}
	cuprobe_log(CUPROBE_NOTE, "using %s, version %u", path, cuprobe_cupti_version);
	return 0;
}

const char *cuprobe_cupti_path(void)
{
	return path;
}

const char *cuprobe_cupti_result(CUptiResult result)
{
	const char *name = NULL;

	if (cuprobe_cupti.GetResultString &&
	    cuprobe_cupti.GetResultString(result, &name) == CUPTI_SUCCESS && name)
		return name;
	return "unknown CUPTI error";
}
