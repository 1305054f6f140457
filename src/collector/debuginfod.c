/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <linux/types.h>
#include <stddef.h>
#include <time.h>

#define SECOND_NS 1000000000ull

typedef int progress_function(debuginfod_client *client, long done, long all);

static __u64 last_ns, waited_ns;
static bool gave_up;

/* Called about once a second while a file is waited for, not between; not 0: it is given up. */
static int progress(debuginfod_client *client, long done, long all)
{
	struct timespec now;
	__u64 now_ns;

	(void)client, (void)done, (void)all;
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (__u64)now.tv_sec * SECOND_NS + (__u64)now.tv_nsec;
	if (now_ns - last_ns < 2 * SECOND_NS)
		waited_ns += now_ns - last_ns;
	last_ns = now_ns;
	gave_up = waited_ns >= DEBUGINFOD_SECONDS_MOST * SECOND_NS;
	return gave_up;
}

/* libdw has loaded the library, where it is installed and DEBUGINFOD_URLS is set. */
void debuginfod_bound(Dwfl *dwfl)
{
	debuginfod_client *client = dwfl_get_debuginfod_client(dwfl);
	void (*set)(debuginfod_client * client, progress_function * progress) = NULL;
	void *library;

	if (!client)
		return;
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return;
	*(void **)&set = dlsym(library, "debuginfod_set_progressfn");
	if (set)
		set(client, progress);
	dlclose(library);
}

bool debuginfod_gave_up(void)
{
	return gave_up;
}
