/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_buffer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/inject/clock.h"
#include "src/inject/env.h"
#include "src/inject/ledger.h"
#include "src/inject/memory.h"

#define THREADS 2048u
#define PAGE_BYTES 4096u
#define PRESENT_BYTES ((size_t)2 << 20) /* of the pool, in memory from the start */
#define CHUNKS_A_TURN 16u		/* of one thread, before the next has its turn */

_Static_assert(CUPROBE_NVTX_TEXT_BYTES + sizeof(struct nvtx_chunk) + sizeof(struct nvtx_slot) <=
		       CUPROBE_NVTX_CHUNK_BYTES,
	       "the longest text fits into an empty chunk");

enum nvtx_thread_state {
	THREAD_FREE,
	THREAD_LIVE,
	THREAD_ENDED,
};

/*
 * A lock-free store of the numbers 0 .. size-1. Numbers never given out before come from `fresh`,
 * those that were given back from a stack whose head carries a tag against ABA.
 */
struct numbers {
	atomic_uint fresh;
	__u32 size;
	_Atomic __u64 head; /* tag << 32 | number + 1; 0: empty */
	__u32 *next;
};

static struct {
	char *memory; /* chunks: the first one of each thread, then those of the pool */
	struct nvtx_thread *threads;
	struct numbers free_chunks, free_threads;
	pthread_key_t key;
	atomic_uint serial; /* upper half of range ids */
	bool ready;
} pool;

__thread struct nvtx_thread *cuprobe_nvtx_self;

/* One that was given back; false when there is none. */
static bool numbers_pop(struct numbers *n, __u32 *ret)
{
	__u64 head = atomic_load_explicit(&n->head, memory_order_acquire);

	while ((__u32)head) {
		__u64 below = (head >> 32 << 32) + (1ULL << 32) +
			      __atomic_load_n(&n->next[(__u32)head - 1], __ATOMIC_RELAXED);

		if (atomic_compare_exchange_weak_explicit(
			    &n->head, &head, below, memory_order_acquire, memory_order_acquire)) {
			*ret = (__u32)head - 1;
			return true;
		}
	}
	return false;
}

static int numbers_get(struct numbers *n, __u32 *ret)
{
	__u32 fresh;

	if (numbers_pop(n, ret))
		return 0;
	fresh = atomic_load_explicit(&n->fresh, memory_order_relaxed);
	while (fresh < n->size) {
		if (atomic_compare_exchange_weak_explicit(&n->fresh, &fresh, fresh + 1,
							  memory_order_relaxed,
							  memory_order_relaxed)) {
			*ret = fresh;
			return 0;
		}
	}
	return -ENOSPC;
}

static void numbers_put(struct numbers *n, __u32 number)
{
	__u64 head = atomic_load_explicit(&n->head, memory_order_relaxed);
	__u64 above;

	do {
		__atomic_store_n(&n->next[number], (__u32)head, __ATOMIC_RELAXED);
		above = (head >> 32 << 32) + (1ULL << 32) + number + 1;
	} while (!atomic_compare_exchange_weak_explicit(
		&n->head, &head, above, memory_order_release, memory_order_relaxed));
}

static struct nvtx_chunk *chunk_at(size_t number)
{
	return (void *)(pool.memory + number * CUPROBE_NVTX_CHUNK_BYTES);
}

static struct nvtx_chunk *chunk_clear(struct nvtx_chunk *c)
{
	atomic_store_explicit(&c->next, NULL, memory_order_relaxed);
	atomic_store_explicit(&c->count, 0, memory_order_relaxed);
	c->drained = 0;
	c->text_at = CUPROBE_NVTX_CHUNK_BYTES;
	return c;
}

/* NULL when the pool is empty. */
static struct nvtx_chunk *chunk_get(void)
{
	__u32 number;

	return numbers_get(&pool.free_chunks, &number) ? NULL
						       : chunk_clear(chunk_at(THREADS + number));
}

static void chunk_put(struct nvtx_chunk *c)
{
	size_t number = (size_t)((char *)c - pool.memory) / CUPROBE_NVTX_CHUNK_BYTES;

	if (number >= THREADS)
		numbers_put(&pool.free_chunks, (__u32)(number - THREADS));
}

static void thread_ended(void *arg)
{
	struct nvtx_thread *t = arg;

	cuprobe_nvtx_self = NULL;
	t->ended_ns = t->open ? cuprobe_clock_now() : 0;
	atomic_store_explicit(&t->state, THREAD_ENDED, memory_order_release);
}

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int cuprobe_nvtx_buffer_init(void)
{
	static __u32 next_thread[THREADS];
	size_t chunks = ((size_t)cuprobe_env.pool_mb << 20) / CUPROBE_NVTX_CHUNK_BYTES;
	__u32 *next_chunk;

	if (pool.ready)
		return 0;
	if (pthread_key_create(&pool.key, thread_ended))
		return -EAGAIN;
	next_chunk = reserve(chunks * sizeof(*next_chunk));
	pool.memory = reserve((THREADS + chunks) * CUPROBE_NVTX_CHUNK_BYTES);
	pool.threads = reserve(THREADS * sizeof(*pool.threads));
	if (!next_chunk || !pool.memory || !pool.threads) {
		cuprobe_memory_free(next_chunk, chunks * sizeof(*next_chunk));
		cuprobe_memory_free(pool.memory, (THREADS + chunks) * CUPROBE_NVTX_CHUNK_BYTES);
		cuprobe_memory_free(pool.threads, THREADS * sizeof(*pool.threads));
		pthread_key_delete(pool.key);
		return -ENOMEM;
	}
	for (size_t at = 0; at < PRESENT_BYTES && at < chunks * CUPROBE_NVTX_CHUNK_BYTES;
	     at += PAGE_BYTES)
		((volatile char *)chunk_at(THREADS))[at] = 0;
	pool.free_chunks = (struct numbers){.size = (__u32)chunks, .next = next_chunk};
	pool.free_threads = (struct numbers){.size = THREADS, .next = next_thread};
	pool.ready = true;
	return 0;
}

void cuprobe_nvtx_buffer_trim(void)
{
	__u32 number, kept = 0; /* numbers + 1 */

	while (pool.ready && numbers_pop(&pool.free_chunks, &number)) {
		madvise(chunk_at(THREADS + number), CUPROBE_NVTX_CHUNK_BYTES, MADV_DONTNEED);
		pool.free_chunks.next[number] = kept;
		kept = number + 1;
	}
	while (kept) {
		number = kept - 1;
		kept = pool.free_chunks.next[number];
		numbers_put(&pool.free_chunks, number);
	}
}

static void thread_new_ranges(struct nvtx_thread *t)
{
	__u64 serial = atomic_fetch_add_explicit(&pool.serial, 1, memory_order_relaxed) + 1ULL;

	t->next_range = serial << 32;
}

static struct nvtx_thread *thread_make(void)
{
	struct nvtx_thread *t;
	__u32 number;

	if (numbers_get(&pool.free_threads, &number))
		return NULL;
	t = &pool.threads[number];
	if (pthread_setspecific(pool.key, t)) {
		numbers_put(&pool.free_threads, number);
		return NULL;
	}
	t->chunk = chunk_clear(chunk_at(number));
	t->first = t->chunk;
	t->tid = (__u32)syscall(SYS_gettid);
	t->session = 0;
	t->open = 0;
	t->ended_ns = 0;
	thread_new_ranges(t);
	atomic_store_explicit(&t->state, THREAD_LIVE, memory_order_release);
	cuprobe_nvtx_self = t;
	return t;
}

struct nvtx_thread *cuprobe_nvtx_thread_ready(__u32 session)
{
	struct nvtx_thread *t = cuprobe_nvtx_self ? cuprobe_nvtx_self : thread_make();

	if (!t) {
		cuprobe_ledger_lose(CUPROBE_PROBE_nvtx, 1);
		return NULL;
	}
	if (t->session != session) {
		memset(t->level, 0, sizeof(t->level));
		t->open = 0;
		t->session = session;
	}
	if ((__u32)t->next_range == CUPROBE_NVTX_LAST_RANGE)
		thread_new_ranges(t);
	return t;
}

bool cuprobe_nvtx_chunk_next(struct nvtx_thread *t)
{
	struct nvtx_chunk *c = chunk_get();

	if (!c) {
		cuprobe_ledger_lose(CUPROBE_PROBE_nvtx, 1);
		return false;
	}
	atomic_store_explicit(&t->chunk->next, c, memory_order_release);
	t->chunk = c;
	return true;
}

static void chunk_drain(struct nvtx_chunk *c,
			void (*each)(const struct nvtx_slot *slot, const char *chunk))
{
	__u32 count = atomic_load_explicit(&c->count, memory_order_acquire);

	while (c->drained < count)
		each(&c->slots[c->drained++], (char *)c);
}

/* True when the thread has more. */
static bool thread_drain(struct nvtx_thread *t,
			 void (*each)(const struct nvtx_slot *slot, const char *chunk))
{
	for (unsigned int i = 0; i < CHUNKS_A_TURN; i++) {
		/* Looked at before the count, which is final once there is a next. */
		struct nvtx_chunk *next =
			atomic_load_explicit(&t->first->next, memory_order_acquire);

		chunk_drain(t->first, each);
		if (!next)
			return false;
		chunk_put(t->first);
		t->first = next;
	}
	return true;
}

static void thread_bury(struct nvtx_thread *t,
			void (*each)(const struct nvtx_slot *slot, const char *chunk))
{
	struct nvtx_slot end = {
		.record = {.time_ns = t->ended_ns,
			   .thread = t->tid,
			   .kind = CUPROBE_NVTX_THREAD_END},
	};

	if (t->ended_ns)
		each(&end, NULL);
	chunk_put(t->first);
	atomic_store_explicit(&t->state, THREAD_FREE, memory_order_relaxed);
	numbers_put(&pool.free_threads, (__u32)(t - pool.threads));
}

bool cuprobe_nvtx_buffer_drain(void (*each)(const struct nvtx_slot *slot, const char *chunk))
{
	__u32 count = pool.ready ? atomic_load(&pool.free_threads.fresh) : 0;
	bool more = false;

	for (__u32 i = 0; i < count; i++) {
		struct nvtx_thread *t = &pool.threads[i];
		unsigned int state = atomic_load_explicit(&t->state, memory_order_acquire);

		if (state == THREAD_FREE)
			continue;
		if (thread_drain(t, each))
			more = true;
		else if (state == THREAD_ENDED)
			thread_bury(t, each);
	}
	return more;
}
