/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where application threads put their NVTX events, and where the pump takes them from: for each
 * thread a chain of chunks of fixed size out of one pool, written by the thread alone and read by
 * the pump alone, so that neither ever waits for the other. A thread that finds the pool empty
 * loses the event and counts it in the ledger.
 */
#ifndef CUPROBE_INJECT_NVTX_BUFFER_H
#define CUPROBE_INJECT_NVTX_BUFFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "cuprobe/abi.h"

#define CUPROBE_NVTX_DOMAINS 1024     /* distinct names; further domains are the default one */
#define CUPROBE_NVTX_TEXT_BYTES 14000 /* longest message; what is longer is cut */

/* An event as the thread leaves it: text that has no string id yet lies in the same chunk. */
struct nvtx_slot {
	struct cuprobe_nvtx record;
	__u16 message_at, message_bytes;
	__u16 payload_at, payload_bytes;
};

#define CUPROBE_NVTX_LAST_RANGE 0xffffffffu /* lower half of a range id */
#define CUPROBE_NVTX_CHUNK_BYTES 16384u

struct nvtx_chunk {
	struct nvtx_chunk *_Atomic next; /* set by the thread when it goes on to another chunk */
	atomic_uint count;		 /* published; release pairs with the pump's acquire */
	__u32 text_at;			 /* the thread's: text is taken from here downwards */
	__u32 drained;			 /* the pump's */
	struct nvtx_slot slots[];
};

/* Fields belong to the thread unless they say something else. */
struct nvtx_thread {
	__u32 tid;
	__u32 session; /* the one that `level` counts in */
	__u32 open;    /* pushed and not popped, in all domains */
	__u64 next_range;
	__u64 ended_ns; /* 0 unless ranges were left open */
	struct nvtx_chunk *chunk;
	struct nvtx_chunk *first; /* the pump's */
	atomic_uint state; /* enum nvtx_thread_state; release pairs with the pump's acquire */
	__u32 level[CUPROBE_NVTX_DOMAINS]; /* open ranges in each domain */
};

/* Reserves address space for the pool (CUPROBE_POOL_MB), once; most becomes resident with use. */
int cuprobe_nvtx_buffer_init(void);
/* Gives the memory of chunks that are not in use back to the kernel. */
void cuprobe_nvtx_buffer_trim(void);

/* The calling thread's, if it has one. */
extern __thread struct nvtx_thread *cuprobe_nvtx_self;

/* The same, made if need be and ready for the session; NULL, and counted, if there is no room. */
struct nvtx_thread *cuprobe_nvtx_thread_ready(__u32 session);

/*
 * The calling thread's, made at its first event. `session` is the number of the current one: levels
 * of an older one are forgotten.
 */
static inline struct nvtx_thread *cuprobe_nvtx_thread(__u32 session)
{
	struct nvtx_thread *t = cuprobe_nvtx_self;

	if (t && t->session == session && (__u32)t->next_range != CUPROBE_NVTX_LAST_RANGE)
		return t;
	return cuprobe_nvtx_thread_ready(session);
}

/* Goes on to a fresh chunk. False, and counted, when the pool is empty. */
bool cuprobe_nvtx_chunk_next(struct nvtx_thread *t);

static inline bool cuprobe_nvtx_chunk_holds(const struct nvtx_chunk *c, size_t text)
{
	size_t count = atomic_load_explicit(&c->count, memory_order_relaxed);

	return sizeof(*c) + (count + 1) * sizeof(c->slots[0]) + text <= c->text_at;
}

/*
 * Room for one event with `text` bytes of text (at most CUPROBE_NVTX_TEXT_BYTES): zeroed but for
 * the thread id. NULL, and counted, when the pool is empty.
 */
static inline struct nvtx_slot *cuprobe_nvtx_slot(struct nvtx_thread *t, size_t text)
{
	struct nvtx_slot *slot;

	if (!cuprobe_nvtx_chunk_holds(t->chunk, text) && !cuprobe_nvtx_chunk_next(t))
		return NULL;
	slot = &t->chunk->slots[atomic_load_explicit(&t->chunk->count, memory_order_relaxed)];
	*slot = (struct nvtx_slot){.record.thread = t->tid};
	return slot;
}

/* Takes `bytes` of the text that the slot was asked for; writes where it lies. */
static inline char *cuprobe_nvtx_slot_text(struct nvtx_thread *t, size_t bytes, __u16 *ret_at)
{
	t->chunk->text_at -= (__u32)bytes;
	*ret_at = (__u16)t->chunk->text_at;
	return (char *)t->chunk + t->chunk->text_at;
}

/* Gives the slot to the pump. */
static inline void cuprobe_nvtx_slot_publish(struct nvtx_thread *t)
{
	__u32 count = atomic_load_explicit(&t->chunk->count, memory_order_relaxed);

	atomic_store_explicit(&t->chunk->count, count + 1, memory_order_release);
}

/*
 * The pump's side. Calls `each` for every event published so far, thread by thread, in order; for
 * a thread that ended with ranges open an event of kind THREAD_END follows. `chunk` is what text
 * offsets count from. Chunks that are done go back to the pool. True when there is more: call
 * again.
 */
bool cuprobe_nvtx_buffer_drain(void (*each)(const struct nvtx_slot *slot, const char *chunk));

#endif
