/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_pc_contexts.h"

#include <stdatomic.h>

#include "src/inject/clock.h"
#include "src/inject/cuda_driver.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_calls.h"
#include "src/inject/cupti_fence.h"
#include "src/inject/cupti_kinds.h"
#include "src/inject/cupti_pc_context.h"
#include "src/inject/cupti_pc_period.h"
#include "src/inject/notice.h"
#include "src/inject/pump.h"

#define SECOND 1000000000ull
#define CONTEXTS 64
#define ROOM_PCS 2048u
#define PERIOD_STEP 3u /* a restart for too many samples divides them by 2^3 */
#define FAILURES 5     /* calls in a row until a context is set up anew */
#define RESTARTS 3u    /* of a context, before it is given up */
#define RETRY_FIRST_NS SECOND
#define RETRY_LAST_NS (60 * SECOND)

static struct cuprobe_pc_context contexts[CONTEXTS];
static struct cuprobe_pc_room room;
static __u32 period_up;	    /* how much longer than asked for: samples were too many */
static bool stuck;	    /* CUPTI refused to switch sampling off, since it came up */
static CUptiResult refused; /* what was said about it already */
static __u64 retry_ns, retry_delay_ns;
/* A load is seen to when `loads_seen` has reached the number that `loads` had; both only grow. */
static atomic_uint loads, loads_seen;

static bool api_is_there(void)
{
	const struct cuprobe_cupti_api *api = &cuprobe_cupti;

	return api->PCSamplingEnable && api->PCSamplingDisable && api->PCSamplingStart &&
	       api->PCSamplingStop && api->PCSamplingGetData &&
	       api->PCSamplingSetConfigurationAttribute &&
	       api->PCSamplingGetConfigurationAttribute && api->PCSamplingGetNumStallReasons &&
	       api->PCSamplingGetStallReasons && api->GetContextId && api->GetDeviceId;
}

/* Once for each reason, until it has worked again. */
static void refusal_report(const char *function, CUptiResult result)
{
	if (result == refused)
		return;
	refused = result;
	cuprobe_notice_message(CUPROBE_ERROR, (int)result, cuprobe_kinds_remedy(result),
			       "PC sampling is not to be had: %s: %s", function,
			       cuprobe_cupti_result(result));
}

bool cuprobe_pc_contexts_begin(void)
{
	refused = CUPTI_SUCCESS;
	retry_ns = retry_delay_ns = 0;
	period_up = 0;
	if (!api_is_there()) {
		refusal_report(cuprobe_cupti_path(), CUPTI_ERROR_NOT_SUPPORTED);
		return false;
	}
	cuprobe_fence_begin();
	if (cuprobe_calls_show(CUPROBE_CALL_FENCED))
		return true;
	cuprobe_fence_end(); /* it would hold nothing back */
	refusal_report("CUPTI shows no launches", CUPTI_ERROR_NOT_SUPPORTED);
	return false;
}

static struct cuprobe_pc_context *context_find(CUcontext handle)
{
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].handle == handle)
			return &contexts[i];
	}
	return NULL;
}

static void loads_take(void)
{
	unsigned int asked = atomic_load_explicit(&loads, memory_order_acquire);

	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].handle)
			cuprobe_pc_context_collect(&contexts[i]);
	}
	atomic_store_explicit(&loads_seen, asked, memory_order_release);
}

static bool fence_close(void)
{
	return cuprobe_fence_close(loads_take);
}

/* While the fence is closed. */
static void context_disable(struct cuprobe_pc_context *c)
{
	if (!c->enabled || cuprobe_pc_context_disable(c) || stuck)
		return;
	stuck = true;
	cuprobe_notice_message(
		CUPROBE_WARNING, 0, NULL,
		"CUPTI cannot switch PC sampling off: it stays loaded, and may go on "
		"slowing the program");
}

/* False when launches take too long, and it is still enabled. */
static bool context_disable_between_launches(struct cuprobe_pc_context *c)
{
	if (!c->enabled)
		return true;
	if (!fence_close())
		return false;
	context_disable(c);
	cuprobe_fence_open();
	return true;
}

static void context_forget(struct cuprobe_pc_context *c)
{
	struct cuprobe_pc_room kept = c->config;

	*c = (struct cuprobe_pc_context){.config = kept};
}

static void retry_later(CUptiResult result)
{
	if (result != CUPTI_ERROR_HARDWARE_BUSY && result != CUPTI_ERROR_OUT_OF_MEMORY &&
	    result != CUPTI_ERROR_NOT_INITIALIZED && result != CUPTI_ERROR_NOT_READY &&
	    result != CUPTI_ERROR_UNKNOWN)
		return;
	retry_delay_ns = retry_delay_ns ? 2 * retry_delay_ns : RETRY_FIRST_NS;
	if (retry_delay_ns > RETRY_LAST_NS)
		retry_delay_ns = RETRY_LAST_NS;
	retry_ns = cuprobe_clock_now() + retry_delay_ns;
}

static bool any_is_enabled(void)
{
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].handle && contexts[i].enabled)
			return true;
	}
	return false;
}

/* Beside others that are sampled it has to be between launches, too. */
static CUptiResult context_try(struct cuprobe_pc_context *c, const char **ret_function)
{
	bool beside = any_is_enabled();
	CUptiResult result;

	*ret_function = "launches that take long";
	if (beside && !fence_close())
		return CUPTI_ERROR_NOT_READY;
	result =
		cuprobe_pc_context_enable(c, cuprobe_pc_period(c->device, period_up), ret_function);
	if (beside)
		cuprobe_fence_open();
	if (result == CUPTI_SUCCESS && !cuprobe_pc_room_make(&room, ROOM_PCS, c->reason_count))
		result = CUPTI_ERROR_OUT_OF_MEMORY;
	return result;
}

static void context_enable(struct cuprobe_pc_context *c)
{
	const char *function;
	CUptiResult result = context_try(c, &function);

	c->measured_samples = 0;
	if (result == CUPTI_SUCCESS) {
		refused = CUPTI_SUCCESS;
		retry_delay_ns = 0;
		return;
	}
	context_disable_between_launches(c);
	refusal_report(function, result);
	retry_later(result);
}

void cuprobe_pc_contexts_add(CUcontext handle)
{
	struct cuprobe_pc_context *c = context_find(handle);
	uint32_t id, device;
	CUptiResult result;

	if (!handle || c)
		return;
	c = context_find(NULL);
	if (!c) {
		refusal_report("too many contexts", CUPTI_ERROR_MAX_LIMIT_REACHED);
		return;
	}
	result = cuprobe_cupti.GetContextId(handle, &id);
	if (result == CUPTI_SUCCESS)
		result = cuprobe_cupti.GetDeviceId(handle, &device);
	if (result != CUPTI_SUCCESS) {
		refusal_report("the context is not known", result);
		return;
	}
	context_forget(c);
	c->handle = handle;
	c->id = id;
	c->device = device;
	context_enable(c);
}

void cuprobe_pc_contexts_look(void)
{
	int (*retain)(CUcontext *, int) = cuprobe_driver_function("cuDevicePrimaryCtxRetain");
	int (*release)(int) = cuprobe_driver_function("cuDevicePrimaryCtxRelease_v2");
	int device = retain && release ? cuprobe_driver_next_used(0) : -1;
	CUcontext handle;

	for (; device >= 0; device = cuprobe_driver_next_used(device + 1)) {
		if (retain(&handle, device))
			continue;
		cuprobe_pc_contexts_add(handle);
		release(device);
	}
}

void cuprobe_pc_contexts_retry(void)
{
	if (!retry_ns || cuprobe_clock_now() < retry_ns)
		return;
	retry_ns = 0;
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].handle && !contexts[i].enabled && contexts[i].restarts <= RESTARTS)
			context_enable(&contexts[i]);
	}
}

/*
 * What goes wrong too often is begun anew, with fewer samples, and in the end given up. Not at
 * once: kernels in graphs that are there already are not attributed after that.
 */
static void context_recover(struct cuprobe_pc_context *c, CUptiResult result)
{
	if (++c->failures < FAILURES || !context_disable_between_launches(c))
		return;
	c->failures = 0;
	if (++c->restarts > RESTARTS) {
		cuprobe_notice_message(CUPROBE_ERROR, (int)result,
				       "give more with CUPROBE_PC_BUFFER_MB, or ask for fewer "
				       "samples with CUPROBE_PC_RATE",
				       "PC sampling of context %u is given up: %s", c->id,
				       cuprobe_cupti_result(result));
		return;
	}
	period_up += result == CUPTI_ERROR_OUT_OF_MEMORY ? PERIOD_STEP : 0;
	context_enable(c);
}

static void context_drain(struct cuprobe_pc_context *c)
{
	CUptiResult result;

	if (!c->handle || !c->enabled)
		return;
	result = cuprobe_pc_context_drain(c, &room);
	if (result != CUPTI_SUCCESS)
		context_recover(c, result);
	else
		c->failures = 0;
}

void cuprobe_pc_contexts_drain(void)
{
	for (int i = 0; i < CONTEXTS; i++)
		context_drain(&contexts[i]);
	cuprobe_pump_wake();
}

/* What fails is seen to once the fence is open again. */
bool cuprobe_pc_contexts_window(bool open)
{
	CUptiResult results[CONTEXTS] = {CUPTI_SUCCESS};

	if (!any_is_enabled())
		return true;
	if (!fence_close())
		return false;
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].handle && contexts[i].enabled)
			results[i] = cuprobe_pc_context_window(&contexts[i], open);
	}
	cuprobe_fence_open();
	for (int i = 0; i < CONTEXTS; i++) {
		if (results[i] != CUPTI_SUCCESS)
			context_recover(&contexts[i], results[i]);
	}
	return true;
}

__u64 cuprobe_pc_contexts_measured(void)
{
	__u64 samples = 0;

	for (int i = 0; i < CONTEXTS; i++) {
		samples += contexts[i].measured_samples;
		contexts[i].measured_samples = 0;
	}
	return samples;
}

__u32 cuprobe_pc_contexts_load(void)
{
	return atomic_fetch_add_explicit(&loads, 1, memory_order_release) + 1;
}

bool cuprobe_pc_contexts_load_is_seen(__u32 load)
{
	return (__s32)(atomic_load_explicit(&loads_seen, memory_order_acquire) - load) >= 0;
}

void cuprobe_pc_contexts_loaded(CUcontext handle)
{
	struct cuprobe_pc_context *c = context_find(handle);

	if (c)
		cuprobe_pc_context_collect(c);
}

void cuprobe_pc_contexts_remove(CUcontext handle)
{
	struct cuprobe_pc_context *c = context_find(handle);

	if (!c)
		return;
	context_drain(c);
	stuck |= !context_disable_between_launches(c);
	context_forget(c);
}

bool cuprobe_pc_contexts_end(void)
{
	cuprobe_pc_contexts_drain();
	if (!fence_close())
		return false;
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].handle)
			context_disable(&contexts[i]);
		context_forget(&contexts[i]);
	}
	cuprobe_fence_end();
	return true;
}

bool cuprobe_pc_contexts_stuck(void)
{
	return stuck;
}
