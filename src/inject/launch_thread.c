/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/launch_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/inject/clock.h"
#include "src/inject/ledger.h"
#include "src/inject/pump.h"

#define THREADS 2048u

static struct launch_thread *_Atomic threads[THREADS]; /* release pairs with acquire */
static atomic_uint thread_count;
static pthread_key_t key;
static bool ready;
static __thread struct launch_thread *self;

static void thread_ended(void *arg)
{
	struct launch_thread *t = arg;

	self = NULL;
	cuprobe_launch_release(t);
	atomic_store_explicit(&t->state, LAUNCH_THREAD_ENDED, memory_order_release);
}

int cuprobe_launch_threads_init(void)
{
	if (!ready && pthread_key_create(&key, thread_ended))
		return -EAGAIN;
	ready = true;
	return 0;
}

/* One that an ended thread has left. */
static struct launch_thread *thread_reuse(void)
{
	__u32 count = atomic_load_explicit(&thread_count, memory_order_relaxed);

	for (__u32 i = 0; i < count && i < THREADS; i++) {
		struct launch_thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
		unsigned int free = LAUNCH_THREAD_FREE;

		if (t && atomic_compare_exchange_strong_explicit(
				 &t->state, &free, LAUNCH_THREAD_LIVE, memory_order_acquire,
				 memory_order_relaxed))
			return t;
	}
	return NULL;
}

static struct launch_thread *thread_new(void)
{
	struct launch_thread *t;
	__u32 number;

	if (atomic_load_explicit(&thread_count, memory_order_relaxed) >= THREADS)
		return NULL;
	t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	number = atomic_fetch_add_explicit(&thread_count, 1, memory_order_relaxed);
	if (number >= THREADS) {
		munmap(t, sizeof(*t));
		return NULL;
	}
	atomic_store_explicit(&threads[number], t, memory_order_release);
	return t;
}

static struct launch_thread *thread_make(void)
{
	struct launch_thread *t = thread_reuse();

	if (!t)
		t = thread_new();
	if (!t || pthread_setspecific(key, t)) {
		if (t)
			atomic_store_explicit(&t->state, LAUNCH_THREAD_FREE, memory_order_release);
		return NULL;
	}
	t->tid = (__u32)syscall(SYS_gettid);
	t->session = 0;
	cuprobe_unwind_init(&t->stacks.unwinding);
	cuprobe_budget_begin(&t->budget, cuprobe_clock_now(), (__u64)t->tid << 32 | t->tid);
	self = t;
	return t;
}

struct launch_thread *cuprobe_launch_thread_mine(void)
{
	return self;
}

struct launch_thread *cuprobe_launch_thread(void)
{
	return self ? self : thread_make();
}

struct launch_slot *cuprobe_launch_hold(struct launch_thread *t)
{
	__u32 at, used;

	cuprobe_launch_release(t);
	at = atomic_load_explicit(&t->written, memory_order_relaxed);
	used = at - atomic_load_explicit(&t->read, memory_order_acquire);
	if (used == CUPROBE_LAUNCH_RING / 2)
		cuprobe_pump_wake();
	if (used >= CUPROBE_LAUNCH_RING) {
		cuprobe_ledger_lose(CUPROBE_PROBE_launch, 1);
		return NULL;
	}
	t->holds = true;
	return &t->ring[at % CUPROBE_LAUNCH_RING];
}

static void thread_drain(struct launch_thread *t, void (*each)(const struct launch_slot *slot))
{
	/* Looked at before what it has written, which is final once it has ended. */
	unsigned int state = atomic_load_explicit(&t->state, memory_order_acquire);
	__u32 written = atomic_load_explicit(&t->written, memory_order_acquire);
	__u32 read = atomic_load_explicit(&t->read, memory_order_relaxed);

	for (; read != written; read++)
		each(&t->ring[read % CUPROBE_LAUNCH_RING]);
	atomic_store_explicit(&t->read, read, memory_order_release);
	if (state == LAUNCH_THREAD_ENDED)
		atomic_store_explicit(&t->state, LAUNCH_THREAD_FREE, memory_order_release);
}

void cuprobe_launch_threads_drain(void (*each)(const struct launch_slot *slot))
{
	__u32 count = atomic_load_explicit(&thread_count, memory_order_relaxed);

	for (__u32 i = 0; i < count && i < THREADS; i++) {
		struct launch_thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);

		if (t)
			thread_drain(t, each);
	}
}
