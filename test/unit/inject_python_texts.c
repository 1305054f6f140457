/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_texts.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/inject/python_lines.h"

#define THREADS 2
#define SHARED 2000 /* texts that all threads add */

static __u32 add(const char *text)
{
	return cuprobe_python_text(text, strlen(text), 1);
}

static void gives_equal_texts_one_number(void **state)
{
	__u32 a = add("forward"), b = add("backward");

	(void)state;
	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	assert_int_equal(add("forward"), a);
	assert_string_equal(cuprobe_python_text_get(a), "forward");
	assert_string_equal(cuprobe_python_text_get(b), "backward");
	assert_string_equal(cuprobe_python_text_get(add("")), "");
	assert_string_equal(cuprobe_python_text_get(0), "");
}

static void writes_utf8_of_all_widths(void **state)
{
	static const __u8 latin[] = {'d', 0xe9, 'j', 0xe0};
	static const __u16 two[] = {0x6587, 'x', 0x3b1};
	static const __u32 four[] = {0x1f40d, 0x10ffff, 0x800};
	static const __u16 bytes[] = {'/', 0xdcff, 0xdc80};
	__u32 wide = cuprobe_python_text(latin, 4, 1);

	(void)state;
	assert_string_equal(cuprobe_python_text_get(wide), "d\u00e9j\u00e0");
	assert_int_equal(add("d\u00e9j\u00e0") == wide, 0); /* those bytes are another text */
	assert_string_equal(cuprobe_python_text_get(cuprobe_python_text(two, 3, 2)),
			    "\u6587x\u03b1");
	assert_string_equal(cuprobe_python_text_get(cuprobe_python_text(four, 3, 4)),
			    "\U0001f40d\U0010ffff\u0800");
	assert_string_equal(cuprobe_python_text_get(cuprobe_python_text(bytes, 3, 2)), "/\xff\x80");
	assert_int_equal(cuprobe_python_text(u"same", 4, 2), cuprobe_python_text(U"same", 4, 4));
}

static __u32 numbers[THREADS][SHARED];
static atomic_int waiting[SHARED]; /* spun on, so that all go on at the same time */

static void *texts_add(void *arg)
{
	__u32 *mine = arg;
	char text[32];

	for (int i = 0; i < SHARED; i++) {
		snprintf(text, sizeof(text), "function %d", i);
		atomic_fetch_add(&waiting[i], 1);
		while (atomic_load(&waiting[i]) < THREADS)
			;
		mine[i] = add(text);
	}
	return NULL;
}

static void agrees_with_other_threads(void **state)
{
	pthread_t threads[THREADS];
	char text[32];

	(void)state;
	for (int t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, texts_add, numbers[t]), 0);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int i = 0; i < SHARED; i++) {
		snprintf(text, sizeof(text), "function %d", i);
		assert_string_equal(cuprobe_python_text_get(numbers[0][i]), text);
		for (int t = 1; t < THREADS; t++)
			assert_int_equal(numbers[t][i], numbers[0][i]);
	}
}

static void counts_what_finds_no_room(void **state)
{
	static char big[PYTHON_TEXT_LONGEST + 2];
	__u32 known = add("known"), last = 0;
	char text[32];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	assert_int_equal(cuprobe_python_texts_lost(), 0);
	assert_int_equal(add(big), 0);
	assert_int_equal(cuprobe_python_texts_lost(), 1);
	for (__u32 i = 0; i <= PYTHON_TEXTS; i++) {
		snprintf(text, sizeof(text), "%u", i);
		last = add(text);
	}
	assert_int_equal(last, 0);
	assert_true(cuprobe_python_texts_lost() > 1);
	assert_int_equal(add("known"), known);
	assert_string_equal(cuprobe_python_text_get(known), "known");
}

/* The line at each unit of code, as `expected`. */
static void assert_lines(enum python_lines kind, const __u8 *table, size_t bytes,
			 const __u32 *expected, size_t units)
{
	for (size_t i = 0; i < units; i++)
		assert_int_equal(cuprobe_python_line(kind, table, bytes, 10, 2 * (__s64)i),
				 expected[i]);
}

static void reads_the_lines_of_3_9(void **state)
{
	static const __u8 table[] = {0, 2, 4, 1, 2, 127, 0, 3, 4, 0xfe};
	static const __u32 lines[] = {12, 12, 13, 143, 143, 141, 141};

	(void)state;
	assert_lines(PYTHON_LNOTAB, table, sizeof(table), lines, 7);
	assert_int_equal(cuprobe_python_line(PYTHON_LNOTAB, table, 0, 10, 8), 10);
}

static void reads_the_lines_of_3_10(void **state)
{
	static const __u8 table[] = {2, 0, 2, 0x80, 0, 5, 4, 0xff, 2, 2};
	static const __u32 lines[] = {10, 0, 14, 14, 16, 0};

	(void)state;
	assert_lines(PYTHON_LINE_TABLE, table, sizeof(table), lines, 6);
}

#define ENTRY(kind, units) (0x80 | (kind) << 3 | ((units)-1))

static void reads_the_lines_of_3_11(void **state)
{
	static const __u8 table[] = {
		ENTRY(15, 1),			  /* no place */
		ENTRY(14, 1), 64 | 6, 1, 0, 1, 1, /* 64 + 6 as a signed number: 35 on */
		ENTRY(0, 2),  17,		  /* the same line */
		ENTRY(11, 1), 1,      2,	  /* the next */
		ENTRY(12, 1), 1,      2,	  /* two on */
		ENTRY(13, 1), 9,		  /* four back */
		ENTRY(10, 8), 1,      2,
	};
	static const __u32 lines[] = {0, 45, 45, 45, 46, 48, 44, 44, 44, 44, 44, 44, 44, 44, 44, 0};

	(void)state;
	assert_lines(PYTHON_LOCATIONS, table, sizeof(table), lines, 15);
	assert_int_equal(cuprobe_python_line(PYTHON_LOCATIONS, table, sizeof(table), 10, 30), 0);
}

/* A table that ends anywhere, with anything in it, is read to its end and no further. */
static void stays_inside_a_damaged_table(void **state)
{
	__u8 table[64];
	__u32 seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t bytes = (size_t)(round % 65);
		__u8 *copy = test_malloc(bytes ? bytes : 1); /* ends where cmocka guards */

		for (size_t i = 0; i < bytes; i++)
			table[i] = (__u8)((seed = seed * 1664525 + 1013904223) >> 24);
		memcpy(copy, table, bytes);
		for (int kind = PYTHON_LNOTAB; kind <= PYTHON_LOCATIONS; kind++)
			cuprobe_python_line((enum python_lines)kind, copy, bytes, 10, 100);
		test_free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_equal_texts_one_number),
		cmocka_unit_test(writes_utf8_of_all_widths),
		cmocka_unit_test(agrees_with_other_threads),
		cmocka_unit_test(reads_the_lines_of_3_9),
		cmocka_unit_test(reads_the_lines_of_3_10),
		cmocka_unit_test(reads_the_lines_of_3_11),
		cmocka_unit_test(stays_inside_a_damaged_table),
		cmocka_unit_test(counts_what_finds_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
