/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/outlet_direct.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/inject/clock.h"
#include "src/inject/direct_link.h"
#include "src/inject/direct_ring.h"
#include "src/inject/env.h"
#include "src/inject/notice.h"

#define RETRY_NS 1000000000ull /* between attempts to find a collector */
#define NEVER (~0ull)

/* Each is a value of its own, so relaxed is enough: written by who looks, read by any thread. */
static atomic_uint wanted;	/* bit n: probe n */
static atomic_uint connections; /* so far */

/*
 * Held by who looks (the control thread, and what starts it) and by the pump while it delivers;
 * protects what follows. Nothing is taken under it but the lock of the notices.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuprobe_direct_link connection = {.fd = -1};
static struct cuprobe_direct_ring ring;
static char path[128]; /* a copy: programs write their titles over their environment */
static __u64 process_start_ns, retry_ns;
static int told; /* the reason for having no connection that was told last */

static void tell(int err, const char *why)
{
	if (err != told)
		cuprobe_notice_message(CUPROBE_WARNING, err, "see CUPROBE_DIRECT",
				       "the direct channel cannot be used: %s", why);
	told = err;
}

/* As the kernel has it in /proc, in ticks since it booted: an identity, hardly a time. */
static __u64 start_of_process(void)
{
	char stat[1024], *field;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);

	if (fd >= 0)
		close(fd);
	stat[bytes < 0 ? 0 : bytes] = '\0';
	field = strrchr(stat, ')'); /* the end of the second */
	for (int i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	return field ? strtoull(field + 1, NULL, 10) * (1000000000ull / (__u64)sysconf(_SC_CLK_TCK))
		     : 0;
}

static void disconnect(void)
{
	cuprobe_direct_link_close(&connection);
	cuprobe_direct_ring_close(&ring);
}

static int memory_send(void)
{
	int memory = cuprobe_direct_ring_open(&ring), err;

	if (memory < 0)
		return memory;
	err = cuprobe_direct_link_greet(&connection, memory, process_start_ns);
	close(memory);
	return err;
}

static int connect_to_collector(char *ret_why, size_t size)
{
	int err = cuprobe_direct_link_open(&connection, path, ret_why, size);

	if (err)
		return err;
	err = memory_send();
	if (err) {
		snprintf(ret_why, size, "cannot share memory with '%s': %s", path, strerror(-err));
		disconnect();
	}
	return err;
}

static void connection_try(void)
{
	__u64 now = cuprobe_clock_now();
	char why[256] = "";
	int err;

	if (now < retry_ns)
		return;
	retry_ns = now + RETRY_NS;
	err = connect_to_collector(why, sizeof(why));
	if (!err) {
		told = -EPIPE;
		atomic_fetch_add_explicit(&connections, 1, memory_order_relaxed);
		cuprobe_log(CUPROBE_NOTE, "connected to '%s'", path);
	} else if (told != -EPIPE || (err != -ENOENT && err != -ECONNREFUSED)) {
		tell(err, why);
	}
}

/* A collector that leaves is no trouble. One that talks is none. */
static void connection_check(void)
{
	int err = cuprobe_direct_link_check(&connection);

	if (!err)
		return;
	disconnect();
	retry_ns = cuprobe_clock_now() + RETRY_NS;
	if (err == -EPROTO) {
		tell(err, "what listens there is no collector");
		retry_ns = NEVER;
	}
}

static void first_look(void)
{
	snprintf(path, sizeof(path), "%s", cuprobe_env.direct);
	process_start_ns = start_of_process();
}

void cuprobe_direct_look(void)
{
	__u32 now_wanted = atomic_load_explicit(&wanted, memory_order_relaxed);

	if (!cuprobe_env.direct)
		return;
	pthread_mutex_lock(&lock);
	if (!*path)
		first_look();
	if (connection.fd >= 0)
		connection_check();
	else
		connection_try();
	now_wanted = connection.fd >= 0 ? cuprobe_direct_link_wanted(path, now_wanted) : 0;
	atomic_store_explicit(&wanted, now_wanted, memory_order_relaxed);
	pthread_mutex_unlock(&lock);
}

static __u32 consumers(enum cuprobe_probe_id probe)
{
	return atomic_load_explicit(&wanted, memory_order_relaxed) >> probe & 1;
}

static void deliver(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
		    __u64 seq)
{
	struct cuprobe_batch_header header = {
		.time_ns = cuprobe_clock_now(),
		.seq = seq,
		.pid = (__u32)getpid(),
		.tid = (__u32)syscall(SYS_gettid),
		.bytes = bytes,
		.count = count,
		.probe = (__u16)probe,
	};

	if (!consumers(probe))
		return;
	pthread_mutex_lock(&lock);
	header.process_start_ns = process_start_ns;
	if (ring.memory && cuprobe_direct_ring_put(&ring, &header, data))
		cuprobe_direct_link_wake(&connection);
	pthread_mutex_unlock(&lock);
}

static __u32 newcomers(void)
{
	return atomic_load_explicit(&connections, memory_order_relaxed);
}

const struct cuprobe_outlet cuprobe_outlet_direct = {
	.consumers = consumers,
	.deliver = deliver,
	.newcomers = newcomers,
};
