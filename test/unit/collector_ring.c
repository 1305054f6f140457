/* SPDX-License-Identifier: Apache-2.0 */
/* A ring as the kernel fills it: what is handed out, in which order, and where reading stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <linux/bpf.h>

#include <cmocka.h>

#include "src/collector/ring.h"

#define BYTES 128u

struct fake {
	struct ring ring;
	__u64 read, written;
	_Alignas(8) char data[2 * BYTES];
	int stop_at; /* the sample after which the reader has enough */
	char seen[16];
	int count;
};

static void fake_init(struct fake *f)
{
	*f = (struct fake){.stop_at = -1};
	f->ring = (struct ring){&f->read, &f->written, f->data, BYTES, 2 * BYTES, 0};
}

/* A sample of 24 bytes with the header, as it lies in both mappings of the ring. */
static void put(struct fake *f, char letter, __u32 flags)
{
	for (unsigned int i = 0; i < 24; i++) {
		unsigned int at = (unsigned int)((f->written + i) % BYTES);
		__u32 word = 13 | flags;
		char byte = i < 4 ? ((char *)&word)[i] : letter;

		f->data[at] = f->data[at + BYTES] = byte;
	}
	f->written += 24;
}

static int take(void *arg, const void *data, size_t size)
{
	struct fake *f = arg;

	assert_int_equal(size, 13);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(((const char *)data)[i], *(const char *)data);
	f->seen[f->count++] = *(const char *)data;
	return f->count == f->stop_at;
}

static void hands_out_all_in_order_round_the_end(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	for (char letter = 'a'; letter < 'k'; letter++) {
		put(&f, letter, 0);
		assert_int_equal(ring_read(&f.ring, ring_end(&f.ring), take, &f), 1);
		assert_int_equal(f.read, f.written);
	}
	assert_string_equal(f.seen, "abcdefghij");
}

static void what_was_thrown_away_is_passed_over(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	put(&f, 'a', BPF_RINGBUF_DISCARD_BIT);
	put(&f, 'b', 0);
	assert_int_equal(ring_read(&f.ring, ring_end(&f.ring), take, &f), 1);
	assert_string_equal(f.seen, "b");
}

static void waits_for_what_is_being_written(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	put(&f, 'a', 0);
	put(&f, 'b', BPF_RINGBUF_BUSY_BIT);
	put(&f, 'c', 0);
	assert_int_equal(ring_read(&f.ring, ring_end(&f.ring), take, &f), 0);
	assert_string_equal(f.seen, "a");
	assert_int_equal(f.read, 24);
}

static void stops_at_the_given_end_and_when_told(void **state)
{
	struct fake f;
	__u64 end;

	(void)state;
	fake_init(&f);
	put(&f, 'a', 0);
	put(&f, 'b', 0);
	end = ring_end(&f.ring);
	put(&f, 'c', 0);
	f.stop_at = 1;
	assert_int_equal(ring_read(&f.ring, end, take, &f), 0);
	assert_int_equal(ring_read(&f.ring, end, take, &f), 1);
	assert_string_equal(f.seen, "ab");
	assert_int_equal(ring_read(&f.ring, end, take, &f), 1);
	assert_int_equal(f.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_out_all_in_order_round_the_end),
		cmocka_unit_test(what_was_thrown_away_is_passed_over),
		cmocka_unit_test(waits_for_what_is_being_written),
		cmocka_unit_test(stops_at_the_given_end_and_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
