/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/child.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SHELL(text) ((char *const[]){(char[]){"sh"}, (char[]){"-c"}, (char[]){text}, NULL})

static char why[256];

static int fork_only(struct child *ret, char *const *argv)
{
	const struct child_opts opts = {.argv = argv, .library = "", .as_root = true};

	return child_fork(ret, &opts, why, sizeof(why));
}

/* Runs the command to its end. */
static int status_of(char *const *argv, bool as_root)
{
	const struct child_opts opts = {.argv = argv,
					.library = "/lib/ours.so",
					.direct = "/run/direct",
					.as_root = as_root,
					.native_stacks = true};
	struct child c;
	int status;

	assert_int_equal(child_fork(&c, &opts, why, sizeof(why)), 0);
	assert_int_equal(child_go(&c), 0);
	assert_int_equal(poll(&(struct pollfd){.fd = c.pidfd, .events = POLLIN}, 1, 10000), 1);
	child_reap(&c);
	assert_true(c.ended);
	status = c.status;
	child_done(&c);
	return status;
}

static void passes_the_exit_status_on(void **state)
{
	(void)state;
	assert_int_equal(status_of(SHELL("exit 0"), true), 0);
	assert_int_equal(status_of(SHELL("exit 42"), true), 42);
	assert_int_equal(status_of(SHELL("kill -TERM $$"), true), 128 + SIGTERM);
}

static void sets_the_variables_of_the_library(void **state)
{
	(void)state;
	unsetenv("NVTX_INJECTION64_PATH");
	assert_int_equal(status_of(SHELL("[ $CUDA_INJECTION64_PATH = /lib/ours.so ] && "
					 "[ $NVTX_INJECTION64_PATH = /lib/ours.so ] && "
					 "[ $CUPROBE_DIRECT = /run/direct ] && "
					 "[ $CUPROBE_NATIVE_STACKS = 1 ]"),
				   true),
			 0);
}

static void leaves_another_nvtx_tool_alone(void **state)
{
	(void)state;
	setenv("NVTX_INJECTION64_PATH", "/opt/other.so", 1);
	assert_int_equal(status_of(SHELL("[ $NVTX_INJECTION64_PATH = /opt/other.so ]"), true), 0);
	unsetenv("NVTX_INJECTION64_PATH");
}

static void keeps_its_raised_limit_to_itself(void **state)
{
	struct rlimit few = {64, 4096}, now;

	(void)state;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	limits_raise();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(now.rlim_cur, 4096);
	assert_int_equal(status_of(SHELL("[ $(ulimit -n) = 64 ]"), true), 0);
}

static void refuses_what_cannot_be_run(void **state)
{
	char missing[] = "/no/such/command", unknown[] = "no-such-command", directory[] = "/tmp";
	struct child c;

	(void)state;
	assert_int_equal(fork_only(&c, (char *[]){missing, NULL}), -ENOENT);
	assert_non_null(strstr(why, missing));
	assert_int_equal(fork_only(&c, (char *[]){unknown, NULL}), -ENOENT);
	assert_int_equal(fork_only(&c, (char *[]){directory, NULL}), -EACCES);
}

static void tells_what_exec_failed_with(void **state)
{
	char path[] = "/tmp/cuprobe-exec-XXXXXX";
	int fd = mkstemp(path);
	struct child c;

	(void)state;
	/* runs nothing: an interpreter that is not there */
	assert_int_equal(write(fd, "#!/no/interpreter\n", 18), 18);
	fchmod(fd, 0755);
	close(fd);
	assert_int_equal(fork_only(&c, (char *[]){path, NULL}), 0);
	assert_int_equal(child_go(&c), -ENOENT);
	child_done(&c);
	unlink(path);
}

static void runs_nothing_before_it_may(void **state)
{
	char path[] = "/tmp/cuprobe-child-XXXXXX", text[64];
	struct child c;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(text, sizeof(text), "touch %s/ran", path);
	assert_int_equal(fork_only(&c, (char *[]){(char[]){"sh"}, (char[]){"-c"}, text, NULL}), 0);
	child_done(&c);
	assert_int_equal(rmdir(path), 0);
}

static void steps_down_to_the_user_of_sudo(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	setenv("HOME", "/root", 1);
	assert_int_equal(status_of(SHELL("[ $(id -u):$(id -g):$(id -G) = 65534:65534:65534 ] && "
					 "[ $HOME != /root ] && [ $USER = $(id -un) ] && "
					 "[ $LOGNAME = $USER ]"),
				   false),
			 0);
	assert_int_equal(status_of(SHELL("[ $(id -u) = 0 ]"), true), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_the_exit_status_on),
		cmocka_unit_test(sets_the_variables_of_the_library),
		cmocka_unit_test(leaves_another_nvtx_tool_alone),
		cmocka_unit_test(keeps_its_raised_limit_to_itself),
		cmocka_unit_test(refuses_what_cannot_be_run),
		cmocka_unit_test(tells_what_exec_failed_with),
		cmocka_unit_test(runs_nothing_before_it_may),
		cmocka_unit_test(steps_down_to_the_user_of_sudo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
