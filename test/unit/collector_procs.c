/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MARK "here (deleted) is not the end"

struct found {
	const char *path;
	unsigned int count;
	struct proc_mapping mapping;
};

static int find(void *arg, const struct proc_mapping *m)
{
	struct found *f = arg;

	if (strcmp(m->path, f->path))
		return 0;
	f->count++;
	f->mapping = *m;
	return 0;
}

/* A file with a hard name, mapped once. */
static void map_file(char path[64], void **ret_map)
{
	int fd;

	strcpy(path, "/tmp/" MARK "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8192), 0);
	*ret_map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 4096);
	assert_true(*ret_map != MAP_FAILED);
	close(fd);
}

static void finds_a_mapped_file(void **state)
{
	struct found found = {0};
	char path[64];
	void *map;

	(void)state;
	map_file(path, &map);
	found.path = path;
	assert_int_equal(proc_each_mapping(getpid(), find, &found), 0);
	assert_int_equal(found.count, 1);
	assert_true(found.mapping.writable);
	assert_false(found.mapping.deleted);
	assert_int_equal(found.mapping.offset, 4096);
	assert_int_equal(found.mapping.start, (uintptr_t)map);
	munmap(map, 4096);
	unlink(path);
}

static void opens_a_deleted_file(void **state)
{
	struct found found = {0};
	struct file_key before, after;
	char path[64];
	void *map;
	int fd;

	(void)state;
	if (geteuid())
		skip();
	map_file(path, &map);
	fd = open(path, O_RDONLY);
	assert_int_equal(file_key_of(&before, fd), 0);
	close(fd);
	unlink(path);
	found.path = path;
	assert_int_equal(proc_each_mapping(getpid(), find, &found), 0);
	assert_true(found.mapping.deleted);
	fd = proc_open_mapping(getpid(), &found.mapping);
	assert_true(fd >= 0);
	assert_int_equal(file_key_of(&after, fd), 0);
	assert_true(file_key_equal(&before, &after));
	close(fd);
	munmap(map, 4096);
}

static void knows_who_is_gone(void **state)
{
	pid_t pid = fork();
	siginfo_t info;

	(void)state;
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	assert_int_equal(proc_thread(pid), -ESRCH);
	waitpid(pid, NULL, 0);
	assert_int_equal(proc_thread(pid), -ESRCH);
	assert_int_equal(proc_each_mapping(pid, find, NULL), -ESRCH);
	assert_int_equal(proc_thread(getpid()), getpid());
}

static void reads_the_environment(void **state)
{
	char value[8];

	(void)state;
	assert_int_equal(proc_environment(getpid(), "PROCS_TES", value, 8), -ENOENT);
	assert_int_equal(proc_environment(getpid(), "PROCS_TEST", value, 8), 0);
	assert_string_equal(value, "a=b");
}

static void knows_the_libraries_by_name(void **state)
{
	(void)state;
	assert_true(library_named("/usr/lib/libcuprobe.so"));
	assert_true(library_named("/x/libcuprobe.so.0.1.0"));
	assert_false(library_named("/libcuprobe.so/other.so"));
	assert_false(library_named("/x/libcuprobe.a"));
	assert_true(cuda_driver_named("/x/libcuda.so.580.1"));
	assert_false(cuda_driver_named("/x/libcudart.so.12"));
	assert_true(cuda_runtime_named("/x/libcudart-fa12.so.11.0"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_mapped_file),
		cmocka_unit_test(opens_a_deleted_file),
		cmocka_unit_test(knows_who_is_gone),
		cmocka_unit_test(reads_the_environment),
		cmocka_unit_test(knows_the_libraries_by_name),
	};

	(void)argc;
	/* /proc shows the environment that a program was started with. */
	if (!getenv("PROCS_TEST")) {
		setenv("PROCS_TEST", "a=b", 1);
		execv("/proc/self/exe", argv);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
