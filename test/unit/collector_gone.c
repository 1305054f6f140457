/* SPDX-License-Identifier: Apache-2.0 */
/* What only the other recording has is told by name, largest first, and counted once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/gone.h"
#include "src/collector/labels.h"
#include "src/collector/tree.h"

struct world {
	struct labels labels;
	struct tree tree;
};

/* A stack of one letter a frame. */
static void add(struct world *w, const char *stack, __u64 gpu_ns, __u64 other_ns)
{
	const struct tree_weight weight = {.gpu_ns = gpu_ns, .other_ns = other_ns};
	const struct label *path[8];
	unsigned int count = 0;

	for (; stack[count]; count++) {
		const char text[] = {stack[count], '\0'};

		assert_int_equal(labels_get(&w->labels, LABEL_NATIVE, text, NULL, &path[count]), 0);
	}
	assert_int_equal(tree_add(&w->tree, path, count, &weight), 0);
}

static void assert_gone(struct world *w, const char *expected)
{
	char *text = gone_describe(&w->tree, "x.cup");

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	tree_free(&w->tree);
	labels_free(&w->labels);
}

static void what_is_in_both_is_not_gone(void **state)
{
	struct world w = {0};

	(void)state;
	add(&w, "ab", 5, 0);
	add(&w, "ab", 0, 7);
	add(&w, "ac", 3, 0);
	assert_gone(&w, "");
}

static void a_frame_is_gone_with_all_under_it(void **state)
{
	struct world w = {0};

	(void)state;
	add(&w, "a", 1, 0);
	add(&w, "abc", 0, 5);
	add(&w, "abd", 0, 6);
	assert_gone(&w, "11 ns only in x.cup, not drawn: b 11 ns");
}

static void frames_of_one_name_are_told_together(void **state)
{
	struct world w = {0};

	(void)state;
	add(&w, "a", 1, 0);
	add(&w, "b", 1, 0);
	add(&w, "ak", 0, 20);
	add(&w, "bl", 0, 30);
	add(&w, "bk", 0, 20);
	assert_gone(&w, "70 ns only in x.cup, not drawn: k 40 ns, l 30 ns");
}

static void only_the_largest_have_names(void **state)
{
	struct world w = {0};

	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		add(&w, (const char[]){(char)('a' + i), '\0'}, 0, 10 + i);
	assert_gone(&w, "60 ns only in x.cup, not drawn: e 14 ns, d 13 ns, c 12 ns, "
			"2 more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_in_both_is_not_gone),
		cmocka_unit_test(a_frame_is_gone_with_all_under_it),
		cmocka_unit_test(frames_of_one_name_are_told_together),
		cmocka_unit_test(only_the_largest_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
