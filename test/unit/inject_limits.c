/* SPDX-License-Identifier: Apache-2.0 */
/* What the library cannot have it does not eat up little by little: RLIMIT_AS is the program's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/inject/cupti_buffers.h"
#include "src/inject/env.h"
#include "src/inject/nvtx_buffer.h"
#include "src/inject/stacks.h"

#define STEP ((size_t)4 << 20)
#define MOST ((size_t)512 << 20)

static size_t address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* With ever more room until it succeeds; what fails leaves nothing behind. */
static void fails_without_a_trace(int (*init)(void))
{
	struct rlimit before, limit;
	int err = -1;

	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	(void)address_space(); /* what the first call takes for itself */
	for (size_t room = STEP; err && room <= MOST; room += STEP) {
		size_t had = address_space();

		limit = (struct rlimit){had + room, before.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
		err = init();
		assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
		if (err)
			assert_int_equal(address_space(), had);
	}
	assert_int_equal(err, 0);
}

static void the_room_for_nvtx_is_whole_or_none(void **state)
{
	(void)state;
	fails_without_a_trace(cuprobe_nvtx_buffer_init);
}

static void the_room_for_stacks_is_whole_or_none(void **state)
{
	(void)state;
	fails_without_a_trace(cuprobe_stacks_init);
}

static void the_room_for_records_is_whole_or_none(void **state)
{
	(void)state;
	fails_without_a_trace(cuprobe_buffers_begin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_room_for_nvtx_is_whole_or_none),
		cmocka_unit_test(the_room_for_stacks_is_whole_or_none),
		cmocka_unit_test(the_room_for_records_is_whole_or_none),
	};

	cuprobe_env_read(NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
