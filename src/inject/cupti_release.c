/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_release.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "src/inject/clock.h"
#include "src/inject/control.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_buffers.h"
#include "src/inject/cupti_calls.h"
#include "src/inject/cupti_gate.h"
#include "src/inject/cupti_kinds.h"
#include "src/inject/env.h"
#include "src/inject/notice.h"

#define VERSION_12_0 19u /* cuptiGetVersion() of the first that is known to finalise safely */

/*
 * How CUPTI is given back. Unsubscribing harms nobody, but afterwards each node of a CUDA graph
 * takes 5 % longer; only cuptiFinalize() gives the speed back. Seen with CUPTI 13.0 on an H200:
 *
 * - With every kind off and no graph in play it is harmless, with eight threads launching.
 * - A graph that was launched while kernels or copies were traced holds on to CUPTI's memory. When
 *   the kinds are still on cuptiFinalize() lets go of it; when they were switched off before, the
 *   next launch of that graph fails. With GRAPH_TRACE it fails either way.
 * - With kinds on, a second thread inside a CUDA call meanwhile corrupts the heap.
 * - When callbacks were switched off during a call, as unsubscribing does, it corrupts the heap.
 *
 * So a process with graphs is finalised with its kinds on, and only when one thread alone has been
 * seen to use CUDA, for WATCH_NS of calls; else it is only unsubscribed. A call that lasts longer
 * than that is seen when it begins while CUPTI is used.
 */
#define WATCH_NS 1000000000ull
static atomic_bool graphs;	      /* the process uses graphs; set on its threads */
static _Atomic pthread_t only_caller; /* the first that was seen; 0 none */
static atomic_bool several_callers;
static _Atomic __u64 watched_until_ns; /* 0: no call was seen since the release began */

/* The release under way; the control thread's. */
static bool finalizing;
static enum cuprobe_gate_arming arming;

/* Set by the application's thread when cuptiFinalize() has returned; read by the control thread. */
static atomic_bool finalized;
static CUptiResult finalize_result; /* released by `finalized` */

static CUpti_SubscriberHandle subscriber;
static bool unsubscribed; /* callbacks went off at any moment: see cupti_calls.h */

static void caller_note(void)
{
	pthread_t self = pthread_self();
	pthread_t only = atomic_load_explicit(&only_caller, memory_order_relaxed);

	if (!only && atomic_compare_exchange_strong_explicit(
			     &only_caller, &only, self, memory_order_relaxed, memory_order_relaxed))
		return;
	if (!pthread_equal(only, self) &&
	    !atomic_load_explicit(&several_callers, memory_order_relaxed))
		atomic_store_explicit(&several_callers, true, memory_order_relaxed);
}

static bool callers_are_watched(void)
{
	__u64 now = cuprobe_clock_now(), none = 0;

	atomic_compare_exchange_strong_explicit(&watched_until_ns, &none, now + WATCH_NS,
						memory_order_relaxed, memory_order_relaxed);
	return none && now >= none && !atomic_load_explicit(&several_callers, memory_order_relaxed);
}

/*
 * A release with graphs in play waits until it is sure; one without goes ahead. The gate closes
 * only for the release that was looked at, not for one that came in its place meanwhile.
 */
static bool finalize_is_due(void)
{
	enum cuprobe_gate_arming armed = cuprobe_gate_armed();

	return armed != CUPROBE_GATE_UNARMED &&
	       (armed != CUPROBE_GATE_FOR_ONE || callers_are_watched()) &&
	       cuprobe_gate_close(armed);
}

void cuprobe_release_finalize(void)
{
	int saved_errno = errno;

	finalize_result = cuprobe_cupti.Finalize();
	if (finalize_result == CUPTI_SUCCESS)
		cuprobe_buffers_retire();
	atomic_store_explicit(&finalized, true, memory_order_release);
	cuprobe_control_wake();
	errno = saved_errno;
}

/* NVIDIA documents the exit of an API call as the safe place for cuptiFinalize(). */
bool cuprobe_release_call(const CUpti_CallbackData *call, bool uses_graph)
{
	if (uses_graph)
		atomic_store_explicit(&graphs, true, memory_order_relaxed);
	caller_note();
	return call->callbackSite == CUPTI_API_EXIT && finalize_is_due();
}

void cuprobe_release_prepare(CUpti_SubscriberHandle of)
{
	subscriber = of;
	atomic_store_explicit(&finalized, false, memory_order_relaxed);
	cuprobe_calls_begin(of);
}

static bool can_finalize(void)
{
	if (!cuprobe_cupti.Finalize || unsubscribed ||
	    cuprobe_env.release == CUPROBE_RELEASE_UNSUBSCRIBE)
		return false;
	return cuprobe_env.release == CUPROBE_RELEASE_FINALIZE ||
	       cuprobe_cupti_version >= VERSION_12_0;
}

static bool one_caller_will_do(void)
{
	return cuprobe_env.release == CUPROBE_RELEASE_FINALIZE ||
	       !atomic_load_explicit(&several_callers, memory_order_relaxed);
}

bool cuprobe_release_saw_graphs(void)
{
	return atomic_load_explicit(&graphs, memory_order_relaxed);
}

enum cuprobe_release_way cuprobe_release_way(void)
{
	if (!can_finalize())
		return CUPROBE_WAY_UNSUBSCRIBE;
	if (!cuprobe_release_saw_graphs() || !cuprobe_kinds_gpu_used())
		return CUPROBE_WAY_FINALIZE;
	if (one_caller_will_do() && !cuprobe_kinds_gpu_sticks())
		return CUPROBE_WAY_FINALIZE_KINDS_ON;
	cuprobe_notice_message(CUPROBE_NOTE, 0, NULL,
			       "CUPTI stays loaded, at about 5 %% more for each node of a CUDA "
			       "graph: giving it back now could break graphs in use");
	return CUPROBE_WAY_UNSUBSCRIBE;
}

/* What is shown for it stays so when the release is called off: so no more than is needed. */
static bool calls_are_shown(void)
{
	if (arming == CUPROBE_GATE_FOR_ONE)
		return cuprobe_calls_show_all() == CUPTI_SUCCESS;
	return cuprobe_calls_show(CUPROBE_CALL_ENQUEUES);
}

/* Callbacks are on before the gate is armed: from then on CUPTI may be gone at any moment. */
void cuprobe_release_begin(enum cuprobe_release_way way)
{
	arming = way == CUPROBE_WAY_FINALIZE_KINDS_ON &&
				 cuprobe_env.release != CUPROBE_RELEASE_FINALIZE
			 ? CUPROBE_GATE_FOR_ONE
			 : CUPROBE_GATE_FOR_ANY;
	atomic_store_explicit(&watched_until_ns, 0, memory_order_relaxed);
	finalizing = way != CUPROBE_WAY_UNSUBSCRIBE && calls_are_shown();
	if (finalizing)
		cuprobe_gate_arm(arming);
}

bool cuprobe_release_is_futile(void)
{
	return finalizing && arming == CUPROBE_GATE_FOR_ONE &&
	       atomic_load_explicit(&several_callers, memory_order_relaxed);
}

static void release_failed(const char *function, CUptiResult result)
{
	cuprobe_notice_message(CUPROBE_WARNING, (int)result, NULL,
			       "CUPTI may keep slowing the program: %s: %s", function,
			       cuprobe_cupti_result(result));
}

static void unsubscribe(void)
{
	CUptiResult result = cuprobe_cupti.Unsubscribe(subscriber);

	unsubscribed = true;
	if (result != CUPTI_SUCCESS)
		release_failed("cuptiUnsubscribe", result);
}

/* What graphs and threads did is of the past only once CUPTI is gone for good. */
static void forget(void)
{
	atomic_store_explicit(&graphs, false, memory_order_relaxed);
	atomic_store_explicit(&several_callers, false, memory_order_relaxed);
	atomic_store_explicit(&only_caller, 0, memory_order_relaxed);
	cuprobe_kinds_gpu_forget();
}

bool cuprobe_release_is_done(void)
{
	if (!finalizing) {
		if (!cuprobe_gate_close(CUPROBE_GATE_UNARMED))
			return false;
		unsubscribe();
		return true;
	}
	if (!atomic_load_explicit(&finalized, memory_order_acquire))
		return false;
	if (finalize_result == CUPTI_SUCCESS) {
		forget();
	} else {
		release_failed("cuptiFinalize", finalize_result);
		unsubscribe();
	}
	return true;
}

bool cuprobe_release_cancel(void)
{
	if (!cuprobe_gate_disarm())
		return false;
	finalizing = false;
	return true;
}
