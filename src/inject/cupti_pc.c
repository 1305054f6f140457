/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_pc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "cuprobe/abi.h"
#include "src/inject/clock.h"
#include "src/inject/cuda_driver.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_calls.h"
#include "src/inject/cupti_fence.h"
#include "src/inject/cupti_gate.h"
#include "src/inject/cupti_kinds.h"
#include "src/inject/cupti_pc_context.h"
#include "src/inject/cupti_pc_period.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/ledger.h"
#include "src/inject/notice.h"
#include "src/inject/pump.h"
#include "src/inject/thread.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define FOREVER (3600 * SECOND)
#define CONTEXTS 64
#define SAMPLES_MOST 1000000ull /* of one window, so that nothing overflows */
#define PAUSE_MOST_NS (10 * SECOND)
#define WINDOW_RETRY_NS (20 * MS)
#define ROOM_PCS 2048u
#define DRAIN_NS (100 * MS)
#define PERIOD_STEP 3u /* a restart for too many samples divides them by 2^3 */
#define FAILURES 5     /* calls in a row until a context is set up anew */
#define RESTARTS 3u    /* of a context, before it is given up */
#define RETRY_FIRST_NS SECOND
#define RETRY_LAST_NS (60 * SECOND)
#define CONTEXT_PATIENCE_NS (2 * SECOND) /* a context that is being destroyed waits no longer */

/*
 * Protects the contexts and the room, and is held for every call of CUPTI's PC sampling. Taken by
 * the control thread, the sampling thread, and application threads that create or destroy
 * contexts; notices are put under it.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuprobe_pc_context contexts[CONTEXTS];
static struct cuprobe_pc_room room;
static __u32 period_up;	    /* how much longer than asked for: samples were too many */
static bool stuck;	    /* CUPTI refused to switch sampling off, since it came up */
static bool on;		    /* contexts are to be sampled */
static CUptiResult refused; /* what was said about it already */
static __u64 retry_ns, retry_delay_ns;

/* The thread that fetches. */
static pthread_t thread;
static atomic_bool started, stopping;
static sem_t wake;

static bool lock_until(__u64 deadline_ns)
{
	const struct timespec step = {.tv_nsec = 200000};

	while (pthread_mutex_trylock(&lock)) {
		if (cuprobe_clock_now() >= deadline_ns)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

static bool pc_sampling_is_there(void)
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

static struct cuprobe_pc_context *context_find(CUcontext handle)
{
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].handle == handle)
			return &contexts[i];
	}
	return NULL;
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
	if (!cuprobe_fence_close())
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
	if (beside && !cuprobe_fence_close())
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

static void context_add(CUcontext handle)
{
	struct cuprobe_pc_context *c = context_find(handle);
	uint32_t id, device;

	if (!handle || c)
		return;
	c = context_find(NULL);
	if (!c || cuprobe_cupti.GetContextId(handle, &id) != CUPTI_SUCCESS ||
	    cuprobe_cupti.GetDeviceId(handle, &device) != CUPTI_SUCCESS)
		return;
	context_forget(c);
	c->handle = handle;
	c->id = id;
	c->device = device;
	context_enable(c);
}

/* Contexts that were there before us; of others than the primary ones nobody tells. */
static void contexts_look(void)
{
	int (*count_get)(int *) = cuprobe_driver_function("cuDeviceGetCount");
	int (*state_get)(int, unsigned int *, int *) =
		cuprobe_driver_function("cuDevicePrimaryCtxGetState");
	int (*retain)(CUcontext *, int) = cuprobe_driver_function("cuDevicePrimaryCtxRetain");
	int (*release)(int) = cuprobe_driver_function("cuDevicePrimaryCtxRelease_v2");
	int count = 0, active;
	unsigned int flags;
	CUcontext handle;

	if (!count_get || !state_get || !retain || !release || count_get(&count))
		return;
	for (int device = 0; device < count; device++) {
		if (state_get(device, &flags, &active) || !active || retain(&handle, device))
			continue;
		context_add(handle);
		release(device);
	}
}

static void contexts_retry(void)
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

static void contexts_drain(void)
{
	for (int i = 0; i < CONTEXTS; i++)
		context_drain(&contexts[i]);
	cuprobe_pump_wake();
}

/* What fails is seen to once the fence is open again. */
static bool contexts_window(bool open)
{
	CUptiResult results[CONTEXTS] = {CUPTI_SUCCESS};

	if (!any_is_enabled())
		return true;
	if (!cuprobe_fence_close())
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

/*
 * How long no window is open: as the settings say, or so long that with as many samples as the last
 * windows gave their rate is what parcagpu's consumers want.
 */
static __u64 pause_for(__u64 window_ns, __u64 every_ns)
{
	__u64 samples = 0, rate = cuprobe_env.parca_pc_rate;

	for (int i = 0; i < CONTEXTS; i++) {
		samples += contexts[i].measured_samples;
		contexts[i].measured_samples = 0;
	}
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

	if (!contexts_window(!open && on))
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
		contexts_drain();
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
	if (!pc_sampling_is_there()) {
		refusal_report(cuprobe_cupti_path(), CUPTI_ERROR_NOT_SUPPORTED);
		return;
	}
	if (!thread_is_there())
		return;
	on = true;
	cuprobe_fence_begin();
	cuprobe_calls_show(CUPROBE_CALL_FENCED);
	if (cuda_up)
		contexts_look();
	sem_post(&wake);
}

/* What launches that take long prevent is tried again. */
static void sampling_end(void)
{
	contexts_drain();
	if (!cuprobe_fence_close())
		return;
	for (int i = 0; i < CONTEXTS; i++) {
		if (contexts[i].handle)
			context_disable(&contexts[i]);
		context_forget(&contexts[i]);
	}
	cuprobe_fence_end();
	on = false;
	retry_ns = retry_delay_ns = 0;
	period_up = 0;
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
		contexts_retry();
	else if (!wanted && on)
		sampling_end();
	tried = wanted || on;
	if (!tried)
		refused = CUPTI_SUCCESS;
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
	is_stuck = stuck;
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
		contexts_window(false);
		contexts_drain();
		on = false;
		cuprobe_gate_leave();
	}
	pthread_mutex_unlock(&lock);
}

void cuprobe_pc_callback(CUpti_CallbackId cbid, const CUpti_ResourceData *data)
{
	struct cuprobe_pc_context *c;

	if (!lock_until(cuprobe_clock_now() + CONTEXT_PATIENCE_NS))
		return;
	c = on ? context_find(data->context) : NULL;
	if (on && cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
		context_add(data->context);
		sem_post(&wake);
	} else if (c && cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
		context_drain(c);
		stuck |= !context_disable_between_launches(c);
		context_forget(c);
	} else if (c && cbid == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
		cuprobe_pc_context_collect(c);
	}
	pthread_mutex_unlock(&lock);
}
