/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose main thread has left with pthread_exit() is looked at through one that lives. */
#include <elf.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuprobe/abi.h"
#include "src/collector/cubins.h"
#include "src/collector/procinfo.h"
#include "src/collector/procs.h"
#include "src/collector/symbol_job.h"

static Elf64_Ehdr cubin = {.e_ident = ELFMAG};

static void *thread_live(void *unused)
{
	pause();
	return unused;
}

static int setup(void **state)
{
	const struct timespec step = {.tv_nsec = 1000000};
	pid_t *pid = malloc(sizeof(*pid));
	pthread_t thread;

	*pid = fork();
	if (!*pid) {
		pthread_create(&thread, NULL, thread_live, NULL);
		pthread_exit(NULL);
	}
	while (proc_thread(*pid) == *pid)
		nanosleep(&step, NULL);
	*state = pid;
	return 0;
}

static int teardown(void **state)
{
	pid_t *pid = *state;

	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	free(pid);
	return 0;
}

static void is_described(void **state)
{
	const pid_t *pid = *state;
	size_t bytes;
	char *json;

	assert_true(proc_thread(*pid) > *pid);
	assert_int_equal(procinfo_read(*pid, 1, true, &json, &bytes), 0);
	assert_non_null(strstr(json, "\"executable\":\"/"));
	assert_non_null(strstr(json, "\"maps\":[{\"start\":"));
	free(json);
}

static void has_names(void **state)
{
	const __u64 pc = (__u64)(uintptr_t)thread_live + 1;
	const pid_t *pid = *state;
	struct symbol_job *job = symbol_job_new(*pid, 1, 0);
	struct symbol_cache cache = {0};

	assert_int_equal(symbol_job_add(job, &pc, 1, json_open("[]", 2)), 0);
	assert_int_equal(symbol_job_run(job, &cache), 0);
	assert_non_null(strstr(job->json, "thread_live"));
	symbol_job_free(job);
	symbol_cache_clear(&cache);
}

static void has_cubins(void **state)
{
	const struct cuprobe_module module = {
		.address = (__u64)(uintptr_t)&cubin, .crc = 1, .bytes = sizeof(cubin)};
	const pid_t *pid = *state;
	void *image;

	assert_int_equal(cubins_fetch(*pid, &module, &image), 0);
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_described, setup, teardown),
		cmocka_unit_test_setup_teardown(has_names, setup, teardown),
		cmocka_unit_test_setup_teardown(has_cubins, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
