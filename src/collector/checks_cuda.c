// SPDX-License-Identifier: Apache-2.0
/* The GPU's software. What is missing here may still come with a program, so nothing fails. */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/checks.h"

/* Adds "DIRECTORY/PATTERN"s of a list of directories ("A:B") to what was found. */
static void find_in(glob_t *found, const char *directories, const char *pattern)
{
	char list[8192], *next = list, *directory, full[PATH_MAX];

	if (!directories)
		return;
	snprintf(list, sizeof(list), "%s", directories);
	while ((directory = strsep(&next, ":"))) {
		if (!*directory)
			continue;
		snprintf(full, sizeof(full), "%.3900s/%s", directory, pattern);
		glob(full, found->gl_pathc ? GLOB_APPEND : 0, NULL, found);
	}
}

/* The first of the found, and how many more there are. */
static void tell(struct check *c, const glob_t *found)
{
	if (found->gl_pathc > 1)
		check_found(c, CHECK_OK, "%.400s, and %zu more", found->gl_pathv[0],
			    found->gl_pathc - 1);
	else
		check_found(c, CHECK_OK, "%.400s", found->gl_pathv[0]);
}

static const char system_libraries[] = "/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
				       "/usr/lib64:/usr/lib:/usr/local/nvidia/lib64:"
				       "/usr/local/nvidia/lib:/usr/lib/wsl/lib:"
				       "/run/opengl-driver/lib";

void check_driver(struct check *c)
{
	FILE *file = fopen("/proc/driver/nvidia/version", "re");
	char line[256];

	if (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		check_found(c, CHECK_OK, "%s", line);
	} else {
		check_found(c, CHECK_WARN,
			    "no NVIDIA driver is loaded: captures can be viewed, "
			    "CUDA programs cannot run");
		check_remedy(c, "nvidia-smi says more; WSL has no such file and works");
	}
	if (file)
		fclose(file);
}

void check_libcuda(struct check *c)
{
	glob_t found = {0};

	find_in(&found, getenv("LD_LIBRARY_PATH"), "libcuda.so.1");
	find_in(&found, system_libraries, "libcuda.so.1");
	if (found.gl_pathc) {
		tell(c, &found);
	} else {
		check_found(c, CHECK_WARN, "libcuda.so.1 is in none of the usual places");
		check_remedy(c, "install the NVIDIA driver's libraries");
	}
	globfree(&found);
}

void check_libcupti(struct check *c)
{
	static const char *const places[] = {"lib64/libcupti.so*",
					     "extras/CUPTI/lib64/libcupti.so*"};
	glob_t found = {0};

	find_in(&found, getenv("LD_LIBRARY_PATH"), "libcupti.so*");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		find_in(&found, getenv("CUDA_HOME"), places[i]);
		find_in(&found, getenv("CUDA_PATH"), places[i]);
		find_in(&found, "/usr/local/cuda:/usr/local/cuda-*:/opt/cuda", places[i]);
	}
	find_in(&found, system_libraries, "libcupti.so*");
	if (getenv("CUPROBE_CUPTI_PATH")) {
		check_found(c, CHECK_OK, "CUPROBE_CUPTI_PATH names '%.400s'",
			    getenv("CUPROBE_CUPTI_PATH"));
	} else if (found.gl_pathc) {
		tell(c, &found);
	} else {
		check_found(c, CHECK_WARN,
			    "in none of the usual places: only programs that bring "
			    "one (as PyTorch does) can be traced");
		check_remedy(c, "install cuda-cupti of the driver's CUDA version, or name it in "
				"CUPROBE_CUPTI_PATH");
	}
	globfree(&found);
}

void check_restriction(struct check *c)
{
	FILE *file = fopen("/proc/driver/nvidia/params", "re");
	int restricted = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "RmProfilingAdminOnly: %d", &restricted);
	check_found(c, CHECK_OK, file ? "everybody may profile" : "no driver, no restriction");
	if (restricted) {
		check_found(c, CHECK_WARN,
			    "the driver lets only root use counters and PC sampling; "
			    "kernels, copies and calls are traced for all");
		check_remedy(c, "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in "
				"/etc/modprobe.d, and load the driver anew");
	}
	if (file)
		fclose(file);
}
