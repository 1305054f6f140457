/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a process sends or writes through the direct channel, it is refused and harms nobody. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/bpf.h>

#include <cmocka.h>

#include "src/collector/direct_peer.h"
#include "src/collector/source.h"

#define BYTES sizeof(struct cuprobe_direct_memory)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static const struct cuprobe_direct_hello good = {CUPROBE_DIRECT_MAGIC, CUPROBE_DIRECT_VERSION, 1};

struct meeting {
	int fd; /* the process's end */
	struct peer *peer;
	struct cuprobe_direct_memory *memory; /* as the process sees it */
	unsigned int samples;
};

static int setup(void **state)
{
	struct meeting *m = calloc(1, sizeof(*m));
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	m->fd = ends[0];
	assert_int_equal(peer_open(&m->peer, ends[1]), 0);
	assert_int_equal(m->peer->pid, getpid());
	assert_int_equal(m->peer->uid, getuid());
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct meeting *m = *state;

	if (m->memory)
		munmap(m->memory, BYTES);
	close(m->fd);
	peer_free(m->peer);
	free(m);
	return 0;
}

static int memory_make(size_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void send_with(struct meeting *m, const void *data, size_t bytes, const int *fds,
		      size_t count)
{
	struct iovec iov = {(void *)(uintptr_t)data, bytes};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {0};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *head;

	if (count) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(head), fds, count * sizeof(int));
	}
	assert_int_equal(sendmsg(m->fd, &message, 0), bytes);
}

static int descriptors(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Sends a descriptor with the hello, and closes it; what the peer says. */
static int greeted_with(struct meeting *m, int fd)
{
	int err, before;

	send_with(m, &good, sizeof(good), &fd, 1);
	close(fd);
	before = descriptors();
	err = peer_receive(m->peer);
	assert_int_equal(descriptors(), before); /* none is kept */
	return err;
}

static void meet(struct meeting *m)
{
	int fd = memory_make(BYTES, SEALS);

	m->memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(m->memory, MAP_FAILED);
	assert_int_equal(greeted_with(m, fd), 0);
	assert_non_null(m->peer->memory);
}

static int count_sample(void *arg, const void *data, size_t bytes)
{
	struct meeting *m = arg;
	static volatile __u8 sum;

	for (size_t i = 0; i < bytes; i++)
		sum = (__u8)(sum + ((const __u8 *)data)[i]);
	m->samples++;
	return 0;
}

static int read_all(struct meeting *m)
{
	const struct source_handler handler = {count_sample, NULL, m};

	return peer_read(m->peer, &handler);
}

static void put_word(void *at, __u32 word)
{
	memcpy(at, &word, sizeof(word));
}

static void accepts_the_memory_of_a_library(void **state)
{
	struct meeting *m = *state;

	meet(m);
	assert_int_equal(read_all(m), 1);
	assert_int_equal(m->peer->start_ns, 1);
}

static void waits_for_a_hello(void **state)
{
	struct meeting *m = *state;

	assert_int_equal(peer_receive(m->peer), 0);
	assert_int_equal(read_all(m), 1);
	assert_int_equal(peer_receive(m->peer), 0);
}

static void leaves_without_a_hello(void **state)
{
	struct meeting *m = *state;

	shutdown(m->fd, SHUT_WR);
	assert_int_equal(peer_receive(m->peer), -EPIPE);
	assert_int_equal(read_all(m), 1);
}

static void refuses_a_greeting_that_is_none(void **state)
{
	struct meeting *m = *state;

	send_with(m, "GET / HTTP/1.1\r\n\r\n", 18, NULL, 0);
	assert_int_equal(peer_receive(m->peer), -EBADMSG);
}

static void refuses_a_short_greeting(void **state)
{
	struct meeting *m = *state;
	int fd = memory_make(BYTES, SEALS);

	send_with(m, &good, sizeof(good) - 1, &fd, 1);
	close(fd);
	assert_int_equal(peer_receive(m->peer), -EBADMSG);
}

static void refuses_another_version(void **state)
{
	struct cuprobe_direct_hello hello = good;
	struct meeting *m = *state;
	int fd = memory_make(BYTES, SEALS);

	hello.version++;
	send_with(m, &hello, sizeof(hello), &fd, 1);
	close(fd);
	assert_int_equal(peer_receive(m->peer), -EBADMSG);
}

static void refuses_a_greeting_without_memory(void **state)
{
	struct meeting *m = *state;

	send_with(m, &good, sizeof(good), NULL, 0);
	assert_int_equal(peer_receive(m->peer), -EBADMSG);
}

static void refuses_several_descriptors(void **state)
{
	struct meeting *m = *state;
	int fds[3], before = descriptors();

	for (int i = 0; i < 3; i++)
		fds[i] = memory_make(BYTES, SEALS);
	send_with(m, &good, sizeof(good), fds, 3);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	assert_int_equal(peer_receive(m->peer), -EBADMSG);
	assert_int_equal(descriptors(), before);
}

static void refuses_a_file_that_is_no_memory(void **state)
{
	assert_int_equal(greeted_with(*state, open("/dev/zero", O_RDWR)), -EBADMSG);
}

static void refuses_memory_that_can_shrink(void **state)
{
	assert_int_equal(greeted_with(*state, memory_make(BYTES, F_SEAL_GROW)), -EBADMSG);
}

static void refuses_memory_of_another_size(void **state)
{
	assert_int_equal(greeted_with(*state, memory_make(BYTES - 1, SEALS)), -EBADMSG);
}

static void refuses_memory_that_cannot_be_written(void **state)
{
	assert_int_equal(greeted_with(*state, memory_make(BYTES, SEALS | F_SEAL_WRITE)), -EBADMSG);
}

static void takes_what_follows_for_mere_noise(void **state)
{
	static const char noise[10000];
	struct meeting *m = *state;

	meet(m);
	send_with(m, noise, sizeof(noise), NULL, 0);
	while (recv(m->peer->fd, &(char){0}, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
		assert_int_equal(peer_receive(m->peer), 0);
}

static void refuses_positions_beyond_the_ring(void **state)
{
	struct meeting *m = *state;

	meet(m);
	put_word(m->memory->front, 56);
	put_word(m->memory->batches, 56);
	m->memory->front_written = CUPROBE_DIRECT_FRONT_BYTES + 64;
	assert_int_equal(read_all(m), -EBADMSG);
	m->memory->front_written = ~0ull;
	assert_int_equal(read_all(m), -EBADMSG);
	m->memory->front_written = 0;
	m->memory->batches_written = ~0ull;
	assert_int_equal(read_all(m), -EBADMSG);
	assert_int_equal(m->samples, 0);
}

static void refuses_impossible_lengths(void **state)
{
	static const __u32 words[] = {0,
				      8,
				      55,
				      56 + CUPROBE_BATCH_BYTES + 1,
				      4096,
				      0x3fffffff,
				      BPF_RINGBUF_BUSY_BIT | 56,
				      BPF_RINGBUF_DISCARD_BIT | 4096};
	struct meeting *m = *state;

	meet(m);
	m->memory->front_written = 1024;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		m->peer->front.position = 0; /* what is refused has been passed over */
		put_word(m->memory->front, words[i]);
		assert_int_equal(read_all(m), -EBADMSG);
	}
	assert_int_equal(m->samples, 0);
}

/* The last entry of the large ring, behind which other things lie. */
static void refuses_what_reaches_beyond_the_end(void **state)
{
	const __u32 last = CUPROBE_DIRECT_BATCHES_BYTES - 64;
	struct meeting *m = *state;

	meet(m);
	put_word(m->memory->batches + last, 56 + 1024);
	m->peer->batches.position = last;
	m->memory->batches_written = CUPROBE_DIRECT_BATCHES_BYTES;
	assert_int_equal(read_all(m), -EBADMSG);
	m->peer->batches.position = last;
	m->memory->batches_written = CUPROBE_DIRECT_BATCHES_BYTES + 4096;
	assert_int_equal(read_all(m), -EBADMSG);
	assert_int_equal(m->samples, 0);
}

/* Any bytes anywhere; under ASan this says more. */
static void survives_any_memory(void **state)
{
	struct meeting *m = *state;
	unsigned int seed = 3;

	meet(m);
	for (int i = 0; i < 20000; i++) {
		m->peer->front.position = m->peer->batches.position = 0;
		for (int n = 0; n < 64; n++)
			put_word(m->memory->front + n * 64,
				 (__u32)rand_r(&seed) >> rand_r(&seed) % 32);
		m->memory->front_written = (__u32)rand_r(&seed) >> rand_r(&seed) % 32;
		m->memory->batches_written = (__u32)rand_r(&seed) >> rand_r(&seed) % 32;
		m->memory->front_read = (__u64)rand_r(&seed) << 31;
		read_all(m);
	}
	assert_in_range(m->samples, 1, ~0u);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(accepts_the_memory_of_a_library),
		TEST(waits_for_a_hello),
		TEST(leaves_without_a_hello),
		TEST(refuses_a_greeting_that_is_none),
		TEST(refuses_a_short_greeting),
		TEST(refuses_another_version),
		TEST(refuses_a_greeting_without_memory),
		TEST(refuses_several_descriptors),
		TEST(refuses_a_file_that_is_no_memory),
		TEST(refuses_memory_that_can_shrink),
		TEST(refuses_memory_of_another_size),
		TEST(refuses_memory_that_cannot_be_written),
		TEST(takes_what_follows_for_mere_noise),
		TEST(refuses_positions_beyond_the_ring),
		TEST(refuses_impossible_lengths),
		TEST(refuses_what_reaches_beyond_the_end),
		TEST(survives_any_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
