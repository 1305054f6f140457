/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_pc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "src/inject/clock.h"
#include "src/inject/cupti_gate.h"
#include "src/inject/cupti_pc_contexts.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/notice.h"
#include "src/inject/thread.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define FOREVER (3600 * SECOND)
#define SAMPLES_MOST 1000000ull /* of one window, so that nothing overflows */
#define PAUSE_MOST_NS (10 * SECOND)
#define WINDOW_RETRY_NS (20 * MS)
#define DRAIN_NS (100 * MS)
#define CALLBACK_PATIENCE_NS (2 * SECOND) /* the program waits no longer */

/*
 * Protects the contexts and `on`, and is held for every call of CUPTI's PC sampling. Taken by the
 * control thread, the sampling thread, and application threads that create or destroy contexts;
 * notices are put under it.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool on; /* contexts are to be sampled */

/* The thread that fetches. */
static pthread_t thread;
static atomic_bool started, stopping;
static sem_t wake;

static void step_wait(void)
{
	const struct timespec step = {.tv_nsec = 200000};

	nanosleep(&step, NULL);
}

static bool lock_until(__u64 deadline_ns)
{
	while (pthread_mutex_trylock(&lock)) {
		if (cuprobe_clock_now() >= deadline_ns)
			return false;
		step_wait();
	}
	return true;
}

/*
 * How long no window is open: as the settings say, or so long that with as many samples as the last
 * windows gave their rate is what parcagpu's consumers want.
 */
static __u64 pause_for(__u64 window_ns, __u64 every_ns)
{
	__u64 samples = cuprobe_pc_contexts_measured(), rate = cuprobe_env.parca_pc_rate;

	if (samples > SAMPLES_MOST)
		samples = SAMPLES_MOST;
	if (samples && rate && rate != CUPROBE_RATE_UNSET) {
		every_ns = samples * 1000 * SECOND / rate;
		every_ns = every_ns < PAUSE_MOST_NS ? every_ns : PAUSE_MOST_NS;
	}
	return every_ns > window_ns ? every_ns - window_ns : MS;
}

/* Whatever happens meanwhile: a window that was opened is closed when its time is over. */
static __u64 window_turn(void)
{
	static bool open;
	__u64 window_ns = cuprobe_env.pc_window_ms * MS, every_ns = cuprobe_env.pc_every_ms * MS;

	if (!cuprobe_pc_contexts_window(!open && on))
		return WINDOW_RETRY_NS;
	open = !open && on;
	return open ? window_ns : pause_for(window_ns, every_ns);
}

static __u64 sampling_turn(void)
{
	struct cuprobe_guard guard;
	__u64 pause_ns = FOREVER;

	if (!cuprobe_guard_enter(&guard))
		return pause_ns;
	pthread_mutex_lock(&lock);
	if (on && cuprobe_gate_enter()) {
		pause_ns = DRAIN_NS;
		if (cuprobe_env.pc_mode == CUPROBE_PC_SETTING_SERIALIZED)
			pause_ns = window_turn();
		cuprobe_pc_contexts_drain();
		cuprobe_gate_leave();
	}
	pthread_mutex_unlock(&lock);
	cuprobe_guard_leave(&guard);
	return pause_ns;
}

static void *sampling_main(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&stopping, memory_order_acquire))
		cuprobe_thread_wait(&wake, sampling_turn());
	return NULL;
}

static bool thread_is_there(void)
{
	int err;

	if (atomic_load_explicit(&started, memory_order_relaxed))
		return true;
	sem_init(&wake, 0, 0);
	err = cuprobe_thread_start(&thread, "cuprobe-pc", sampling_main);
	if (err)
		cuprobe_notice_message(CUPROBE_ERROR, err, NULL,
				       "PC sampling is not to be had: no thread for it");
	else
		atomic_store_explicit(&started, true, memory_order_release);
	return !err;
}

/* Under the lock. */
static void sampling_begin(bool cuda_up)
{
	if (!thread_is_there() || !cuprobe_pc_contexts_begin())
		return;
	on = true;
	if (cuda_up)
		cuprobe_pc_contexts_look();
	sem_post(&wake);
}

bool cuprobe_pc_apply(bool wanted, bool cuda_up)
{
	static bool tried; /* a refusal holds until nobody wants it any more */
	struct cuprobe_guard guard;
	bool entered, is_on;

	if (!wanted && !tried)
		return false;
	entered = cuprobe_guard_enter(&guard); /* our calls of the driver are nobody's launches */
	pthread_mutex_lock(&lock);
	if (wanted && !tried)
		sampling_begin(cuda_up);
	else if (wanted && on)
		cuprobe_pc_contexts_retry();
	else if (!wanted && on)
		on = !cuprobe_pc_contexts_end();
	tried = wanted || on;
	is_on = on;
	pthread_mutex_unlock(&lock);
	if (entered)
		cuprobe_guard_leave(&guard);
	return is_on;
}

bool cuprobe_pc_is_stuck(void)
{
	bool is_stuck;

	pthread_mutex_lock(&lock);
	is_stuck = cuprobe_pc_contexts_stuck();
	pthread_mutex_unlock(&lock);
	return is_stuck;
}

void cuprobe_pc_finish(__u64 timeout_ns)
{
	__u64 deadline_ns = cuprobe_clock_now() + timeout_ns;

	if (!atomic_load_explicit(&started, memory_order_relaxed))
		return;
	atomic_store_explicit(&stopping, true, memory_order_release);
	sem_post(&wake);
	if (!cuprobe_thread_join(thread, timeout_ns / 2) || !lock_until(deadline_ns))
		return;
	if (on && cuprobe_gate_enter()) {
		cuprobe_pc_contexts_window(false);
		cuprobe_pc_contexts_drain();
		on = false;
		cuprobe_gate_leave();
	}
	pthread_mutex_unlock(&lock);
}

static void module_loaded(CUcontext context)
{
	__u64 deadline_ns = cuprobe_clock_now() + CALLBACK_PATIENCE_NS;
	__u32 load = cuprobe_pc_contexts_load();

	while (pthread_mutex_trylock(&lock)) {
		if (cuprobe_pc_contexts_load_is_seen(load) || cuprobe_clock_now() >= deadline_ns)
			return;
		step_wait();
	}
	if (on)
		cuprobe_pc_contexts_loaded(context);
	pthread_mutex_unlock(&lock);
}

static void context_changed(CUcontext context, bool created)
{
	if (!lock_until(cuprobe_clock_now() + CALLBACK_PATIENCE_NS))
		return;
	if (on && created) {
		cuprobe_pc_contexts_add(context);
		sem_post(&wake);
	} else if (on) {
		cuprobe_pc_contexts_remove(context);
	}
	pthread_mutex_unlock(&lock);
}

void cuprobe_pc_callback(CUpti_CallbackId cbid, const CUpti_ResourceData *data)
{
	switch (cbid) {
	case CUPTI_CBID_RESOURCE_MODULE_LOADED:
		module_loaded(data->context);
		break;
	case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
	case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
		context_changed(data->context, cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
		break;
	default:
		break;
	}
}
