/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/thread.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "src/inject/clock.h"

/* Mostly untouched address space: CUPTI's calls run on it. */
#define STACK_BYTES (2u << 20)

#define THREADS_MOST 16u

static atomic_uint started;		      /* only a count; it orders nothing */
static atomic_uint begun, tids[THREADS_MOST]; /* values of their own: relaxed is enough */

__u32 cuprobe_thread_started(void)
{
	return atomic_load_explicit(&started, memory_order_relaxed);
}

bool cuprobe_thread_is_ours(__u32 tid)
{
	for (__u32 i = 0; i < THREADS_MOST; i++) {
		if (tid && atomic_load_explicit(&tids[i], memory_order_relaxed) == tid)
			return true;
	}
	return false;
}

static void *thread_main(void *body)
{
	__u32 place = atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);

	atomic_store_explicit(&tids[place % THREADS_MOST], (__u32)gettid(), memory_order_relaxed);
	return ((void *(*)(void *))body)(NULL);
}

static int tls_add(struct dl_phdr_info *object, size_t size, void *ret_bytes)
{
	(void)size;
	for (unsigned int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_TLS)
			*(size_t *)ret_bytes += segment->p_memsz + segment->p_align;
	}
	return 0;
}

/* glibc puts thread-local storage on the stack, and programs may have megabytes of it. */
static size_t stack_bytes(void)
{
	size_t bytes = STACK_BYTES;

	dl_iterate_phdr(tls_add, &bytes);
	return bytes;
}

int cuprobe_thread_start(pthread_t *ret_thread, const char *name, void *(*body)(void *))
{
	pthread_attr_t attr;
	sigset_t all;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &all);
	pthread_attr_setstacksize(&attr, stack_bytes());
	err = pthread_create(ret_thread, &attr, thread_main, (void *)body);
	pthread_attr_destroy(&attr);
	if (!err) {
		pthread_setname_np(*ret_thread, name);
		atomic_fetch_add_explicit(&started, 1, memory_order_relaxed);
	}
	return -err;
}

bool cuprobe_thread_wait(sem_t *sem, __u64 timeout_ns)
{
	__u64 at = cuprobe_clock_now() + timeout_ns;
	struct timespec deadline = {.tv_sec = (time_t)(at / 1000000000),
				    .tv_nsec = (long)(at % 1000000000)};
	int err;

	do {
		err = sem_clockwait(sem, CLOCK_MONOTONIC, &deadline);
	} while (err && errno == EINTR);
	return !err;
}

bool cuprobe_thread_join(pthread_t thread, __u64 timeout_ns)
{
	const struct timespec step = {.tv_nsec = 500000};
	__u64 deadline_ns = cuprobe_clock_now() + timeout_ns;

	while (pthread_tryjoin_np(thread, NULL)) {
		if (cuprobe_clock_now() >= deadline_ns)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}
