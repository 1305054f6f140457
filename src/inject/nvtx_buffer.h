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

struct nvtx_chunk;

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

/* Reserves address space for the pool, once; nothing is resident before it is used. */
int cuprobe_nvtx_buffer_init(void);

/*
 * The calling thread's, made at its first event; NULL when there are too many threads. `session`
 * is the number of the current one: levels of an older one are forgotten.
 */
struct nvtx_thread *cuprobe_nvtx_thread(__u32 session);

/*
 * Room for one event with `text` bytes of text (at most CUPROBE_NVTX_TEXT_BYTES): zeroed but for
 * the thread id. NULL, and counted, when the pool is empty.
 */
struct nvtx_slot *cuprobe_nvtx_slot(struct nvtx_thread *t, size_t text);
/* Takes `bytes` of the text that the slot was asked for; writes where it lies. */
char *cuprobe_nvtx_slot_text(struct nvtx_thread *t, size_t bytes, __u16 *ret_at);
/* Gives the slot to the pump. */
void cuprobe_nvtx_slot_publish(struct nvtx_thread *t);

/*
 * The pump's side. Calls `each` for every event published so far, thread by thread, in order; for
 * a thread that ended with ranges open an event of kind THREAD_END follows. `chunk` is what text
 * offsets count from. Chunks that are done go back to the pool. True when there is more: call
 * again.
 */
bool cuprobe_nvtx_buffer_drain(void (*each)(const struct nvtx_slot *slot, const char *chunk));

#endif
