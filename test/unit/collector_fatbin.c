/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins are found in fat binaries, however they are packed, and damaged ones do no harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "src/collector/fatbin.h"

/* 5 literals, 20 bytes from 4 back, then 3 literals. */
static const unsigned char lz4[] = {0x5f, 'a', 'b', 'c', 'd', 'e', 4, 0, 1, 0x30, 'x', 'y', 'z'};

struct built {
	unsigned char data[4096];
	size_t bytes, container;
};

struct seen {
	unsigned int cubins, arch, except; /* an architecture that is not wanted */
	size_t bytes;
	char image[512];
};

static int see(void *arg, __u32 arch, const void *image, size_t bytes)
{
	struct seen *s = arg;

	s->cubins++;
	s->arch = arch;
	s->bytes = bytes;
	memcpy(s->image, image, bytes < sizeof(s->image) ? bytes : sizeof(s->image));
	return 0;
}

static bool wants(void *arg, __u32 arch)
{
	const struct seen *s = arg;

	return arch != s->except;
}

static int refuse(void *arg, __u32 arch, const void *image, size_t bytes)
{
	(void)arg, (void)arch, (void)image, (void)bytes;
	return -EINTR;
}

static void put(struct built *b, const void *data, size_t bytes)
{
	memcpy(b->data + b->bytes, data, bytes);
	b->bytes += bytes;
}

static void container_begin(struct built *b)
{
	const __u32 head[] = {0xba55ed50, 0x100001, 0, 0};

	b->container = b->bytes;
	put(b, head, sizeof(head));
}

static void container_end(struct built *b)
{
	__u64 bytes = b->bytes - b->container - 16;

	memcpy(b->data + b->container + 8, &bytes, sizeof(bytes));
}

static void entry(struct built *b, __u16 kind, __u32 arch, __u64 flags, const void *data,
		  size_t bytes, size_t original)
{
	static const char zeros[8];
	__u64 head[8] = {0};
	__u64 padded = (bytes + 7) & ~7ull;

	head[0] = kind | 0x101ull << 16 | (__u64)sizeof(head) << 32;
	head[1] = padded;
	head[2] = bytes;
	head[3] = (__u64)arch << 32;
	head[5] = flags;
	head[7] = original;
	put(b, head, sizeof(head));
	put(b, data, bytes);
	put(b, zeros, padded - bytes);
}

static void plain_cubins_are_found_among_ptx(void **state)
{
	struct built b = {0};
	struct seen s = {0};

	(void)state;
	container_begin(&b);
	entry(&b, 1, 90, 0x11, ".version 8.0....", 16, 0);
	container_end(&b);
	b.bytes += 16; /* padding */
	container_begin(&b);
	entry(&b, 2, 80, 0x11, "cubin for 80....", 16, 0);
	entry(&b, 2, 90, 0x11, "cubin for 90....", 16, 0);
	container_end(&b);
	assert_int_equal(fatbin_walk(b.data, b.bytes, &(struct fatbin_visitor){wants, see, &s}), 0);
	assert_int_equal(s.cubins, 2);
	assert_int_equal(s.arch, 90);
	assert_memory_equal(s.image, "cubin for 90", 12);
	assert_int_equal(fatbin_walk(b.data, b.bytes, &(struct fatbin_visitor){wants, refuse, &s}),
			 -EINTR);
	s = (struct seen){.except = 80};
	assert_int_equal(fatbin_walk(b.data, b.bytes, &(struct fatbin_visitor){wants, see, &s}), 0);
	assert_int_equal(s.cubins, 1);
}

static void packed_cubins_are_unpacked(void **state)
{
	struct built b = {0};
	struct seen s = {0};
	char zstd[256];
	size_t bytes = ZSTD_compress(zstd, sizeof(zstd), "zstd zstd zstd zstd", 19, 1);

	(void)state;
	container_begin(&b);
	entry(&b, 2, 90, 0x2011, lz4, sizeof(lz4), 28);
	container_end(&b);
	assert_int_equal(fatbin_walk(b.data, b.bytes, &(struct fatbin_visitor){wants, see, &s}), 0);
	assert_int_equal(s.cubins, 1);
	assert_int_equal(s.bytes, 28);
	assert_memory_equal(s.image, "abcdebcdebcdebcdebcdebcdexyz", 28);
	b = (struct built){0};
	container_begin(&b);
	entry(&b, 2, 90, 0x8011, zstd, bytes, 19);
	container_end(&b);
	assert_int_equal(fatbin_walk(b.data, b.bytes, &(struct fatbin_visitor){wants, see, &s}), 0);
	assert_int_equal(s.cubins, 2);
	assert_memory_equal(s.image, "zstd zstd zstd zstd", 19);
}

static void damage_does_no_harm(void **state)
{
	struct built b = {0}, copy;
	struct seen s;

	(void)state;
	container_begin(&b);
	entry(&b, 2, 90, 0x2011, lz4, sizeof(lz4), 28);
	entry(&b, 2, 90, 0x8011, lz4, sizeof(lz4), 28);
	entry(&b, 2, 90, 0x11, "0123456789abcdef", 16, 0);
	container_end(&b);
	srand(1);
	for (int i = 0; i < 5000; i++) {
		copy = b;
		for (int j = 0; j < 3; j++)
			copy.data[(size_t)rand() % copy.bytes] = (unsigned char)rand();
		s = (struct seen){0};
		fatbin_walk(copy.data, (size_t)rand() % (copy.bytes + 1),
			    &(struct fatbin_visitor){wants, see, &s});
		assert_in_range(s.cubins, 0, 3);
	}
}

static void files_without_any_are_no_error(void **state)
{
	struct seen s = {0};

	(void)state;
	assert_int_equal(
		fatbin_walk_file("/proc/self/exe", &(struct fatbin_visitor){wants, see, &s}), 0);
	assert_int_equal(fatbin_walk_file("/nonexistent", &(struct fatbin_visitor){wants, see, &s}),
			 0);
	assert_int_equal(
		fatbin_walk_file("/proc/self/status", &(struct fatbin_visitor){wants, see, &s}), 0);
	assert_int_equal(s.cubins, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_cubins_are_found_among_ptx),
		cmocka_unit_test(packed_cubins_are_unpacked),
		cmocka_unit_test(damage_does_no_harm),
		cmocka_unit_test(files_without_any_are_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
