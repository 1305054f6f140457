/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/outlet_fake.h"

#include "src/inject/batch.h"
#include "src/inject/texts.h"

static struct cuprobe_texts table;

static int table_make(void **state)
{
	(void)state;
	table = (struct cuprobe_texts){.lowest_id = UINT32_MAX - 9,
				       .first_id = UINT32_MAX - 9,
				       .most = 4,
				       .most_bytes = 64};
	return 0;
}

static __u32 id_of(const char *text)
{
	return cuprobe_texts_id(&table, text, strlen(text));
}

static void assert_found(__u32 id, const char *text)
{
	size_t bytes;
	const char *found = cuprobe_texts_find(&table, id, &bytes);

	assert_non_null(found);
	assert_int_equal(bytes, strlen(text));
	assert_memory_equal(found, text, bytes + 1);
}

static void gives_each_text_an_id(void **state)
{
	__u32 one = id_of("one"), none = id_of(""), part = cuprobe_texts_id(&table, "one more", 3);
	size_t bytes;

	(void)state;
	assert_int_equal(one, UINT32_MAX - 9);
	assert_int_equal(none, one + 1);
	assert_int_equal(part, one);
	assert_found(one, "one");
	assert_found(none, "");
	assert_null(cuprobe_texts_find(&table, none + 1, &bytes));
	assert_null(cuprobe_texts_find(&table, one - 1, &bytes));
}

static void takes_no_more_than_it_may(void **state)
{
	static const char text[62];

	(void)state;
	assert_int_not_equal(id_of("a"), 0);
	assert_int_equal(cuprobe_texts_id(&table, text, sizeof(text)), 0);
	assert_int_not_equal(cuprobe_texts_id(&table, text, sizeof(text) - 1), 0);
	cuprobe_texts_clear(&table);
	for (const char *c = "abcd"; *c; c++)
		assert_int_not_equal(cuprobe_texts_id(&table, c, 1), 0);
	assert_int_equal(id_of("e"), 0);
	assert_int_not_equal(id_of("d"), 0);
}

static void begins_again_where_no_ids_are_left(void **state)
{
	__u32 first = id_of("a"), ids[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		cuprobe_texts_clear(&table);
		ids[i] = id_of("a");
		assert_int_equal(id_of("b"), ids[i] + 1);
		assert_found(ids[i], "a");
	}
	assert_int_equal(ids[0], first + 1);
	assert_int_equal(ids[1], first + 3);
	assert_int_equal(ids[2], first + 5);
	assert_int_equal(ids[3], first);
}

static void defines_long_texts_in_pieces(void **state)
{
	static char text[1000];
	__u32 id;
	char *defined;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	table.most_bytes = sizeof(text);
	id = id_of(text);
	cuprobe_texts_define(&table, id);
	cuprobe_batch_fire(CUPROBE_PROBE_string);
	defined = fake_text(id, 0);
	assert_string_equal(defined, text);
	free(defined);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(gives_each_text_an_id, table_make),
		cmocka_unit_test_setup(takes_no_more_than_it_may, table_make),
		cmocka_unit_test_setup(begins_again_where_no_ids_are_left, table_make),
		cmocka_unit_test_setup(defines_long_texts_in_pieces, table_make),
	};

	fake_attach(CUPROBE_PROBE_string);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
