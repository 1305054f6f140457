/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of captures is written so that any reader takes it, and read however bad it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/json.h"
#include "src/collector/model.h"
#include "src/collector/procinfo.h"

static void check_written(const char *text, size_t bytes, const char *expected)
{
	char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	assert_non_null(out);
	json_write_string(out, text, bytes);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(written, expected);
	free(written);
}

static void any_bytes_become_valid_json(void **state)
{
	(void)state;
	check_written("a\"b\\c\n\t\x01\x7f", 9, "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"");
	check_written("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 11,
		      "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
	check_written("\xff", 1, "\"\\ufffd\"");
	check_written("\xc0\x80", 2, "\"\\ufffd\\ufffd\"");	       /* overlong */
	check_written("\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""); /* surrogate */
	check_written("\xe2\x82", 2, "\"\\ufffd\\ufffd\"");	       /* cut */
	check_written("\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	check_written("a\0b", 3, "\"a\\u0000b\"");
}

static void check_string(struct json value, const char *expected)
{
	char buffer[32];

	json_string(value, buffer, sizeof(buffer));
	assert_string_equal(buffer, expected);
}

static void members_are_found_behind_others(void **state)
{
	static const char text[] =
		" { \"no\" : [1,{\"x\":\"}\"},\"]\"] , \"s\":\"a\\\"\\u00e9\\n\","
		"\"n\": 12345678901234, \"e\":{}, \"last\":\"x\"}";
	struct json object = json_open(text, sizeof(text) - 1);

	(void)state;
	check_string(json_member(object, "s"), "a\"\xc3\xa9\n");
	check_string(json_member(object, "last"), "x");
	check_string(json_member(object, "none"), "");
	check_string(json_member(object, "n"), "");
	assert_int_equal(json_number(json_member(object, "n")), 12345678901234);
	assert_int_equal(json_number(json_member(object, "s")), 0);
	assert_null(json_member(json_member(object, "e"), "x").at);
}

static void arrays_are_gone_through(void **state)
{
	static const char text[] = "[[1,2], [3,4] ,[]]";
	struct json rest = json_open(text, sizeof(text) - 1), pair, number;
	__u64 sum = 0;
	int pairs = 0;

	(void)state;
	while (json_next(&rest, &pair)) {
		pairs++;
		while (json_next(&pair, &number))
			sum = sum * 10 + json_number(number);
	}
	assert_int_equal(pairs, 3);
	assert_int_equal(sum, 1234);
}

static void long_strings_are_cut(void **state)
{
	static const char text[] = "\"0123456789012345678901234567890123456789\"";

	(void)state;
	check_string(json_open(text, sizeof(text) - 1), "0123456789012345678901234567");
}

/* Copies of exactly their size, so that a sanitizer sees a read beyond them. */
static void random_damage_does_no_harm(void **state)
{
	static const char text[] =
		"{\"pid\":70000,\"start_ns\":10,\"command\":\"a \\\"b\\\" \\u00e9\","
		"\"threads\":[[1,70000],[12,70011]],\"maps\":[{\"start\":1,\"path\":\"/x\"}]}";
	unsigned int seed = 3;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t bytes = (size_t)rand_r(&seed) % sizeof(text);
		char *copy = malloc(bytes + 1);
		struct model *m;

		assert_non_null(copy);
		assert_int_equal(model_open(&m), 0);
		memcpy(copy, text, bytes);
		copy = realloc(copy, bytes ? bytes : 1);
		for (int i = rand_r(&seed) % 3; i > 0 && bytes; i--)
			copy[(size_t)rand_r(&seed) % bytes] = (char)rand_r(&seed);
		assert_int_equal(procinfo_apply(m, copy, bytes), 0);
		model_free(m);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes_become_valid_json),
		cmocka_unit_test(members_are_found_behind_others),
		cmocka_unit_test(arrays_are_gone_through),
		cmocka_unit_test(long_strings_are_cut),
		cmocka_unit_test(random_damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
