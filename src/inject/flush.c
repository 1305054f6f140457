/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/flush.h"

#include <stdatomic.h>

#include "src/inject/cupti_api.h"
#include "src/inject/cupti_buffers.h"
#include "src/inject/cupti_gate.h"
#include "src/inject/env.h"
#include "src/inject/thread.h"

#define FOREVER_NS 3600000000000ull

static pthread_t thread;
static atomic_bool started, stopping;
static sem_t wake;
static atomic_bool periodic, force_next;
/* A flush is done when `done` has reached the number that `asked` had; both only grow. */
static atomic_uint asked, done;

static void flush_once(void)
{
	__u32 ticket = atomic_load_explicit(&asked, memory_order_acquire);
	bool forced = atomic_exchange_explicit(&force_next, false, memory_order_relaxed);

	if (cuprobe_gate_enter()) {
		cuprobe_buffers_tend();
		cuprobe_cupti.ActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
		cuprobe_gate_leave();
	}
	atomic_store_explicit(&done, ticket, memory_order_release);
}

static bool flush_due(bool woken)
{
	return atomic_load_explicit(&asked, memory_order_acquire) !=
		       atomic_load_explicit(&done, memory_order_relaxed) ||
	       (!woken && atomic_load_explicit(&periodic, memory_order_relaxed));
}

static void *flush_main(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
		bool on = atomic_load_explicit(&periodic, memory_order_relaxed);
		bool woken = cuprobe_thread_wait(&wake, on ? cuprobe_env.flush_ms * 1000000ull
							   : FOREVER_NS);

		if (flush_due(woken))
			flush_once();
	}
	return NULL;
}

int cuprobe_flush_start(void)
{
	int err;

	if (atomic_load_explicit(&started, memory_order_relaxed))
		return 0;
	sem_init(&wake, 0, 0);
	err = cuprobe_thread_start(&thread, "cuprobe-flush", flush_main);
	if (!err)
		atomic_store_explicit(&started, true, memory_order_release);
	return err;
}

static void flush_wake(void)
{
	if (atomic_load_explicit(&started, memory_order_acquire))
		sem_post(&wake);
}

bool cuprobe_flush_periodic(bool on)
{
	bool was = atomic_exchange_explicit(&periodic, on, memory_order_relaxed);

	if (was != on)
		flush_wake();
	return was;
}

__u32 cuprobe_flush_ask(bool forced)
{
	__u32 ticket;

	if (forced)
		atomic_store_explicit(&force_next, true, memory_order_relaxed);
	ticket = atomic_fetch_add_explicit(&asked, 1, memory_order_release) + 1;
	flush_wake();
	return ticket;
}

bool cuprobe_flush_done(__u32 ticket)
{
	return !atomic_load_explicit(&started, memory_order_relaxed) ||
	       (__s32)(atomic_load_explicit(&done, memory_order_acquire) - ticket) >= 0;
}

void cuprobe_flush_stop(__u64 timeout_ns)
{
	if (!atomic_load_explicit(&started, memory_order_relaxed))
		return;
	atomic_store_explicit(&stopping, true, memory_order_release);
	flush_wake();
	cuprobe_thread_join(thread, timeout_ns);
}
