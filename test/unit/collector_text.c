/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and strings as text, for outputs that are read by programs. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/output/text.h"

static void is(char *end, const char *text, const char *expected)
{
	assert_int_equal(end - text, strlen(expected));
	assert_memory_equal(text, expected, strlen(expected));
}

static void writes_every_number_of_digits(void **state)
{
	char text[PUT_U64_BYTES + 1], expected[32];
	__u64 value = 1;

	(void)state;
	is(put_u64(text, 0), text, "0");
	for (int digits = 1; digits < 20; digits++, value *= 10) {
		for (int off = -1; off <= 1; off++) {
			snprintf(expected, sizeof(expected), "%llu", value + (__u64)(__s64)off);
			is(put_u64(text, value + (__u64)(__s64)off), text, expected);
		}
	}
	is(put_u64(text, ~0ull), text, "18446744073709551615");
	is(put_s64(text, INT64_MIN), text, "-9223372036854775808");
	is(put_s64(text, 7), text, "7");
}

static void writes_random_numbers_as_printf_does(void **state)
{
	char text[PUT_U64_BYTES + 2], expected[32];

	(void)state;
	srandom(1);
	for (int i = 0; i < 100000; i++) {
		__u64 value = ((__u64)random() << 33 | (__u64)random() << 2) >> random() % 64;

		snprintf(expected, sizeof(expected), "%llu", value);
		is(put_u64(text, value), text, expected);
		snprintf(expected, sizeof(expected), "%llu.%03llu", value / 1000, value % 1000);
		is(put_us(text, value), text, expected);
		snprintf(expected, sizeof(expected), "0x%llx", value);
		is(put_hex(text, value), text, expected);
	}
}

static void writes_ratios_without_needless_digits(void **state)
{
	char text[PUT_RATIO_BYTES];

	(void)state;
	is(put_ratio(text, 1, 3), text, "0.333333");
	is(put_ratio(text, 5, 2), text, "2.5");
	is(put_ratio(text, 132, 132), text, "1");
	is(put_ratio(text, 1, 1000000), text, "0.000001");
	is(put_ratio(text, 0, 5), text, "0");
	is(put_ratio(text, (unsigned __int128)~0ull << 30, 1), text, "18446744073709551615");
}

static void json_has_no_byte_that_a_reader_refuses(void **state)
{
	static const char bytes[] = "\"\\\n\t\x01\x7f\x00z";
	char text[256];

	(void)state;
	is(put_json(text, bytes, sizeof(bytes) - 1), text, "\\\"\\\\\\n\\t\\u0001\\u007f\\u0000z");
	is(put_json(text, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9), text,
	   "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	is(put_json(text,
		    "\xc2\x9b"
		    "31m",
		    5),
	   text, "\\u009b31m"); /* steers a terminal */
}

#define BAD "\xef\xbf\xbd"
static void bad_utf8_becomes_replacement_characters(void **state)
{
	char text[256];

	(void)state;
	is(put_json(text, "\xff", 1), text, BAD);
	is(put_json(text, "\xc0\xaf", 2), text, BAD BAD);		  /* overlong */
	is(put_json(text, "\xed\xa0\x80", 3), text, BAD BAD BAD);	  /* surrogate */
	is(put_json(text, "\xf4\x90\x80\x80", 4), text, BAD BAD BAD BAD); /* above U+10FFFF */
	is(put_json(text, "a\xe2\x82", 3), text, "a" BAD BAD);		  /* cut */
	is(put_json(text, "\xc3(", 2), text, BAD "(");
	is(put_csv(text, "a\"b,\xff\n", 6), text, "a\"\"b," BAD "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_every_number_of_digits),
		cmocka_unit_test(writes_random_numbers_as_printf_does),
		cmocka_unit_test(writes_ratios_without_needless_digits),
		cmocka_unit_test(json_has_no_byte_that_a_reader_refuses),
		cmocka_unit_test(bad_utf8_becomes_replacement_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
