/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread bool inside;

/*
 * Holds 1 in the process that loaded us and 0 in its children. The page is wiped by the kernel in a
 * child however it was made, so that no callback needs getpid(); the atfork handler does the same
 * on kernels before 4.14, for children made by fork().
 */
static atomic_int *alive;
static atomic_int alive_fallback;

static void child_after_fork(void)
{
	atomic_store_explicit(alive, 0, memory_order_relaxed);
}

void cuprobe_guard_init(void)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	alive = page == MAP_FAILED ? &alive_fallback : page;
	if (page != MAP_FAILED)
		madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK);
	atomic_store_explicit(alive, 1, memory_order_relaxed);
	pthread_atfork(NULL, NULL, child_after_fork);
}

bool cuprobe_guard_alive(void)
{
	return alive && atomic_load_explicit(alive, memory_order_relaxed);
}

bool cuprobe_guard_enter(struct cuprobe_guard *guard)
{
	if (inside || !cuprobe_guard_alive())
		return false;
	inside = true;
	guard->saved_errno = errno;
	return true;
}

void cuprobe_guard_leave(const struct cuprobe_guard *guard)
{
	errno = guard->saved_errno;
	inside = false;
}
