/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_session.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "src/inject/clock.h"
#include "src/inject/control.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_buffers.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/notice.h"

#define VERSION_12_0 19u /* cuptiGetVersion() of the first that is known to finalise safely */

/*
 * Who may call CUPTI. The low bits count users; ARMED asks the next API call of the application to
 * finalise, which it can only while there is no user; CLOSED refuses new users. Taking the gate
 * acquires what the last holder released.
 */
#define GATE_ARMED 0x40000000u
#define GATE_CLOSED 0x80000000u
static atomic_uint gate = GATE_CLOSED;

/* Set by the application's thread when cuptiFinalize() has returned; read by the control thread. */
static atomic_bool finalized;
static CUptiResult finalize_result; /* released by `finalized` */

static CUpti_SubscriberHandle subscriber;
static _Atomic __u64 begun_ns;
static _Atomic enum cuprobe_clock clock_kind;
static bool finalizing; /* the release under way is one that finalises */

bool cuprobe_session_use(void)
{
	unsigned int now = atomic_load_explicit(&gate, memory_order_relaxed);

	do {
		if (now & GATE_CLOSED)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&gate, &now, now + 1, memory_order_acquire,
							memory_order_relaxed));
	return true;
}

void cuprobe_session_unuse(void)
{
	atomic_fetch_sub_explicit(&gate, 1, memory_order_release);
}

/* Closes the gate if nobody is inside and it is armed or not, as told. */
static bool gate_close(unsigned int armed)
{
	return atomic_compare_exchange_strong_explicit(&gate, &armed, GATE_CLOSED,
						       memory_order_acq_rel, memory_order_relaxed);
}

static void finalize_now(void)
{
	int saved_errno = errno;

	finalize_result = cuprobe_cupti.Finalize();
	if (finalize_result == CUPTI_SUCCESS)
		cuprobe_buffers_retire();
	atomic_store_explicit(&finalized, true, memory_order_release);
	cuprobe_control_wake();
	errno = saved_errno;
}

/*
 * Runs on application threads, and only while a release waits for one. NVIDIA documents the exit of
 * an API call as the safe place for cuptiFinalize(). CUPTI hands buffers back meanwhile, so that
 * the guard is left before.
 */
static void CUPTIAPI api_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
				  const void *data)
{
	const CUpti_CallbackData *call = data;
	struct cuprobe_guard guard;
	bool due;

	(void)user;
	(void)cbid;
	if (!cuprobe_guard_enter(&guard))
		return;
	due = (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) &&
	      call->callbackSite == CUPTI_API_EXIT && gate_close(GATE_ARMED);
	cuprobe_guard_leave(&guard);
	if (due)
		finalize_now();
}

static CUptiResult subscribe(char *ret_rival, size_t rival_size)
{
	struct cuprobe_subscriber_params params = {
		.struct_size = sizeof(params),
		.name = "cuprobe",
		.rival = ret_rival,
		.rival_size = rival_size,
	};
	CUptiResult result;

	if (cuprobe_cupti.Subscribe_v2) {
		result = cuprobe_cupti.Subscribe_v2(&subscriber, api_callback, NULL, &params);
		if (result != CUPTI_ERROR_INVALID_PARAMETER)
			return result;
	}
	return cuprobe_cupti.Subscribe(&subscriber, api_callback, NULL);
}

/* CUPTI up to 11.4 says MAX_LIMIT_REACHED, later ones 39, MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED. */
static bool result_is_rival(CUptiResult result)
{
	return result == CUPTI_ERROR_MAX_LIMIT_REACHED || (int)result == 39;
}

static uint64_t CUPTIAPI timestamp_callback(void)
{
	return cuprobe_clock_now();
}

static void clock_register(void)
{
	CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;

	if (cuprobe_cupti.ActivityRegisterTimestampCallback)
		result = cuprobe_cupti.ActivityRegisterTimestampCallback(timestamp_callback);
	atomic_store(&clock_kind,
		     result == CUPTI_SUCCESS ? CUPROBE_CLOCK_CALLBACK : CUPROBE_CLOCK_CALIBRATED);
	if (result != CUPTI_SUCCESS)
		cuprobe_notice_message(CUPROBE_NOTE, (int)result, NULL,
				       "CUPTI keeps its own clock; its offset is measured");
}

static int session_prepare(char *ret_detail, size_t detail_size)
{
	CUptiResult result;

	if (cuprobe_cupti.SetThreadIdType)
		cuprobe_cupti.SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	clock_register();
	if (cuprobe_env.latency_timestamps && cuprobe_cupti.ActivityEnableLatencyTimestamps)
		cuprobe_cupti.ActivityEnableLatencyTimestamps(1);
	result = cuprobe_cupti.ActivityRegisterCallbacks(cuprobe_buffers_requested,
							 cuprobe_buffers_completed);
	if (result == CUPTI_SUCCESS)
		return 0;
	snprintf(ret_detail, detail_size, "CUPTI takes no buffers: %s",
		 cuprobe_cupti_result(result));
	return -EIO;
}

int cuprobe_session_open(char *ret_detail, size_t detail_size)
{
	CUptiResult result;
	int err = cuprobe_cupti_load(ret_detail, detail_size);

	if (!err)
		err = cuprobe_buffers_init();
	if (err)
		return err;
	*ret_detail = 0;
	result = subscribe(ret_detail, detail_size);
	if (result_is_rival(result)) {
		if (!*ret_detail)
			snprintf(ret_detail, detail_size, "another CUPTI client");
		return -EBUSY;
	}
	if (result != CUPTI_SUCCESS) {
		snprintf(ret_detail, detail_size, "cuptiSubscribe: %s",
			 cuprobe_cupti_result(result));
		return -EIO;
	}
	atomic_store(&begun_ns, cuprobe_clock_now());
	err = session_prepare(ret_detail, detail_size);
	if (err) {
		cuprobe_cupti.Unsubscribe(subscriber);
		return err;
	}
	atomic_store_explicit(&finalized, false, memory_order_relaxed);
	atomic_store_explicit(&gate, 0, memory_order_release);
	return 0;
}

static bool release_finalizes(void)
{
	if (!cuprobe_cupti.Finalize || cuprobe_env.release == CUPROBE_RELEASE_UNSUBSCRIBE)
		return false;
	return cuprobe_env.release == CUPROBE_RELEASE_FINALIZE ||
	       cuprobe_cupti_version >= VERSION_12_0;
}

static CUptiResult callbacks_switch(uint32_t on)
{
	CUptiResult driver = cuprobe_cupti.EnableDomain(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	CUptiResult runtime =
		cuprobe_cupti.EnableDomain(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);

	return driver == CUPTI_SUCCESS ? CUPTI_SUCCESS : runtime;
}

/* Callbacks are on before the gate is armed: from then on CUPTI may be gone at any moment. */
void cuprobe_session_release(void)
{
	finalizing = release_finalizes() && callbacks_switch(1) == CUPTI_SUCCESS;
	if (finalizing)
		atomic_fetch_or_explicit(&gate, GATE_ARMED, memory_order_release);
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

	if (result != CUPTI_SUCCESS)
		release_failed("cuptiUnsubscribe", result);
}

bool cuprobe_session_released(void)
{
	if (finalizing) {
		if (!atomic_load_explicit(&finalized, memory_order_acquire))
			return false;
		if (finalize_result != CUPTI_SUCCESS) {
			release_failed("cuptiFinalize", finalize_result);
			unsubscribe();
		}
		return true;
	}
	if (!gate_close(0))
		return false;
	unsubscribe();
	return true;
}

bool cuprobe_session_keep(void)
{
	unsigned int now = atomic_load_explicit(&gate, memory_order_relaxed);

	do {
		if (now & GATE_CLOSED)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&gate, &now, now & ~GATE_ARMED, memory_order_acquire, memory_order_relaxed));
	if (finalizing)
		callbacks_switch(0);
	finalizing = false;
	return true;
}

__u64 cuprobe_session_begun_ns(void)
{
	return atomic_load_explicit(&begun_ns, memory_order_relaxed);
}

enum cuprobe_clock cuprobe_session_clock(void)
{
	return atomic_load_explicit(&clock_kind, memory_order_relaxed);
}

bool cuprobe_session_read_clock(__u64 *ret_ns)
{
	uint64_t now;

	if (!cuprobe_cupti.GetTimestamp || cuprobe_cupti.GetTimestamp(&now) != CUPTI_SUCCESS)
		return false;
	*ret_ns = now;
	return true;
}
