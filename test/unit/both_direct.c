/* SPDX-License-Identifier: Apache-2.0 */
/* The direct channel from the library's writer to the collector's reader, over a real socket. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/collector/direct_peer.h"
#include "src/collector/source.h"
#include "src/inject/direct_link.h"
#include "src/inject/direct_ring.h"

#define PROBE CUPROBE_PROBE_memset
#define START_NS 4711

struct channel {
	struct cuprobe_direct_link link;
	struct cuprobe_direct_ring ring;
	struct peer *peer;
	__u64 sent, received, missed, bytes;
	unsigned int wakes, stop_after;
};

static int setup(void **state)
{
	struct channel *c = calloc(1, sizeof(*c));
	int ends[2], memory;
	struct stat st;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(fstat(ends[0], &st), 0);
	c->link = (struct cuprobe_direct_link){ends[0], st.st_dev, st.st_ino};
	memory = cuprobe_direct_ring_open(&c->ring);
	assert_in_range(memory, 0, 1024);
	assert_int_equal(cuprobe_direct_link_greet(&c->link, memory, START_NS), 0);
	close(memory);
	assert_int_equal(peer_open(&c->peer, ends[1]), 0);
	assert_int_equal(peer_receive(c->peer), 0);
	assert_non_null(c->peer->memory);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct channel *c = *state;

	cuprobe_direct_link_close(&c->link);
	cuprobe_direct_ring_close(&c->ring);
	if (c->peer)
		peer_free(c->peer);
	free(c);
	return 0;
}

/* What byte `i` of the batch is that begins with record `seq`. */
static __u8 byte_of(__u64 seq, __u32 i)
{
	return (__u8)(seq * 31 + i);
}

/* A batch of `bytes` one-byte records. */
static void send_batch(struct channel *c, __u32 bytes)
{
	static __u8 data[CUPROBE_BATCH_BYTES];
	const struct cuprobe_batch_header header = {
		.seq = c->sent,
		.pid = 1,
		.bytes = bytes,
		.count = bytes,
		.probe = PROBE,
	};

	for (__u32 i = 0; i < bytes; i++)
		data[i] = byte_of(c->sent, i);
	if (cuprobe_direct_ring_put(&c->ring, &header, data)) {
		cuprobe_direct_link_wake(&c->link);
		c->wakes++;
	}
	c->sent += bytes;
}

static int check_batch(void *arg, const void *data, size_t bytes)
{
	const struct cuprobe_ring_batch *b = data;
	const __u8 *records = (const __u8 *)(b + 1);
	const struct cuprobe_batch_header *h = &b->header;
	struct channel *c = arg;

	assert_in_range(h->bytes, 1, bytes - sizeof(*b));
	assert_int_equal((uintptr_t)records % CUPROBE_RING_ALIGN, 0);
	assert_int_equal(h->pid, getpid()); /* by the kernel, not as it says */
	assert_int_equal(h->process_start_ns, START_NS);
	assert_in_range(h->seq, c->received + c->missed, ~0ull);
	c->missed = h->seq - c->received;
	c->received += h->count;
	for (__u32 i = 0; i < h->bytes; i++) {
		if (records[i] != byte_of(h->seq, i))
			fail_msg("byte %u of batch %llu", i, h->seq);
	}
	return c->stop_after && !--c->stop_after;
}

static int receive_batches(struct channel *c)
{
	const struct source_handler handler = {check_batch, NULL, c};

	return peer_read(c->peer, &handler);
}

static __u32 random_bytes(unsigned int *seed)
{
	return (__u32)rand_r(seed) % CUPROBE_BATCH_BYTES + 1;
}

static __u64 lost(struct channel *c)
{
	struct cuprobe_loss loss = {0};

	return peer_losses(c->peer, PROBE, &loss) ? loss.records : 0;
}

static void brings_every_batch_once_and_in_order(void **state)
{
	struct channel *c = *state;
	unsigned int seed = 1;

	for (int i = 0; i < 400; i++) {
		for (int batches = rand_r(&seed) % 300; batches; batches--)
			send_batch(c, random_bytes(&seed) % (i % 2 ? 4000 : 32768) + 1);
		assert_int_equal(receive_batches(c), 1);
		assert_int_equal(c->received, c->sent);
	}
	assert_int_equal(c->missed, 0);
	assert_int_equal(lost(c), 0);
	assert_in_range(c->ring.batches_written, 1, ~0ull); /* both rings were in use */
}

static void *send_many(void *arg)
{
	struct channel *c = arg;
	unsigned int seed = 2;

	for (int i = 0; i < 10000; i++)
		send_batch(c, random_bytes(&seed));
	shutdown(c->link.fd, SHUT_WR);
	return NULL;
}

/* Faster than the reader: what does not arrive is counted, to the record. */
static void two_processes_at_once(void **state)
{
	struct channel *c = *state;
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, send_many, c), 0);
	while (!peer_receive(c->peer))
		assert_int_equal(receive_batches(c), 1);
	pthread_join(writer, NULL);
	assert_int_equal(receive_batches(c), 1);
	assert_int_equal(c->received + lost(c), c->sent);
}

static void counts_what_finds_no_room(void **state)
{
	struct channel *c = *state;
	const __u32 bytes = CUPROBE_BATCH_BYTES;
	const __u64 room = CUPROBE_DIRECT_FRONT_BYTES + CUPROBE_DIRECT_BATCHES_BYTES;
	__u64 received;

	while (c->sent < 3 * room)
		send_batch(c, bytes);
	assert_int_equal(receive_batches(c), 1);
	received = c->received;
	assert_in_range(received, room - 4 * bytes, room);
	assert_int_equal(received + lost(c), c->sent);
	assert_int_equal(lost(c), 0); /* told already */
	send_batch(c, bytes);
	assert_int_equal(receive_batches(c), 1);
	assert_int_equal(c->received, received + bytes);
	assert_int_equal(c->missed, c->sent - c->received);
}

static void goes_on_where_the_handler_had_enough(void **state)
{
	struct channel *c = *state;

	for (int i = 0; i < 5; i++)
		send_batch(c, 100);
	c->stop_after = 2;
	assert_int_equal(receive_batches(c), 0);
	assert_int_equal(c->received, 200);
	assert_int_equal(receive_batches(c), 1);
	assert_int_equal(c->received, 500);
	assert_int_equal(c->missed, 0);
}

/* Once each time that so much is pending, not for every batch. */
static void wakes_the_reader_when_much_is_pending(void **state)
{
	struct channel *c = *state;

	for (int i = 0; i < 3; i++) {
		c->wakes = 0;
		for (__u64 end = c->sent + CUPROBE_DIRECT_WAKE_BYTES * 3 / 2; c->sent < end;)
			send_batch(c, CUPROBE_BATCH_BYTES);
		assert_int_equal(c->wakes, 1);
		assert_int_equal(recv(c->peer->fd, &(char){0}, 1, MSG_DONTWAIT), 1);
		assert_int_equal(recv(c->peer->fd, &(char){0}, 1, MSG_DONTWAIT), -1);
		assert_int_equal(receive_batches(c), 1);
	}
}

static void what_was_written_outlives_the_writer(void **state)
{
	struct channel *c = *state;

	send_batch(c, 500);
	cuprobe_direct_link_close(&c->link);
	cuprobe_direct_ring_close(&c->ring);
	assert_int_equal(peer_receive(c->peer), -EPIPE);
	assert_int_equal(receive_batches(c), 1);
	assert_int_equal(c->received, 500);
}

static void the_writer_sees_that_the_reader_is_gone(void **state)
{
	struct channel *c = *state;

	assert_int_equal(cuprobe_direct_link_check(&c->link), 0);
	peer_free(c->peer);
	c->peer = NULL;
	cuprobe_direct_link_wake(&c->link); /* and no SIGPIPE */
	assert_int_equal(cuprobe_direct_link_check(&c->link), -EPIPE);
	send_batch(c, 500);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(brings_every_batch_once_and_in_order),
		TEST(two_processes_at_once),
		TEST(counts_what_finds_no_room),
		TEST(goes_on_where_the_handler_had_enough),
		TEST(wakes_the_reader_when_much_is_pending),
		TEST(what_was_written_outlives_the_writer),
		TEST(the_writer_sees_that_the_reader_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
