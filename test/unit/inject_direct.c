/* SPDX-License-Identifier: Apache-2.0 */
/* The library at the direct channel: it finds its collector, or says why not, and is never harmed.
 */
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
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/inject/direct_link.h"
#include "src/inject/direct_ring.h"
#include "src/inject/env.h"
#include "src/inject/notice.h"
#include "src/inject/outlet_direct.h"

#define KERNEL CUPROBE_PROBE_kernel
#define WANTED(probe) (1u << CUPROBE_PROBE_##probe)

struct place {
	char directory[32], path[64], wanted[80], why[256];
	int listener; /* a collector's; -1 */
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->directory, "/tmp/direct.XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	snprintf(p->path, sizeof(p->path), "%s/socket", p->directory);
	snprintf(p->wanted, sizeof(p->wanted), "%s" CUPROBE_DIRECT_WANTED, p->path);
	p->listener = -1;
	*state = p;
	return 0;
}

static void leave(struct place *p)
{
	if (p->listener >= 0)
		close(p->listener);
	p->listener = -1;
	unlink(p->path);
	unlink(p->wanted);
}

static int teardown(void **state)
{
	struct place *p = *state;

	leave(p);
	rmdir(p->directory);
	free(p);
	return 0;
}

static void file_write(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, data, bytes), bytes);
	close(fd);
}

static void want(struct place *p, __u32 probes)
{
	file_write(p->wanted, &probes, sizeof(probes));
}

static void collector_comes(struct place *p)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(address.sun_path, p->path);
	p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(p->listener, (void *)&address, sizeof(address)), 0);
	assert_int_equal(listen(p->listener, 5), 0);
}

/* The memory that the library sends over a connection which it has made, and the connection. */
static const struct cuprobe_direct_memory *accept_memory(struct place *p, int *ret_fd)
{
	struct cuprobe_direct_hello hello;
	struct iovec iov = {&hello, sizeof(hello)};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	void *memory;
	int fd;

	*ret_fd = accept(p->listener, NULL, NULL);
	assert_int_equal(recvmsg(*ret_fd, &message, 0), sizeof(hello));
	assert_int_equal(hello.magic, CUPROBE_DIRECT_MAGIC);
	assert_in_range(hello.process_start_ns, 1, ~0ull);
	memcpy(&fd, CMSG_DATA((struct cmsghdr *)control), sizeof(fd));
	memory = mmap(NULL, sizeof(struct cuprobe_direct_memory), PROT_READ | PROT_WRITE,
		      MAP_SHARED, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	close(fd);
	return memory;
}

static int link_open(struct place *p, struct cuprobe_direct_link *ret)
{
	return cuprobe_direct_link_open(ret, p->path, p->why, sizeof(p->why));
}

static void says_that_nobody_listens(void **state)
{
	struct cuprobe_direct_link link;
	struct place *p = *state;

	assert_int_equal(link_open(p, &link), -ENOENT);
	collector_comes(p);
	close(p->listener);
	assert_int_equal(link_open(p, &link), -ECONNREFUSED);
	assert_non_null(strstr(p->why, "nobody listens at '"));
}

static void says_that_it_is_no_socket(void **state)
{
	struct cuprobe_direct_link link;
	struct place *p = *state;

	file_write(p->path, "x", 1);
	assert_int_equal(link_open(p, &link), -ENOTSOCK);
	assert_non_null(strstr(p->why, "is not a socket"));
}

static void says_that_the_name_is_too_long(void **state)
{
	struct cuprobe_direct_link link;
	struct place *p = *state;
	char name[300];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(cuprobe_direct_link_open(&link, name, p->why, sizeof(p->why)),
			 -ENAMETOOLONG);
}

/* As nobody, in a child: connects to a collector of root, who may be one, or of another user. */
static int connected_as(struct place *p, uid_t listener, uid_t library)
{
	struct cuprobe_direct_link link;
	int status;
	pid_t pid;

	assert_int_equal(seteuid(listener), 0);
	collector_comes(p);
	assert_int_equal(seteuid(0), 0);
	chmod(p->path, 0666);
	pid = fork();
	if (!pid) {
		if (setuid(library))
			_exit(99);
		_exit(-link_open(p, &link));
	}
	waitpid(pid, &status, 0);
	leave(p);
	return WEXITSTATUS(status);
}

static void trusts_its_own_user_and_root(void **state)
{
	struct place *p = *state;

	if (geteuid())
		skip();
	chmod(p->directory, 0777);
	assert_int_equal(connected_as(p, 65534, 65534), 0);
	assert_int_equal(connected_as(p, 0, 65534), 0);
	assert_int_equal(connected_as(p, 65533, 65534), EACCES);
	assert_int_equal(connected_as(p, 65534, 0), EACCES);
}

static void knows_a_collector_by_its_silence(void **state)
{
	struct cuprobe_direct_link link;
	struct place *p = *state;
	int fd;

	collector_comes(p);
	assert_int_equal(link_open(p, &link), 0);
	fd = accept(p->listener, NULL, NULL);
	assert_int_equal(cuprobe_direct_link_check(&link), 0);
	assert_int_equal(write(fd, "junk", 4), 4);
	assert_int_equal(cuprobe_direct_link_check(&link), -EPROTO);
	close(fd);
	cuprobe_direct_link_close(&link);
}

/* A program may close any descriptor, and get its number again for something of its own. */
static void leaves_descriptors_of_the_program_alone(void **state)
{
	struct cuprobe_direct_link link;
	struct place *p = *state;
	int pipe_fds[2];
	char byte;

	collector_comes(p);
	assert_int_equal(link_open(p, &link), 0);
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(dup2(pipe_fds[1], link.fd), link.fd);
	fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
	assert_int_equal(cuprobe_direct_link_check(&link), -EPIPE);
	cuprobe_direct_link_wake(&link);
	assert_int_equal(read(pipe_fds[0], &byte, 1), -1);
	byte = (char)link.fd;
	cuprobe_direct_link_close(&link);
	assert_true(fcntl(byte, F_GETFD) >= 0);
	close(byte);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void wants_nothing_of_what_it_cannot_read(void **state)
{
	struct place *p = *state;

	assert_int_equal(cuprobe_direct_link_wanted(p->path, 0), 0);
	want(p, 0x12);
	assert_int_equal(cuprobe_direct_link_wanted(p->path, 0x3), 0x12);
	file_write(p->wanted, "abc", 3);
	assert_int_equal(cuprobe_direct_link_wanted(p->path, 0x3), 0);
	unlink(p->wanted);
	assert_int_equal(mkfifo(p->wanted, 0600), 0);
	assert_int_equal(cuprobe_direct_link_wanted(p->path, 0x3), 0); /* at once */
}

static void goes_on_while_the_program_has_no_descriptors(void **state)
{
	struct rlimit files, none;
	struct place *p = *state;

	want(p, 0x12);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	none = (struct rlimit){.rlim_max = files.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(cuprobe_direct_link_wanted(p->path, 0x3), 0x3);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_int_equal(cuprobe_direct_link_wanted(p->path, 0x3), 0x12);
}

static void makes_memory_that_nobody_can_shrink(void **state)
{
	struct cuprobe_direct_ring ring;
	int fd = cuprobe_direct_ring_open(&ring);

	(void)state;
	assert_in_range(fd, 0, 1024);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	close(fd);
	cuprobe_direct_ring_close(&ring);
}

/* Beyond the limit the kernel would send SIGXFSZ. */
static void heeds_the_limit_of_file_sizes(void **state)
{
	struct rlimit before, small;
	struct cuprobe_direct_ring ring;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(cuprobe_direct_ring_open(&ring), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

/* The other side can write its position, and everything else, as it likes. */
static void survives_any_position_of_the_reader(void **state)
{
	static const char data[CUPROBE_BATCH_BYTES];
	const struct cuprobe_batch_header header = {
		.bytes = sizeof(data), .count = 1, .probe = KERNEL};
	struct cuprobe_direct_ring ring;
	int fd = cuprobe_direct_ring_open(&ring);
	unsigned int seed = 5;
	__u64 sum = 0;

	(void)state;
	close(fd);
	for (int i = 0; i < 20000; i++) {
		ring.memory->front_read = (__u64)rand_r(&seed) << rand_r(&seed) % 33;
		ring.memory->batches_read = (__u64)rand_r(&seed) << rand_r(&seed) % 33;
		ring.memory->front_written = (__u64)rand_r(&seed);
		ring.memory->batches_written = (__u64)rand_r(&seed);
		cuprobe_direct_ring_put(&ring, &header, data);
	}
	sum = ring.memory->lost[KERNEL].records;
	assert_in_range(sum, 1, 20000);
	cuprobe_direct_ring_close(&ring);
}

static __u32 consumers(void)
{
	return cuprobe_outlet_direct.consumers(KERNEL);
}

/* Looks until there are as many consumers of kernels as told, for at most two seconds. */
static bool look_until(__u32 expected)
{
	const struct timespec step = {.tv_nsec = 10000000};

	for (int i = 0; i < 200; i++) {
		cuprobe_direct_look();
		if (consumers() == expected)
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

static void deliver(__u64 seq)
{
	static const char data[160];

	cuprobe_outlet_direct.deliver(KERNEL, data, sizeof(data), 1, seq);
}

static const struct cuprobe_batch_header *first_batch(const struct cuprobe_direct_memory *m)
{
	assert_int_equal(m->front_written, 64 + 192);
	return (const void *)(m->front + 16);
}

static bool noticed(const char *text)
{
	struct cuprobe_notice notice;

	while (cuprobe_notice_take(&notice)) {
		if (strstr(notice.text, text))
			return true;
	}
	return false;
}

/* One life of the library, with several collectors. */
static void follows_its_collectors(void **state)
{
	const struct cuprobe_direct_memory *m;
	struct place *p = *state;
	int fd, again;

	cuprobe_direct_look(); /* no channel is set */
	cuprobe_env.direct = p->path;
	cuprobe_direct_look();
	assert_true(noticed("nobody listens at"));
	cuprobe_direct_look();
	assert_false(noticed(""));
	deliver(0);

	want(p, WANTED(kernel) | WANTED(api));
	assert_int_equal(consumers(), 0); /* wanted, and nobody there */
	collector_comes(p);
	assert_true(look_until(1));
	assert_int_equal(cuprobe_outlet_direct.newcomers(), 1);
	assert_int_equal(cuprobe_outlet_direct.consumers(CUPROBE_PROBE_memcpy), 0);

	/* Whatever it is that came before: numbers go on, so that a reader knows what it missed. */
	deliver(7);
	m = accept_memory(p, &fd);
	assert_int_equal(first_batch(m)->seq, 7);
	assert_int_equal(first_batch(m)->pid, getpid());
	assert_int_equal(first_batch(m)->probe, KERNEL);
	munmap((void *)(uintptr_t)m, sizeof(*m));

	/* It may change its mind. */
	want(p, WANTED(api));
	assert_true(look_until(0));
	want(p, WANTED(kernel));
	assert_true(look_until(1));

	/* It is replaced; in between nothing is wanted, though the file says so. */
	close(fd);
	leave(p);
	want(p, WANTED(kernel));
	cuprobe_direct_look();
	assert_int_equal(consumers(), 0);
	deliver(8);
	collector_comes(p);
	assert_true(look_until(1));
	assert_int_equal(cuprobe_outlet_direct.newcomers(), 2);
	deliver(9);
	m = accept_memory(p, &fd);
	assert_int_equal(first_batch(m)->seq, 9);
	munmap((void *)(uintptr_t)m, sizeof(*m));
	assert_false(noticed(""));

	/* It turns out to be none: no second try. */
	assert_int_equal(write(fd, "junk", 4), 4);
	cuprobe_direct_look();
	assert_int_equal(consumers(), 0);
	assert_true(noticed("is no collector"));
	assert_false(look_until(1));
	fcntl(p->listener, F_SETFL, O_NONBLOCK);
	again = accept(p->listener, NULL, NULL);
	assert_int_equal(again, -1);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(says_that_nobody_listens),
		TEST(says_that_it_is_no_socket),
		TEST(says_that_the_name_is_too_long),
		TEST(trusts_its_own_user_and_root),
		TEST(knows_a_collector_by_its_silence),
		TEST(leaves_descriptors_of_the_program_alone),
		TEST(wants_nothing_of_what_it_cannot_read),
		TEST(goes_on_while_the_program_has_no_descriptors),
		TEST(makes_memory_that_nobody_can_shrink),
		TEST(heeds_the_limit_of_file_sizes),
		TEST(survives_any_position_of_the_reader),
		TEST(follows_its_collectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
