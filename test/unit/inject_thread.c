/* SPDX-License-Identifier: Apache-2.0 */
/* The library's threads in programs that leave little room for them. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/inject/control.h"
#include "src/inject/guard.h"
#include "src/inject/thread.h"

#define SECOND 1000000000ull

/* More than the stack of a thread of the library. */
static __thread volatile char of_the_program[4 << 20] = {1};

static bool refusing;

int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*body)(void *),
		   void *arg)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	return refusing ? EAGAIN : create(ret_thread, attr, body, arg);
}

static void *touch(void *unused)
{
	volatile char room[1 << 20];

	(void)unused;
	room[0] = of_the_program[0];
	return (void *)(uintptr_t)room[0];
}

static void starts_in_a_program_with_much_thread_local_storage(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(cuprobe_thread_start(&thread, "cuprobe-test", touch), 0);
	assert_true(cuprobe_thread_join(thread, SECOND));
}

static void ends_in_a_process_that_may_have_no_more_threads(void **state)
{
	(void)state;
	refusing = true;
	cuprobe_control_start(false);
	cuprobe_control_finish(SECOND);
	refusing = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_in_a_program_with_much_thread_local_storage),
		cmocka_unit_test(ends_in_a_process_that_may_have_no_more_threads),
	};

	cuprobe_guard_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
