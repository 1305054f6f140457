/* SPDX-License-Identifier: Apache-2.0 */
/* The log never harms the program: it waits for nobody, brings no signal, and writes where it may.
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/inject/env.h"
#include "src/inject/log.h"

static char path[] = "/tmp/inject_log.XXXXXX";

static off_t bytes_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

/* A file that is the log. The descriptor is ours. */
static int log_to_file(void)
{
	int fd = mkstemp(strcpy(path, "/tmp/inject_log.XXXXXX"));

	assert_true(fd >= 0);
	cuprobe_env.log = path;
	cuprobe_env.log_level = CUPROBE_NOTE;
	cuprobe_log_init();
	unlink(path);
	return fd;
}

static void writes_lines(void **state)
{
	int fd = log_to_file();

	(void)state;
	cuprobe_log(CUPROBE_DEBUG, "too much");
	assert_int_equal(bytes_of(fd), 0);
	cuprobe_log(CUPROBE_NOTE, "%s", "hello");
	assert_true(bytes_of(fd) > 5);
	close(fd);
}

/* As daemons do, which close all that they do not know. */
static void leaves_files_of_the_program_alone(void **state)
{
	int fd = log_to_file(), own[8];

	(void)state;
	for (int other = fd + 1; other < fd + 8; other++)
		close(other);
	for (int i = 0; i < 8; i++)
		own[i] = open("/tmp", O_RDWR | O_TMPFILE, 0600);
	cuprobe_log(CUPROBE_NOTE, "hello");
	for (int i = 0; i < 8; i++) {
		assert_int_equal(bytes_of(own[i]), 0);
		close(own[i]);
	}
	close(fd);
}

static void heeds_the_limit_of_file_sizes(void **state)
{
	struct rlimit before, limit;
	int fd = log_to_file();

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){10, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cuprobe_log(CUPROBE_NOTE, "hello"); /* there would be a signal */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(bytes_of(fd), 0);
	close(fd);
}

static void waits_for_no_reader_of_a_fifo(void **state)
{
	(void)state;
	close(mkstemp(strcpy(path, "/tmp/inject_log.XXXXXX")));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	cuprobe_env.log = path;
	cuprobe_log_init();
	cuprobe_log(CUPROBE_NOTE, "hello");
	unlink(path);
}

static void stderr_is(int fd)
{
	cuprobe_env.log = "stderr";
	cuprobe_log_init();
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
}

static void outlives_the_reader_of_a_pipe(void **state)
{
	struct pollfd readable = {.events = POLLIN};
	int before = dup(STDERR_FILENO), pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	stderr_is(pipes[1]);
	cuprobe_log(CUPROBE_NOTE, "hello");
	readable.fd = pipes[0];
	assert_int_equal(poll(&readable, 1, 0), 1);
	assert_int_equal(fcntl(pipes[1], F_SETFL, O_NONBLOCK), 0);
	while (write(pipes[1], path, sizeof(path)) > 0)
		;
	assert_int_equal(fcntl(pipes[1], F_SETFL, 0), 0);
	cuprobe_log(CUPROBE_NOTE, "hello"); /* would wait */
	close(pipes[0]);
	cuprobe_log(CUPROBE_NOTE, "hello"); /* there would be a signal */
	dup2(before, STDERR_FILENO);
	close(before);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_lines),
		cmocka_unit_test(leaves_files_of_the_program_alone),
		cmocka_unit_test(heeds_the_limit_of_file_sizes),
		cmocka_unit_test(waits_for_no_reader_of_a_fifo),
		cmocka_unit_test(outlives_the_reader_of_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
