/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/inject/clock.h"
#include "src/inject/guard.h"

static void lets_nobody_in_twice_and_keeps_errno(void **state)
{
	struct cuprobe_guard outer, inner;

	(void)state;
	errno = EPIPE;
	assert_true(cuprobe_guard_enter(&outer));
	assert_false(cuprobe_guard_enter(&inner));
	errno = ENOENT;
	cuprobe_guard_leave(&outer);
	assert_int_equal(errno, EPIPE);
	assert_true(cuprobe_guard_enter(&inner));
	cuprobe_guard_leave(&inner);
}

static void child_is_inert(pid_t child)
{
	struct cuprobe_guard guard;
	int status;

	if (!child)
		_exit(cuprobe_guard_alive() || cuprobe_guard_enter(&guard));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(cuprobe_guard_alive());
}

static void is_inert_in_a_forked_child(void **state)
{
	(void)state;
	child_is_inert(fork());
}

static void is_inert_in_a_child_that_no_handler_sees(void **state)
{
	(void)state;
	child_is_inert((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static bool clock_an_hour_ahead(__u64 *ret_ns)
{
	*ret_ns = cuprobe_clock_now() + 3600000000000;
	return true;
}

static bool clock_that_fails(__u64 *ret_ns)
{
	(void)ret_ns;
	return false;
}

static void measures_the_offset_of_a_foreign_clock(void **state)
{
	(void)state;
	cuprobe_clock_calibrate(clock_an_hour_ahead);
	assert_in_range(-cuprobe_clock_offset_ns, 3600000000000 - 50000000,
			3600000000000 + 50000000);
	cuprobe_clock_calibrate(clock_that_fails);
	assert_in_range(-cuprobe_clock_offset_ns, 3600000000000 - 50000000,
			3600000000000 + 50000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lets_nobody_in_twice_and_keeps_errno),
		cmocka_unit_test(is_inert_in_a_forked_child),
		cmocka_unit_test(is_inert_in_a_child_that_no_handler_sees),
		cmocka_unit_test(measures_the_offset_of_a_foreign_clock),
	};

	cuprobe_guard_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
