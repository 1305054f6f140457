/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_session.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "src/inject/clock.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_buffers.h"
#include "src/inject/cupti_callback.h"
#include "src/inject/cupti_find.h"
#include "src/inject/cupti_gate.h"
#include "src/inject/cupti_release.h"
#include "src/inject/env.h"
#include "src/inject/notice.h"

static CUpti_SubscriberHandle subscriber;
static _Atomic __u64 begun_ns;
static _Atomic enum cuprobe_clock clock_kind; /* releases what is known of the library loaded */

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
		result = cuprobe_cupti.Subscribe_v2(&subscriber, cuprobe_callback, NULL, &params);
		if (result != CUPTI_ERROR_INVALID_PARAMETER)
			return result;
	}
	return cuprobe_cupti.Subscribe(&subscriber, cuprobe_callback, NULL);
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

static int error_of(CUptiResult result)
{
	return result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? -EACCES : -EIO;
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
	return error_of(result);
}

int cuprobe_session_open(char *ret_detail, size_t detail_size)
{
	CUptiResult result;
	int err = cuprobe_cupti_load(ret_detail, detail_size);

	if (err)
		return err;
	err = cuprobe_buffers_begin();
	if (err) {
		snprintf(ret_detail, detail_size, "there is no memory for CUPTI's buffers");
		return err;
	}
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
		return error_of(result);
	}
	atomic_store(&begun_ns, cuprobe_clock_now());
	err = session_prepare(ret_detail, detail_size);
	if (err) {
		cuprobe_cupti.Unsubscribe(subscriber);
		return err;
	}
	cuprobe_callback_begin(subscriber);
	cuprobe_release_prepare(subscriber);
	cuprobe_gate_open();
	return 0;
}

void cuprobe_session_watch(void)
{
	static bool told;
	char path[CUPROBE_PATH_MAX];

	if (told || !cuprobe_cupti_find_other((const void *)cuprobe_cupti.Subscribe, path))
		return;
	told = true;
	cuprobe_notice_message(CUPROBE_WARNING, 0, "name the program's in CUPROBE_CUPTI_PATH",
			       "the program has loaded a libcupti beside ours, and one of them "
			       "sees nothing: %s",
			       path);
}

__u64 cuprobe_session_begun_ns(void)
{
	return atomic_load_explicit(&begun_ns, memory_order_relaxed);
}

enum cuprobe_clock cuprobe_session_clock(void)
{
	return atomic_load_explicit(&clock_kind, memory_order_acquire);
}

bool cuprobe_session_read_clock(__u64 *ret_ns)
{
	uint64_t now;

	if (!cuprobe_cupti.GetTimestamp || cuprobe_cupti.GetTimestamp(&now) != CUPTI_SUCCESS)
		return false;
	*ret_ns = now;
	return true;
}
