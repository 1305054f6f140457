/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/pool.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/inject/memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define WORD_BITS (8 * sizeof(unsigned long))

static size_t word_count(__u32 slots)
{
	return (slots + WORD_BITS - 1) / WORD_BITS;
}

static void *memory_reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int cuprobe_pool_init(struct cuprobe_pool *pool, size_t slot_bytes, __u32 slots)
{
	*pool = (struct cuprobe_pool){.slot_bytes = slot_bytes, .slots = slots, .life = 1};
	pool->memory = memory_reserve(slot_bytes * slots);
	pool->buffers = memory_reserve(sizeof(*pool->buffers) * slots);
	pool->free_bits = memory_reserve(sizeof(*pool->free_bits) * word_count(slots));
	if (!pool->memory || !pool->buffers || !pool->free_bits) {
		cuprobe_pool_done(pool);
		return -ENOMEM;
	}
	for (__u32 i = 0; i < slots; i++)
		pool->buffers[i].data = pool->memory + i * slot_bytes;
	return 0;
}

void cuprobe_pool_done(struct cuprobe_pool *pool)
{
	cuprobe_memory_free(pool->memory, pool->slot_bytes * pool->slots);
	cuprobe_memory_free(pool->buffers, sizeof(*pool->buffers) * pool->slots);
	cuprobe_memory_free(pool->free_bits, sizeof(*pool->free_bits) * word_count(pool->slots));
	*pool = (struct cuprobe_pool){0};
}

static void slot_touch(const struct cuprobe_pool *pool, __u32 slot)
{
	__u8 *data = pool->buffers[slot].data;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!madvise(data, pool->slot_bytes, MADV_POPULATE_WRITE))
		return;
	for (size_t at = 0; at < pool->slot_bytes; at += page)
		((volatile __u8 *)data)[at] = 0;
}

static void slot_free(struct cuprobe_pool *pool, __u32 slot)
{
	atomic_fetch_or_explicit(&pool->free_bits[slot / WORD_BITS], 1ul << slot % WORD_BITS,
				 memory_order_release);
	atomic_fetch_add_explicit(&pool->free_count, 1, memory_order_relaxed);
}

void cuprobe_pool_grow(struct cuprobe_pool *pool, __u32 count, bool touch)
{
	__u32 first = atomic_load_explicit(&pool->usable, memory_order_relaxed);

	if (count > pool->slots - first)
		count = pool->slots - first;
	for (__u32 slot = first; slot < first + count; slot++) {
		if (touch)
			slot_touch(pool, slot);
		slot_free(pool, slot);
	}
	atomic_store_explicit(&pool->usable, first + count, memory_order_relaxed);
}

static bool slot_withdraw(struct cuprobe_pool *pool, __u32 slot)
{
	unsigned long bit = 1ul << slot % WORD_BITS;

	if (!(atomic_fetch_and_explicit(&pool->free_bits[slot / WORD_BITS], ~bit,
					memory_order_acquire) &
	      bit))
		return false;
	atomic_fetch_sub_explicit(&pool->free_count, 1, memory_order_relaxed);
	return true;
}

static void pages_release(__u8 *from, __u8 *to)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	from += -(uintptr_t)from % page;
	if (from < to)
		madvise(from, (size_t)(to - from), MADV_DONTNEED);
}

void cuprobe_pool_shrink(struct cuprobe_pool *pool)
{
	__u32 before = atomic_load_explicit(&pool->usable, memory_order_relaxed), left = before;

	while (left && slot_withdraw(pool, left - 1))
		left--;
	atomic_store_explicit(&pool->usable, left, memory_order_relaxed);
	pages_release(pool->memory + left * pool->slot_bytes,
		      pool->memory + before * pool->slot_bytes);
}

struct cuprobe_buffer *cuprobe_pool_get(struct cuprobe_pool *pool)
{
	for (size_t word = 0; word < word_count(pool->slots); word++) {
		unsigned long bits =
			atomic_load_explicit(&pool->free_bits[word], memory_order_relaxed);

		while (bits) {
			unsigned long lowest = bits & -bits;
			struct cuprobe_buffer *buffer;

			if (!atomic_compare_exchange_weak_explicit(
				    &pool->free_bits[word], &bits, bits & ~lowest,
				    memory_order_acquire, memory_order_relaxed))
				continue;
			buffer = &pool->buffers[word * WORD_BITS +
						(unsigned int)__builtin_ctzl(lowest)];
			atomic_fetch_sub_explicit(&pool->free_count, 1, memory_order_relaxed);
			atomic_fetch_add_explicit(&pool->held_count, 1, memory_order_relaxed);
			atomic_store_explicit(
				&buffer->held,
				atomic_load_explicit(&pool->life, memory_order_relaxed),
				memory_order_release);
			return buffer;
		}
	}
	return NULL;
}

struct cuprobe_buffer *cuprobe_pool_complete(struct cuprobe_pool *pool, const __u8 *data)
{
	struct cuprobe_buffer *buffer;
	size_t offset;
	__u32 life;

	if (!pool->memory || data < pool->memory)
		return NULL;
	offset = (size_t)(data - pool->memory);
	if (offset >= pool->slot_bytes * pool->slots || offset % pool->slot_bytes)
		return NULL;
	buffer = &pool->buffers[offset / pool->slot_bytes];
	life = atomic_exchange_explicit(&buffer->held, 0, memory_order_acq_rel);
	if (!life)
		return NULL;
	if (life == atomic_load_explicit(&pool->life, memory_order_relaxed))
		atomic_fetch_sub_explicit(&pool->held_count, 1, memory_order_relaxed);
	return buffer;
}

void cuprobe_pool_put(struct cuprobe_pool *pool, struct cuprobe_buffer *buffer)
{
	slot_free(pool, (__u32)(buffer - pool->buffers));
}

__u32 cuprobe_pool_written(const struct cuprobe_pool *pool, __u32 life)
{
	__u32 usable = atomic_load_explicit(&pool->usable, memory_order_relaxed), written = 0;

	for (__u32 slot = 0; slot < usable; slot++) {
		const struct cuprobe_buffer *buffer = &pool->buffers[slot];

		written += atomic_load_explicit(&buffer->held, memory_order_acquire) == life &&
			   __atomic_load_n((const __u32 *)(const void *)buffer->data,
					   __ATOMIC_RELAXED);
	}
	return written;
}

__u32 cuprobe_pool_retire(struct cuprobe_pool *pool)
{
	atomic_store_explicit(&pool->held_count, 0, memory_order_relaxed);
	return atomic_fetch_add_explicit(&pool->life, 1, memory_order_relaxed);
}

void cuprobe_pool_reclaim(struct cuprobe_pool *pool, __u32 life)
{
	for (__u32 slot = 0; slot < pool->slots; slot++) {
		__u32 held = atomic_load_explicit(&pool->buffers[slot].held, memory_order_relaxed);

		if (held && held <= life &&
		    atomic_compare_exchange_strong_explicit(&pool->buffers[slot].held, &held, 0,
							    memory_order_acq_rel,
							    memory_order_relaxed))
			slot_free(pool, slot);
	}
}
