/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/outlet_fake.h"

#include <stdio.h>

#include "src/inject/batch.h"
#include "src/inject/strings.h"

static void assert_defined(__u32 id, size_t from, const char *expected)
{
	char *text;

	cuprobe_batch_fire(CUPROBE_PROBE_string);
	text = fake_text(id, from);
	assert_string_equal(text, expected);
	free(text);
}

static void gives_no_id_to_no_text(void **state)
{
	(void)state;
	assert_int_equal(cuprobe_strings_id(NULL), 0);
	assert_int_equal(cuprobe_strings_id_shared(NULL), 0);
}

static void defines_a_text_once_and_whole(void **state)
{
	__u32 id = cuprobe_strings_id("a kernel");
	size_t count;

	(void)state;
	assert_int_not_equal(id, 0);
	assert_defined(id, 0, "a kernel");
	count = fake[CUPROBE_PROBE_string].count;
	assert_int_equal(cuprobe_strings_id("a kernel"), id);
	cuprobe_batch_fire(CUPROBE_PROBE_string);
	assert_int_equal(fake[CUPROBE_PROBE_string].count, count);
}

static void defines_the_empty_text(void **state)
{
	__u32 id = cuprobe_strings_id("");

	(void)state;
	assert_int_not_equal(id, 0);
	assert_defined(id, 0, "");
}

static void cuts_no_name_however_long(void **state)
{
	static char text[512 << 10];
	const size_t lengths[] = {1, 239, 240, 241, 480, 10 << 10, sizeof(text) - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(text, 'a' + (int)i, lengths[i]);
		text[lengths[i]] = 0;
		cuprobe_strings_period_begin();
		assert_defined(cuprobe_strings_id_shared(text), 0, text);
	}
}

static void tells_names_apart_by_their_last_byte(void **state)
{
	static char one[5000], two[5000];
	__u32 id_one, id_two;

	(void)state;
	memset(one, 'n', sizeof(one) - 1);
	memcpy(two, one, sizeof(two));
	two[sizeof(two) - 2] = 'm';
	id_one = cuprobe_strings_id_shared(one);
	id_two = cuprobe_strings_id_shared(two);
	assert_int_not_equal(id_one, id_two);
	assert_defined(id_one, 0, one);
	assert_defined(id_two, 0, two);
}

static void sees_new_text_behind_an_old_pointer(void **state)
{
	char name[32] = "first module's kernel";
	__u32 first, second;

	(void)state;
	cuprobe_strings_period_begin();
	first = cuprobe_strings_id_shared(name);
	strcpy(name, "second module's kernel");
	cuprobe_strings_period_begin();
	second = cuprobe_strings_id_shared(name);
	assert_int_not_equal(first, second);
	assert_defined(second, 0, "second module's kernel");
	strcpy(name, "first module's kernel");
	cuprobe_strings_period_begin();
	assert_int_equal(cuprobe_strings_id_shared(name), first);
}

static void keeps_ids_apart_when_it_grows(void **state)
{
	enum { COUNT = 50000 };
	static __u32 ids[COUNT];
	char text[64];

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "kernel_%d<float, %d>", i, i * 7);
		ids[i] = cuprobe_strings_id(text);
		assert_int_not_equal(ids[i], 0);
	}
	for (int i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "kernel_%d<float, %d>", i, i * 7);
		assert_int_equal(cuprobe_strings_id(text), ids[i]);
	}
}

static void replays_everything_in_bounded_steps(void **state)
{
	__u32 id = cuprobe_strings_id("defined long ago");
	size_t before;

	(void)state;
	cuprobe_batch_fire(CUPROBE_PROBE_string);
	before = fake[CUPROBE_PROBE_string].count;
	cuprobe_strings_replay_begin();
	while (cuprobe_strings_replay(100)) {
		size_t made = fake[CUPROBE_PROBE_string].count +
			      cuprobe_batch_pending(CUPROBE_PROBE_string);

		assert_in_range(made - before, 1, 1000000);
	}
	assert_defined(id, before, "defined long ago");
	assert_false(cuprobe_strings_replay(100));
	fake_ledgers_balance();
}

static void defines_nothing_while_nobody_listens(void **state)
{
	size_t before = fake[CUPROBE_PROBE_string].count;

	(void)state;
	fake[CUPROBE_PROBE_string].consumers = 0;
	assert_int_not_equal(cuprobe_strings_id("nobody hears this"), 0);
	assert_int_equal(cuprobe_batch_pending(CUPROBE_PROBE_string), 0);
	fake[CUPROBE_PROBE_string].consumers = 1;
	cuprobe_batch_fire(CUPROBE_PROBE_string);
	assert_int_equal(fake[CUPROBE_PROBE_string].count, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_no_id_to_no_text),
		cmocka_unit_test(defines_a_text_once_and_whole),
		cmocka_unit_test(defines_the_empty_text),
		cmocka_unit_test(cuts_no_name_however_long),
		cmocka_unit_test(tells_names_apart_by_their_last_byte),
		cmocka_unit_test(sees_new_text_behind_an_old_pointer),
		cmocka_unit_test(keeps_ids_apart_when_it_grows),
		cmocka_unit_test(replays_everything_in_bounded_steps),
		cmocka_unit_test(defines_nothing_while_nobody_listens),
	};

	fake_attach(CUPROBE_PROBE_string);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
