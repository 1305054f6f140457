/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers that CUPTI fills. They are given out and taken back without a lock or an allocation,
 * because CUPTI asks for them on application threads. A buffer is free, held by CUPTI, or waiting
 * for the pump; only one that is held can be completed, so that nothing is parsed twice, and only
 * one that was completed can become free, so that nothing CUPTI still writes to is given out again.
 */
#ifndef CUPROBE_INJECT_POOL_H
#define CUPROBE_INJECT_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct cuprobe_buffer {
	struct cuprobe_buffer *next; /* in the queue to the pump */
	__u8 *data;
	size_t valid_bytes; /* set when CUPTI has completed it */
	atomic_uint held;   /* the life of CUPTI that has it; 0: none has */
};

struct cuprobe_pool {
	__u8 *memory;
	struct cuprobe_buffer *buffers;
	/* One bit for each free buffer; a set bit is taken with acquire, put back with release. */
	atomic_ulong *free_bits;
	size_t slot_bytes;
	__u32 slots;
	atomic_uint usable;	/* the first so many are in use or free */
	atomic_uint free_count; /* a hint for growing */
	atomic_uint life;	/* of CUPTI, from 1 */
	atomic_uint held_count; /* held by this life */
};

/* Reserves address space for `slots` buffers, none of them usable yet. 0 or -ENOMEM. */
int cuprobe_pool_init(struct cuprobe_pool *pool, size_t slot_bytes, __u32 slots);
void cuprobe_pool_done(struct cuprobe_pool *pool);

/* Makes up to `count` more buffers usable, with their pages present if `touch`. One thread at a
 * time. */
void cuprobe_pool_grow(struct cuprobe_pool *pool, __u32 count, bool touch);

/*
 * Makes buffers unusable and gives their memory back, from the last one down to one that is not
 * free. One thread at a time, as for growing.
 */
void cuprobe_pool_shrink(struct cuprobe_pool *pool);

/* A buffer for CUPTI, or NULL when none is free. Lock-free. */
struct cuprobe_buffer *cuprobe_pool_get(struct cuprobe_pool *pool);

/* The buffer at `data` if CUPTI holds it, which from now on it does not; else NULL. Lock-free. */
struct cuprobe_buffer *cuprobe_pool_complete(struct cuprobe_pool *pool, const __u8 *data);

/* Frees a buffer that was completed. Lock-free. */
void cuprobe_pool_put(struct cuprobe_pool *pool, struct cuprobe_buffer *buffer);

/*
 * How many of the buffers held since the life of that number have been written to, by their first
 * word, which has to be 0 when they are given out.
 */
__u32 cuprobe_pool_written(const struct cuprobe_pool *pool, __u32 life);

/* CUPTI has been finalised: what it holds now it may never give back. Returns the life that ended.
 */
__u32 cuprobe_pool_retire(struct cuprobe_pool *pool);

/* Frees what CUPTI kept in its lives up to `life`; to be called long after, in case it comes late.
 */
void cuprobe_pool_reclaim(struct cuprobe_pool *pool, __u32 life);

#endif
