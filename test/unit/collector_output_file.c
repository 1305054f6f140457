/* SPDX-License-Identifier: Apache-2.0 */
/* Output files: whole or not there, packed when asked, with a head that is written last. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "src/collector/output/file.h"

#define ROWS 200000 /* some MB, many buffers */
#define ROW_BYTES 17

struct place {
	char dir[32], path[64], packed[64];
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/output.XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/out", p->dir);
	snprintf(p->packed, sizeof(p->packed), "%s/out.gz", p->dir);
	*state = p;
	return 0;
}

static unsigned int files_in(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned int n = 0;

	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static int teardown(void **state)
{
	struct place *p = *state;

	unlink(p->path);
	unlink(p->packed);
	assert_int_equal(files_in(p->dir), 0);
	assert_int_equal(rmdir(p->dir), 0);
	free(p);
	return 0;
}

static struct output *open_output(const char *path, size_t head_bytes)
{
	struct output *o = NULL;

	assert_int_equal(output_open(&o, path, head_bytes), 0);
	return o;
}

static void put_rows(struct output *o)
{
	for (int i = 0; i < ROWS; i++) {
		char *p = output_room(o, ROW_BYTES + 1);

		output_done(o, p + snprintf(p, ROW_BYTES + 1, "row %012d\n", i));
	}
}

/* gzopen reads plain files as they are. */
static void has_rows(const char *path, const char *head)
{
	char line[64], expected[64];
	gzFile f = gzopen(path, "r");

	assert_non_null(f);
	if (head)
		assert_string_equal(gzgets(f, line, sizeof(line)), head);
	for (int i = 0; i < ROWS; i++) {
		snprintf(expected, sizeof(expected), "row %012d\n", i);
		assert_string_equal(gzgets(f, line, sizeof(line)), expected);
	}
	assert_null(gzgets(f, line, sizeof(line)));
	assert_int_equal(gzclose(f), Z_OK); /* the checksum was right */
}

static void is_seen_only_when_it_is_whole(void **state)
{
	struct place *p = *state;
	struct output *o = open_output(p->path, 0);

	put_rows(o);
	assert_int_equal(access(p->path, F_OK), -1);
	assert_int_equal(output_close(o, true), 0);
	has_rows(p->path, NULL);
	assert_int_equal(files_in(p->dir), 1);
}

static void leaves_nothing_without_commit(void **state)
{
	struct place *p = *state;
	struct output *o = open_output(p->path, 0);

	put_rows(o);
	assert_int_equal(output_close(o, false), 0);
	assert_int_equal(files_in(p->dir), 0);
}

static void keeps_the_old_file_when_writing_fails(void **state)
{
	struct place *p = *state;
	struct rlimit old, small;
	struct output *o = open_output(p->path, 0);
	struct stat st;

	output_put(o, "old\n", 4);
	assert_int_equal(output_close(o, true), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 500000;
	setrlimit(RLIMIT_FSIZE, &small);
	o = open_output(p->path, 0);
	put_rows(o);
	assert_int_equal(o->err, -EFBIG);
	assert_int_equal(output_close(o, true), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(files_in(p->dir), 1);
}

static void writes_the_head_last(void **state)
{
	struct place *p = *state;
	struct output *o = open_output(p->path, 32);

	assert_true(output_has_head(o));
	put_rows(o);
	output_head(o, "head", 4);
	assert_int_equal(output_close(o, true), 0);
	has_rows(p->path, "head                           \n");
}

static void packs_with_and_without_a_head(void **state)
{
	struct place *p = *state;
	struct output *o = open_output(p->packed, 32);
	struct stat st;

	put_rows(o);
	output_head(o, "head", 4);
	assert_int_equal(output_close(o, true), 0);
	has_rows(p->packed, "head                           \n");
	assert_int_equal(stat(p->packed, &st), 0);
	assert_true(st.st_size < ROWS * ROW_BYTES / 3);
	o = open_output(p->packed, 0);
	put_rows(o);
	assert_int_equal(output_close(o, true), 0);
	has_rows(p->packed, NULL);
}

static void replaces_what_a_link_names(void **state)
{
	struct place *p = *state;
	struct output *o;
	struct stat st;

	assert_int_equal(symlink("out.gz", p->path), 0);
	o = open_output(p->packed, 0);
	assert_int_equal(output_close(o, true), 0);
	o = open_output(p->path, 0);
	put_rows(o);
	assert_int_equal(output_close(o, true), 0);
	assert_int_equal(lstat(p->path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	has_rows(p->packed, NULL);
}

static void writes_to_devices_in_place(void **state)
{
	struct output *o = open_output("/dev/null", 32);
	struct stat st;

	(void)state;
	assert_false(output_has_head(o));
	put_rows(o);
	assert_int_equal(output_close(o, true), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	o = open_output("/dev/full", 0);
	put_rows(o);
	assert_int_equal(output_close(o, true), -ENOSPC);
}

static void refuses_what_cannot_be_written(void **state)
{
	struct place *p = *state;
	struct output *o;

	assert_int_equal(output_open(&o, p->dir, 0), -EISDIR);
	assert_int_equal(output_open(&o, "/nowhere/at/all", 0), -ENOENT);
	assert_int_equal(output_close(NULL, true), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_seen_only_when_it_is_whole),
		TEST(leaves_nothing_without_commit),
		TEST(keeps_the_old_file_when_writing_fails),
		TEST(writes_the_head_last),
		TEST(packs_with_and_without_a_head),
		TEST(replaces_what_a_link_names),
		TEST(writes_to_devices_in_place),
		TEST(refuses_what_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
