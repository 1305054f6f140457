/* SPDX-License-Identifier: Apache-2.0 */
/* What is written is what is read, and a file that is cut or damaged anywhere is still read. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/collector/capture.h"
#include "test/golden/synthetic.h"

static char folder[] = "/tmp/cuprobe-capture-XXXXXX";
static char path[128], partial[160];

struct batches {
	__u64 count, bytes, sum; /* sum of all bytes */
	__u64 processes, losses, cubins;
	__u32 fired; /* bits of the probes */
};

static int count_batch(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct batches *b = arg;
	const unsigned char *at = data;

	b->count++;
	b->bytes += h->bytes;
	b->fired |= 1u << h->probe;
	for (__u32 i = 0; i < h->bytes; i++)
		b->sum += at[i];
	return 0;
}

static int count_process(void *arg, const char *json, size_t bytes)
{
	struct batches *b = arg;

	b->processes += bytes == 2 && json[0] == '{';
	return 0;
}

static int count_losses(void *arg, const struct cuprobe_loss_key *k, const struct cuprobe_loss *l)
{
	struct batches *b = arg;

	b->losses += k->pid == 7 && l->records == 3;
	return 0;
}

static int count_cubin(void *arg, __u64 crc, const void *image, size_t bytes)
{
	struct batches *b = arg;

	b->cubins += crc == 0xabcd && bytes == 9 &&
		     !memcmp(image,
			     "\x7f"
			     "ELF code",
			     9);
	return 0;
}

static int to_capture(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	return capture_batch(arg, h, data);
}

static void write_demo(struct batches *expected)
{
	const struct cuprobe_loss_key key = {1, 7, 0};
	const struct cuprobe_loss loss = {1, 3, 0, 0};
	struct synthetic_target target = {count_batch, expected};
	struct session_info info;
	struct capture_writer *w;

	synthetic_demo_info(&info);
	info.end_ns = 0;
	assert_int_equal(synthetic_demo(&target), 0);
	assert_int_equal(capture_create(&w, path, &info), 0);
	target = (struct synthetic_target){to_capture, w};
	assert_int_equal(capture_process(w, "{}", 2), 0);
	assert_int_equal(synthetic_demo(&target), 0);
	assert_int_equal(capture_losses(w, &key, &loss, 1), 0);
	assert_int_equal(capture_cubin(w, 0xabcd,
				       "\x7f"
				       "ELF code",
				       9),
			 0);
	info.end_ns = info.start_ns + 5;
	assert_int_equal(capture_close(w, &info, true), 0);
}

static int read_back(const char *file, struct batches *ret, struct session_info *info)
{
	const struct capture_handler handler = {.batch = count_batch,
						.process = count_process,
						.losses = count_losses,
						.cubin = count_cubin,
						.arg = ret};
	struct capture_reader *r;
	int err = capture_open(&r, file, info);

	*ret = (struct batches){0};
	if (err)
		return err;
	err = capture_read(r, &handler, info);
	assert_int_equal(err == -ENODATA, *capture_trouble(r) != '\0');
	capture_free(r);
	return err;
}

static void what_fired_is_known_before_it_is_read(void **state)
{
	struct batches expected = {0};
	struct session_info info;
	struct capture_reader *r;
	struct stat st;

	(void)state;
	write_demo(&expected);
	assert_int_equal(capture_open(&r, path, &info), 0);
	capture_free(r);
	assert_int_equal(info.end_ns, info.start_ns + 5);
	assert_int_equal(info.fired, expected.fired);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 64), 0);
	assert_int_equal(capture_open(&r, path, &info), 0);
	capture_free(r);
	assert_int_equal(info.fired, 0);
}

static void what_did_not_fire_is_not_expected(void **state)
{
	const __u32 api = 1u << CUPROBE_PROBE_api, nvtx = 1u << CUPROBE_PROBE_nvtx;
	struct session_info info = {.probes = api | nvtx, .fired = api};

	(void)state;
	assert_false(session_info_may_have(&info, CUPROBE_PROBE_nvtx));
	assert_true(session_info_may_have(&info, CUPROBE_PROBE_api));
	info.fired = 0;
	assert_true(session_info_may_have(&info, CUPROBE_PROBE_nvtx));
	assert_false(session_info_may_have(&info, CUPROBE_PROBE_kernel));
	assert_true(session_info_may_have(NULL, CUPROBE_PROBE_nvtx));
}

static void what_is_written_is_read(void **state)
{
	struct batches expected = {0}, got;
	struct session_info info;
	struct stat st;

	(void)state;
	write_demo(&expected);
	assert_int_equal(read_back(path, &got, &info), 0);
	assert_int_equal(got.count, expected.count);
	assert_int_equal(got.bytes, expected.bytes);
	assert_int_equal(got.sum, expected.sum);
	assert_int_equal(got.processes, 1);
	assert_int_equal(got.losses, 1);
	assert_int_equal(got.cubins, 1);
	assert_string_equal(info.command, "cuprobe record -- ./train \"--x\"");
	assert_int_equal(info.end_ns, info.start_ns + 5);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(access(partial, F_OK), -1);
}

static char *load(size_t *ret_bytes)
{
	FILE *file = fopen(path, "r");
	char *data = malloc(1 << 20);

	assert_non_null(file);
	assert_non_null(data);
	*ret_bytes = fread(data, 1, 1 << 20, file);
	fclose(file);
	return data;
}

static void store(const char *data, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static void a_file_cut_anywhere_is_read_as_far_as_it_goes(void **state)
{
	struct batches expected = {0}, got;
	struct session_info info;
	size_t bytes;
	char *data;
	__u64 most = 0;

	(void)state;
	write_demo(&expected);
	data = load(&bytes);
	for (size_t cut = 0; cut < bytes; cut++) {
		int err;

		store(data, cut);
		err = read_back(path, &got, &info);
		assert_int_equal(err, cut < 64 ? -EBADMSG : -ENODATA);
		assert_true(got.count >= most && got.count <= expected.count);
		most = got.count;
	}
	assert_int_equal(most, expected.count);
	free(data);
}

static void any_flipped_bit_is_noticed_or_harmless(void **state)
{
	struct batches expected = {0}, got;
	struct session_info info;
	unsigned int noticed = 0, seed = 1;
	size_t bytes;
	char *data;

	(void)state;
	write_demo(&expected);
	data = load(&bytes);
	for (size_t at = 64; at < bytes; at++) {
		char bit = (char)(1 << rand_r(&seed) % 8);

		data[at] ^= bit;
		store(data, bytes);
		if (read_back(path, &got, &info))
			noticed++;
		else
			assert_true(got.count <= expected.count);
		data[at] ^= bit;
	}
	assert_true(noticed > (bytes - 64) * 9 / 10);
	free(data);
}

static void other_files_are_told_apart(void **state)
{
	struct batches got;
	struct session_info info;
	size_t bytes;
	char *data;

	(void)state;
	write_demo(&(struct batches){0});
	data = load(&bytes);
	data[8]++;
	store(data, bytes);
	assert_int_equal(read_back(path, &got, &info), -EPROTONOSUPPORT);
	data[0] = 'X';
	store(data, bytes);
	assert_int_equal(read_back(path, &got, &info), -EBADMSG);
	assert_int_equal(read_back(folder, &got, &info), -EISDIR);
	unlink(path);
	assert_int_equal(read_back(path, &got, &info), -ENOENT);
	free(data);
}

static void an_unfinished_recording_can_be_read(void **state)
{
	struct batches expected = {0}, got;
	struct synthetic_target target = {count_batch, &expected};
	struct session_info info;
	struct capture_writer *w;

	(void)state;
	synthetic_demo_info(&info);
	assert_int_equal(synthetic_demo(&target), 0);
	assert_int_equal(capture_create(&w, path, &info), 0);
	target = (struct synthetic_target){to_capture, w};
	assert_int_equal(synthetic_demo(&target), 0);
	for (int tries = 0; tries < 100; tries++) {
		usleep(100000); /* what is a second old is in the file */
		assert_int_equal(read_back(partial, &got, &info), -ENODATA);
		if (got.count == expected.count)
			break;
	}
	assert_int_equal(got.count, expected.count);
	assert_int_equal(got.sum, expected.sum);
	assert_int_equal(capture_close(w, &info, false), 0);
	assert_int_equal(access(partial, F_OK), -1);
}

static void a_recording_of_another_is_not_overwritten(void **state)
{
	struct session_info info;
	struct capture_writer *one, *other;

	(void)state;
	synthetic_demo_info(&info);
	assert_int_equal(capture_create(&one, path, &info), 0);
	assert_int_equal(capture_create(&other, path, &info), -EEXIST);
	assert_int_equal(access(partial, F_OK), 0);
	assert_int_equal(capture_close(one, &info, false), 0);
}

static void a_full_disk_leaves_what_was_recorded(void **state)
{
	char small[64];
	struct batches got;
	struct session_info info;
	struct capture_writer *w;
	struct synthetic_target target = {to_capture, NULL};
	int err;

	(void)state;
	snprintf(small, sizeof(small), "%s/small", folder);
	assert_int_equal(mkdir(small, 0700), 0);
	if (mount("cuprobe-test", small, "tmpfs", 0, "size=1m")) {
		rmdir(small);
		print_message("SKIP: needs root to mount a small file system\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/x.cup", small);
	synthetic_big_info(&info, 2000000);
	assert_int_equal(capture_create(&w, path, &info), 0);
	target.arg = w;
	err = synthetic_big(&target, 2000000);
	assert_true(err == 0 || err == -ENOSPC);
	assert_int_equal(capture_close(w, &info, true), -ENOSPC);
	assert_int_equal(read_back(path, &got, &info), -ENODATA);
	assert_true(got.count > 0);
	assert_int_equal(umount(small), 0);
	rmdir(small);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int name_files(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/x.cup", folder);
	snprintf(partial, sizeof(partial), "%s" CAPTURE_PARTIAL_SUFFIX, path);
	return 0;
}

static int remove_folder(void **state)
{
	name_files(state);
	unlink(path);
	unlink(partial);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_written_is_read, name_files),
		cmocka_unit_test_setup(what_fired_is_known_before_it_is_read, name_files),
		cmocka_unit_test(what_did_not_fire_is_not_expected),
		cmocka_unit_test_setup(a_file_cut_anywhere_is_read_as_far_as_it_goes, name_files),
		cmocka_unit_test_setup(any_flipped_bit_is_noticed_or_harmless, name_files),
		cmocka_unit_test_setup(other_files_are_told_apart, name_files),
		cmocka_unit_test_setup(an_unfinished_recording_can_be_read, name_files),
		cmocka_unit_test_setup(a_recording_of_another_is_not_overwritten, name_files),
		cmocka_unit_test_setup(a_full_disk_leaves_what_was_recorded, name_files),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
