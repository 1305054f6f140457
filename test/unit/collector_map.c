/* SPDX-License-Identifier: Apache-2.0 */
/* What was put into a map is found there, also among others of the same hash, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/map.h"

static void finds_each_of_many(void **state)
{
	static char values[10000];
	struct map m = {0};

	(void)state;
	assert_null(map_find(&m, 0));
	for (__u64 i = 0; i < sizeof(values); i++)
		assert_int_equal(map_insert(&m, i * i, &values[i]), 0);
	assert_int_equal(m.count, sizeof(values));
	for (__u64 i = 0; i < sizeof(values); i++)
		assert_ptr_equal(map_find(&m, i * i), &values[i]);
	assert_null(map_find(&m, 3));
	map_clear(&m, NULL);
	assert_null(map_find(&m, 0));
}

static bool text_is(const void *text, const void *wanted)
{
	return !strcmp(text, wanted);
}

static void tells_values_of_one_hash_apart(void **state)
{
	static char *const texts[] = {(char *)"a", (char *)"b", (char *)"c"};
	struct map m = {0};
	__u64 key;

	(void)state;
	assert_int_equal(map_insert(&m, 8, (char *)"in the way"), 0);
	for (int i = 0; i < 3; i++) {
		key = 7;
		assert_null(map_search(&m, &key, text_is, texts[i]));
		assert_int_equal(map_insert(&m, key, texts[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		key = 7;
		assert_ptr_equal(map_search(&m, &key, text_is, texts[i]), texts[i]);
	}
	key = 7;
	assert_null(map_search(&m, &key, text_is, "d"));
	map_clear(&m, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_of_many),
		cmocka_unit_test(tells_values_of_one_hash_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
