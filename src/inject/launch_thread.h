/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread that launches has of its own: a ring that it alone writes and the pump alone reads,
 * and what walks of its stack and their budget remember. A thread that finds its ring full loses
 * the record and counts it.
 */
#ifndef CUPROBE_INJECT_LAUNCH_THREAD_H
#define CUPROBE_INJECT_LAUNCH_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "cuprobe/abi.h"
#include "src/inject/budget.h"
#include "src/inject/stacks.h"

#define CUPROBE_LAUNCH_RING 8192u /* records: 10 ms at 800 000 a second */

struct launch_slot {
	struct cuprobe_launch record;
	__u64 original; /* the node that the record's is a copy of: its stack is that one's; or 0 */
};

enum launch_thread_state {
	LAUNCH_THREAD_LIVE,
	LAUNCH_THREAD_ENDED, /* release pairs with the pump's acquire */
	LAUNCH_THREAD_FREE,
};

struct launch_thread {
	atomic_uint state;
	atomic_uint written; /* release pairs with the pump's acquire */
	atomic_uint read;    /* the pump's; release pairs with the thread's acquire */
	/* The rest is the thread's alone. */
	__u32 tid;
	__u32 session, correlation; /* of the last call */
	bool holds;		    /* the record at `written` is complete and may still change */
	struct cuprobe_budget budget;
	struct launch_slot ring[CUPROBE_LAUNCH_RING];
	struct cuprobe_stacks_thread stacks;
};

/* Once. 0 or -errno. */
int cuprobe_launch_threads_init(void);

/* The calling thread's, made if need be; NULL, for the caller to count, when there is no room. */
struct launch_thread *cuprobe_launch_thread(void);

/* The same, or NULL when there is none yet. */
struct launch_thread *cuprobe_launch_thread_mine(void);

/* Room for a record; NULL, and counted, when the ring is full. An older one that is held goes out.
 */
struct launch_slot *cuprobe_launch_hold(struct launch_thread *t);

/* The record that is held, or NULL. */
static inline struct launch_slot *cuprobe_launch_held(struct launch_thread *t)
{
	__u32 at = atomic_load_explicit(&t->written, memory_order_relaxed);

	return t->holds ? &t->ring[at % CUPROBE_LAUNCH_RING] : NULL;
}

/* Gives the record that is held, if any, to the pump. */
static inline void cuprobe_launch_release(struct launch_thread *t)
{
	__u32 at = atomic_load_explicit(&t->written, memory_order_relaxed);

	if (t->holds)
		atomic_store_explicit(&t->written, at + 1, memory_order_release);
	t->holds = false;
}

/* The pump's side: calls `each` for every record, thread by thread, in order. */
void cuprobe_launch_threads_drain(void (*each)(const struct launch_slot *slot));

#endif
