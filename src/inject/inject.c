/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doors: the CUDA driver loads the library that CUDA_INJECTION64_PATH names and calls
 * InitializeInjection() inside cuInit(); NVTX clients load the one that NVTX_INJECTION64_PATH names
 * and call the other two with the first use of NVTX.
 */
#include "src/inject/inject.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/inject/control.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/notice.h"
#include "src/inject/nvtx.h"
#include "src/inject/nvtx_abi.h"

#define FINISH_NS 2000000000ull
#define NVTX_VARIABLE "NVTX_INJECTION64_PATH"

static void setting_complain(const char *name, const char *value, const char *allowed)
{
	if (value)
		cuprobe_notice_message(CUPROBE_WARNING, 0, "the default is used",
				       "%s is '%s', not %s", name, value, allowed);
	else
		cuprobe_notice_message(CUPROBE_WARNING, 0, "look at the environment table",
				       "%.*s is not a setting", (int)strcspn(name, "="), name);
}

static void at_exit(void)
{
	if (cuprobe_guard_alive())
		cuprobe_control_finish(FINISH_NS);
}

/*
 * Makes ready what every entry needs, once. True for the caller that has to start the rest: outside
 * the lock, because that can wait for the loader, which another caller may hold.
 */
static bool library_prepare(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static atomic_bool prepared;
	struct cuprobe_guard guard;
	bool first;

	if (atomic_load_explicit(&prepared, memory_order_acquire))
		return false;
	pthread_mutex_lock(&lock);
	first = !atomic_load_explicit(&prepared, memory_order_relaxed);
	if (first) {
		cuprobe_guard_init();
		cuprobe_guard_enter(&guard);
		cuprobe_env_read(environ, setting_complain);
		cuprobe_log_init();
		cuprobe_guard_leave(&guard);
		atomic_store_explicit(&prepared, true, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return first;
}

/* For programs of which only CUDA's variable was set: NVTX clients look at theirs at first use. */
static void nvtx_variable_set(void)
{
	Dl_info self;

	if (!getenv(NVTX_VARIABLE) && dladdr((void *)nvtx_variable_set, &self))
		setenv(NVTX_VARIABLE, self.dli_fname, 0);
}

static void library_start(bool cuda)
{
	bool first = library_prepare();
	struct cuprobe_guard guard;

	if (cuprobe_env.disable || !cuprobe_guard_enter(&guard))
		return;
	if (cuda)
		nvtx_variable_set();
	if (first) {
		cuprobe_control_start(cuda);
		atexit(at_exit);
	} else if (cuda) {
		cuprobe_control_cuda();
	}
	cuprobe_guard_leave(&guard);
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	static atomic_bool entered;

	if (!atomic_exchange(&entered, true))
		library_start(true);
	return 1;
}

/* What has been wanted before a client came is put into its slots before its first call goes on. */
static int client_attach(const struct nvtx_callbacks *callbacks,
			 const struct nvtx_extension *extension)
{
	struct cuprobe_guard guard;
	int err;

	library_start(false);
	if (cuprobe_env.disable || !cuprobe_guard_enter(&guard))
		return 0;
	err = cuprobe_nvtx_attach(callbacks, extension);
	cuprobe_guard_leave(&guard);
	return !err;
}

__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
	return export_table && client_attach(export_table(NVTX_EXPORT_CALLBACKS), NULL);
}

__attribute__((visibility("default"))) int
InitializeInjectionNvtxExtension(const struct nvtx_extension *extension)
{
	return extension && client_attach(NULL, extension);
}
