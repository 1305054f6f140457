/* SPDX-License-Identifier: Apache-2.0 */
/* Places in GPU code are named as the compiler wrote them down, and junk is no cubin. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/cubin.h"

static char image[64 << 10];
static size_t image_bytes;

static int image_read(void **state)
{
	FILE *file = fopen(SOURCE_DIR "/test/cubin/kernels.cubin", "rb");

	(void)state;
	if (!file)
		return -1;
	image_bytes = fread(image, 1, sizeof(image), file);
	fclose(file);
	return 0;
}

static struct cubin *cubin_of_file(void)
{
	struct cubin *c;

	assert_int_equal(cubin_open(&c, image, image_bytes), 0);
	return c;
}

static void kernels_that_all_begin_at_0_are_told_apart(void **state)
{
	struct cubin_frame gather[CUBIN_FRAMES], reduce[CUBIN_FRAMES];
	struct cubin *c = cubin_of_file();

	(void)state;
	assert_true(cubin_has_lines(c));
	assert_int_equal(cubin_frames(c, "gather", 0, gather), 1);
	assert_int_equal(cubin_frames(c, "_Z6reduceILi1024EEvPfPKfi", 0, reduce), 1);
	assert_string_equal(gather[0].function, "gather");
	assert_string_equal(reduce[0].function, "_Z6reduceILi1024EEvPfPKfi");
	assert_true(strstr(gather[0].file, "/kernels.cu") != NULL);
	assert_int_not_equal(gather[0].line, reduce[0].line);
	cubin_free(c);
}

struct search {
	const struct cubin *cubin;
	const char *innermost; /* part of the function's name */
	unsigned int deepest;
	struct cubin_frame frames[CUBIN_FRAMES];
};

static void search_function(void *arg, const char *name, __u64 bytes)
{
	struct search *s = arg;
	struct cubin_frame frames[CUBIN_FRAMES];

	for (__u64 pc = 0; pc < bytes; pc += 16) {
		unsigned int count = cubin_frames(s->cubin, name, pc, frames);

		if (count <= s->deepest || !strstr(frames[0].function, s->innermost))
			continue;
		s->deepest = count;
		memcpy(s->frames, frames, sizeof(frames));
	}
}

static void inlined_calls_are_frames(void **state)
{
	struct cubin *c = cubin_of_file();
	struct search s = {.cubin = c, .innermost = "multiply_add"};

	(void)state;
	cubin_each_function(c, search_function, &s);
	assert_int_equal(s.deepest, 3);
	assert_true(strstr(s.frames[1].function, "twice") != NULL);
	assert_string_equal(s.frames[2].function, "_Z7computePfi");
	cubin_free(c);
}

static void a_function_inside_a_kernel_has_its_own_name(void **state)
{
	struct cubin *c = cubin_of_file();
	struct search s = {.cubin = c, .innermost = "root"};

	(void)state;
	cubin_each_function(c, search_function, &s);
	assert_int_equal(s.deepest, 1);
	assert_int_equal(*s.frames[0].function, '_');
	cubin_free(c);
}

static void what_is_not_there_has_no_frames(void **state)
{
	struct cubin_frame frames[CUBIN_FRAMES];
	struct cubin *c = cubin_of_file();

	(void)state;
	assert_int_equal(cubin_frames(c, "scatter", 0, frames), 0);
	assert_int_equal(cubin_frames(c, "gather", 1 << 20, frames), 0);
	assert_int_equal(cubin_frames(c, "gather", UINT64_MAX, frames), 0);
	cubin_free(c);
}

static void junk_is_no_cubin(void **state)
{
	char junk[256] = "// PTX";
	struct cubin *c;

	(void)state;
	assert_int_equal(cubin_open(&c, junk, 0), -EBADMSG);
	assert_int_equal(cubin_open(&c, junk, sizeof(junk)), -EBADMSG);
	assert_int_equal(cubin_open(&c, image, 40), -EBADMSG);
}

static void each_pc(void *arg, const char *name, __u64 bytes)
{
	struct cubin_frame frames[CUBIN_FRAMES];

	for (__u64 pc = 0; pc < bytes && pc < 4096; pc += 16)
		cubin_frames(arg, name, pc, frames);
}

/* For the sanitizers: a capture may have been made by anybody. */
static void a_damaged_cubin_does_no_harm(void **state)
{
	char *copy = malloc(image_bytes);
	struct cubin *c;

	(void)state;
	srand(1);
	for (int round = 0; round < 300; round++) {
		size_t bytes = round % 3 ? image_bytes : (size_t)rand() % image_bytes;

		memcpy(copy, image, image_bytes);
		for (int i = 0; i < 20; i++)
			copy[(size_t)rand() % image_bytes] = (char)rand();
		if (cubin_open(&c, copy, bytes))
			continue;
		cubin_each_function(c, each_pc, c);
		cubin_free(c);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_that_all_begin_at_0_are_told_apart),
		cmocka_unit_test(inlined_calls_are_frames),
		cmocka_unit_test(a_function_inside_a_kernel_has_its_own_name),
		cmocka_unit_test(what_is_not_there_has_no_frames),
		cmocka_unit_test(junk_is_no_cubin),
		cmocka_unit_test(a_damaged_cubin_does_no_harm),
	};

	return cmocka_run_group_tests(tests, image_read, NULL);
}
