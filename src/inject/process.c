/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cuprobe/abi.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_find.h"
#include "src/inject/cupti_session.h"
#include "src/inject/env.h"
#include "src/inject/info.h"
#include "src/inject/strings.h"

/* From the control thread to the pump; each is a value of its own, so relaxed is enough. */
static _Atomic __u32 driver_version, runtime_version;

void cuprobe_process_look(void)
{
	atomic_store_explicit(&driver_version, (__u32)cuprobe_cuda_driver_version(),
			      memory_order_relaxed);
	atomic_store_explicit(&runtime_version, (__u32)cuprobe_cuda_runtime_version(),
			      memory_order_relaxed);
}

static __u32 executable_id(void)
{
	char path[PATH_MAX];
	ssize_t bytes = readlink("/proc/thread-self/exe", path, sizeof(path) - 1);

	if (bytes < 0)
		return 0;
	path[bytes] = 0;
	return cuprobe_strings_id(path);
}

void cuprobe_process_publish(void)
{
	static struct {
		__u32 driver, runtime, clock, published;
	} last;
	__u32 driver = atomic_load_explicit(&driver_version, memory_order_relaxed);
	__u32 runtime = atomic_load_explicit(&runtime_version, memory_order_relaxed);
	__u32 clock = cuprobe_session_clock(); /* 0 until CUPTI is loaded */
	struct cuprobe_info info = {.type = CUPROBE_INFO_PROCESS};

	if (last.published && driver == last.driver && runtime == last.runtime &&
	    clock == last.clock)
		return;
	info.process = (struct cuprobe_info_process){
		.abi_version = CUPROBE_ABI_VERSION,
		.pid = (__u32)getpid(),
		.cupti_version = clock ? cuprobe_cupti_version : 0,
		.driver_version = driver,
		.runtime_version = runtime,
		.clock = clock,
		.executable = executable_id(),
		.cupti_path = clock ? cuprobe_strings_id(cuprobe_cupti_path()) : 0,
		.library_version = cuprobe_strings_id(CUPROBE_VERSION),
		.rank = cuprobe_env.rank,
		.world_size = cuprobe_env.world_size,
	};
	cuprobe_info_put(&info);
	last.driver = driver;
	last.runtime = runtime;
	last.clock = clock;
	last.published = 1;
}

/* The state letter of the main thread, which /proc/self/stat is about; 0 not known. */
static char main_state(void)
{
	char stat[512];
	const char *end;
	ssize_t bytes;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	bytes = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (bytes <= 0)
		return 0;
	stat[bytes] = 0;
	end = strrchr(stat, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

static __u32 thread_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	__u32 count = 0;

	if (!tasks)
		return ~0u;
	for (struct dirent *task = readdir(tasks); task; task = readdir(tasks))
		count += task->d_name[0] != '.';
	closedir(tasks);
	return count;
}

bool cuprobe_process_is_over(__u32 helpers)
{
	return main_state() == 'Z' && thread_count() <= helpers + 1;
}
