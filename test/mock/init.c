/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the simulated driver in its process: cuInit with the injection library, fork, and the
 * teardown at exit, which MOCK_TEARDOWN puts before or after the injection library's own handlers.
 */
#include "test/mock/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIVER_VERSION 13000

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER; /* one cuInit at a time */
static _Atomic int state = DRIVER_NEW;
static pid_t init_pid;
static __thread bool thread_injecting;

static __attribute__((constructor)) void driver_load(void)
{
	truth_init();
	script_init();
	gpu_init();
}

CUresult driver_check(void)
{
	switch (atomic_load(&state)) {
	case DRIVER_NEW:
		return CUDA_ERROR_NOT_INITIALIZED;
	case DRIVER_GONE:
		return CUDA_ERROR_DEINITIALIZED;
	default:
		return CUDA_SUCCESS;
	}
}

bool mock_initialized(void)
{
	return atomic_load(&state) == DRIVER_READY;
}

bool mock_injecting(void)
{
	return thread_injecting;
}

static void driver_teardown(void)
{
	const struct mock_tools *tools = call_tools();

	if (getpid() != init_pid)
		return;
	if (tools)
		tools->teardown();
	atomic_store(&state, DRIVER_GONE);
}

/* CUDA does not survive fork: all that the child may do is exec, or run without CUDA. */
static void driver_forked(void)
{
	if (atomic_load(&state) == DRIVER_READY)
		atomic_store(&state, DRIVER_NEW);
	mock_detach(call_tools());
}

static int driver_call_injection(void *library)
{
	int (*entry)(void);
	int result;

	*(void **)&entry = dlsym(library, "InitializeInjection");
	if (!entry)
		return -1;
	thread_injecting = true;
	result = entry();
	thread_injecting = false;
	return result;
}

static void driver_inject(void)
{
	const char *path = secure_getenv("CUDA_INJECTION64_PATH");
	void *library;

	if (!path || !*path)
		return;
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	truth_injection(path, library != NULL, library ? driver_call_injection(library) : -1);
}

/*
 * Exit handlers run last in, first out: one that is registered before the injection library's runs
 * after them, which is `late`.
 */
static void driver_start(void)
{
	const char *teardown = mock_setting("MOCK_TEARDOWN");
	bool early = !teardown || !strcmp(teardown, "early");

	init_pid = getpid();
	truth_init();
	pthread_atfork(NULL, NULL, driver_forked);
	if (!early)
		atexit(driver_teardown);
	driver_inject();
	if (early)
		atexit(driver_teardown);
}

static CUresult driver_init(unsigned int flags)
{
	static bool started;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (atomic_load(&state) == DRIVER_READY)
		return CUDA_SUCCESS;
	if (thread_injecting) {
		mock_violation("cuInit called inside InitializeInjection");
		return CUDA_ERROR_NOT_INITIALIZED;
	}
	pthread_mutex_lock(&init_lock);
	if (started && atomic_load(&state) != DRIVER_READY) {
		pthread_mutex_unlock(&init_lock);
		return init_pid == getpid() ? CUDA_ERROR_DEINITIALIZED : CUDA_ERROR_NOT_INITIALIZED;
	}
	if (!started)
		driver_start();
	started = true;
	atomic_store(&state, DRIVER_READY);
	pthread_mutex_unlock(&init_lock);
	if (call_tools())
		call_tools()->initialized();
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuInit(unsigned int flags)
{
	DRIVER_CALL(cuInit, flags);
	call_.anytime = true;
	DRIVER_ENTER();
	return DRIVER_END(driver_init(flags));
}

MOCK_EXPORT CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	DRIVER_CALL(cuDriverGetVersion, version);
	call_.anytime = true;
	DRIVER_ENTER();
	if (!version)
		return DRIVER_END(CUDA_ERROR_INVALID_VALUE);
	*version = DRIVER_VERSION;
	return DRIVER_END(CUDA_SUCCESS);
}

/* Both need no cuInit, and CUPTI does not show them. */
MOCK_EXPORT CUresult CUDAAPI cuGetErrorName(CUresult error, const char **ret_name)
{
	*ret_name = error ? "CUDA_ERROR_UNKNOWN" : "CUDA_SUCCESS";
	switch (error) {
#define RESULT(name)                                                                               \
	case name:                                                                                 \
		*ret_name = #name;                                                                 \
		break;
#include "mock_error_names.h"
#undef RESULT
	default:
		break;
	}
	return CUDA_SUCCESS;
}

MOCK_EXPORT CUresult CUDAAPI cuGetErrorString(CUresult error, const char **ret_text)
{
	return cuGetErrorName(error, ret_text);
}

static CUresult proc_find(const char *symbol, void **ret_function)
{
	static const char *const suffixes[] = {"_v4", "_v2", ""};
	void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	char name[128];

	for (unsigned int i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", symbol, suffixes[i]);
		*ret_function = dlsym(self, name);
		if (*ret_function)
			break;
	}
	dlclose(self);
	return *ret_function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

MOCK_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **function, int version,
						 cuuint64_t flags,
						 CUdriverProcAddressQueryResult *status)
{
	DRIVER_CALL(cuGetProcAddress_v2, symbol, function, version, flags, status);
	call_.anytime = true;
	CUresult err;

	DRIVER_ENTER();
	err = symbol && function ? proc_find(symbol, function) : CUDA_ERROR_INVALID_VALUE;
	if (status)
		*status = err ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
	return DRIVER_END(err);
}

const struct mock_driver mock_driver_table = {
#define MOCK_SERVICE(type, name, args) .name = mock_##name,
	MOCK_FOR_EACH_SERVICE(MOCK_SERVICE)
#undef MOCK_SERVICE
};
