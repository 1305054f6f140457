/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/control.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "src/inject/clock.h"
#include "src/inject/cupti_buffers.h"
#include "src/inject/cupti_callback.h"
#include "src/inject/cupti_calls.h"
#include "src/inject/cupti_kinds.h"
#include "src/inject/cupti_module.h"
#include "src/inject/cupti_pc.h"
#include "src/inject/cupti_release.h"
#include "src/inject/cupti_session.h"
#include "src/inject/cupti_silence.h"
#include "src/inject/flush.h"
#include "src/inject/launch.h"
#include "src/inject/ledger.h"
#include "src/inject/notice.h"
#include "src/inject/nvtx.h"
#include "src/inject/outlet.h"
#include "src/inject/outlet_direct.h"
#include "src/inject/parca.h"
#include "src/inject/process.h"
#include "src/inject/pump.h"
#include "src/inject/thread.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define POLL_NS (50 * MS)
#define RELEASE_POLL_NS (2 * MS)
#define WATCH_NS (250 * MS)
#define LEAVE_NS (10 * MS)    /* in which the probes of a reader that leaves are detached */
#define PLAIN_FLUSHES 50      /* so often, 2 ms apart, before buffers are taken by force */
#define YIELD_FIRST_NS SECOND /* until CUPTI is asked for again, doubling */
#define YIELD_LAST_NS (60 * SECOND)

enum release_phase { RELEASE_FLUSH, RELEASE_FORCE, RELEASE_DRAIN, RELEASE_WAIT };

static pthread_t thread;
static atomic_bool started; /* releases `thread` */
static sem_t wake;
static atomic_bool stopping;
static atomic_bool finished;	    /* set by whoever finishes first */
static atomic_bool look_due = true; /* CUDA's versions are to be looked up */

/*
 * Held for a turn of the control thread and by injection calls; protects what follows. Once `cuda`
 * is true only the control thread takes it, so that it may wait for the loader meanwhile.
 */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static bool cuda; /* the process uses CUDA: without it nobody asks for CUPTI */
static enum cuprobe_state state;
static __u32 seen_wanted; /* at the last look */
static __u32 wanted, active;
static __u64 retry_ns, retry_delay_ns, next_look_ns, next_watch_ns;
static enum release_phase phase;
static enum cuprobe_release_way way;
static __u32 ticket, flushes;

static void state_set(enum cuprobe_state to, const char *detail)
{
	state = to;
	cuprobe_notice_state(to, active, detail);
	cuprobe_pump_wake();
}

/* What is wanted of CUPTI. */
static __u32 collectable(void)
{
	return cuda ? wanted & (cuprobe_kinds_probes | CUPROBE_PARCA_LAUNCHES |
				CUPROBE_PARCA_KERNELS)
		    : 0;
}

static void helpers_start(void)
{
	int err = cuprobe_pump_start();

	if (!err)
		err = cuprobe_flush_start();
	if (err)
		cuprobe_notice_message(CUPROBE_ERROR, err, NULL,
				       "a helper thread cannot be started");
}

static void yield_to(const char *rival)
{
	bool news = state != CUPROBE_STATE_YIELDED;

	retry_delay_ns = news ? YIELD_FIRST_NS : 2 * retry_delay_ns;
	if (retry_delay_ns > YIELD_LAST_NS)
		retry_delay_ns = YIELD_LAST_NS;
	retry_ns = cuprobe_clock_now() + retry_delay_ns;
	if (!news)
		return;
	cuprobe_notice_message(CUPROBE_WARNING, 39, "stop the other client; cuprobe keeps trying",
			       "CUPTI is in use by %s", rival);
	state_set(CUPROBE_STATE_YIELDED, rival);
}

static void fail(int err, const char *detail)
{
	const char *remedy = "name a libcupti that fits the driver in CUPROBE_CUPTI_PATH";

	if (err == -ENOENT)
		remedy = "install CUPTI, or name it in CUPROBE_CUPTI_PATH";
	else if (err == -ENOMEM)
		remedy = "raise the program's limit of address space (ulimit -v)";
	else if (err == -EACCES)
		remedy = cuprobe_kinds_remedy(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
	cuprobe_notice_message(CUPROBE_ERROR, err, remedy, "%s", detail);
	state_set(CUPROBE_STATE_FAILED, detail);
}

static void active_set(__u32 now_active)
{
	active = now_active;
	state_set(CUPROBE_STATE_ACTIVE, NULL);
}

#define CODE_PROBES                                                                                \
	(CUPROBE_PROBE_BIT(CUPROBE_PROBE_module) | CUPROBE_PROBE_BIT(CUPROBE_PROBE_pc_sample))

/* Makes CUPTI tell what is wanted of the code that runs; returns the probes that are served. */
static __u32 code_apply(__u32 data, bool cuda_up)
{
	__u32 on = data & CUPROBE_PROBE_BIT(CUPROBE_PROBE_module);

	if (data & CODE_PROBES)
		cuprobe_callback_modules();
	cuprobe_module_apply(on);
	if (cuprobe_pc_apply(data & CUPROBE_PROBE_BIT(CUPROBE_PROBE_pc_sample), cuda_up))
		on |= CUPROBE_PROBE_BIT(CUPROBE_PROBE_pc_sample);
	return on;
}

/* Makes CUPTI show the calls that are wanted; returns the probes that are served. */
static __u32 calls_apply(__u32 data)
{
	__u32 on = data & CUPROBE_PROBE_BIT(CUPROBE_PROBE_launch);

	if (data & CUPROBE_PARCA_LAUNCHES)
		cuprobe_calls_show(CUPROBE_CALL_LAUNCHES);
	if (!cuprobe_launch_apply(on) || !cuprobe_calls_show(CUPROBE_CALL_ENQUEUES))
		return 0;
	cuprobe_callback_nodes();
	return on;
}

/*
 * Makes CUPTI collect what is wanted, launches last: one that is told of has its kernels. Returns
 * the probes, of those that have a consumer, of which something is on.
 */
static __u32 collection_apply(bool cuda_up)
{
	__u32 data = collectable(), on = cuprobe_kinds_apply(data, cuda_up);

	on |= code_apply(data, cuda_up);
	on |= calls_apply(data);
	return on & cuprobe_outlet_wanted();
}

static void activate(bool cuda_up)
{
	char detail[CUPROBE_NOTICE_TEXT] = "";
	int err;

	if (cuda_up)
		cuprobe_process_look();
	err = cuprobe_session_open(detail, sizeof(detail));
	if (err == -EBUSY) {
		yield_to(detail);
		return;
	}
	if (err) {
		fail(err, detail);
		return;
	}
	cuprobe_silence_begin(cuda_up, wanted & cuprobe_kinds_probes);
	cuprobe_flush_periodic(true);
	active_set(collection_apply(cuda_up));
}

/* Who reads that some probes are no longer collected for has read their last ledgers before. */
static bool accounts_are_out(__u32 left_probes)
{
	static __u32 asked; /* ticket; 0 none */

	if (left_probes && !asked)
		asked = cuprobe_pump_drain();
	if (left_probes && !cuprobe_pump_drained(asked))
		return false;
	asked = 0;
	return true;
}

static void trouble_watch(void)
{
	__u64 now = cuprobe_clock_now();

	if (now < next_watch_ns)
		return;
	next_watch_ns = now + WATCH_NS;
	cuprobe_silence_watch();
	cuprobe_session_watch();
}

static void collect(void)
{
	__u32 now_active = collection_apply(true);

	if ((now_active != active && accounts_are_out(active & ~now_active)) ||
	    state != CUPROBE_STATE_ACTIVE)
		active_set(now_active);
	trouble_watch();
}

static void release_begin(void)
{
	if (code_apply(0, true))
		return; /* PC sampling can end between launches only: next time */
	cuprobe_flush_periodic(false);
	calls_apply(0);
	way = cuprobe_release_way();
	if (cuprobe_pc_is_stuck())
		way = CUPROBE_WAY_UNSUBSCRIBE;
	if (way != CUPROBE_WAY_FINALIZE_KINDS_ON && !cuprobe_kinds_stop(false))
		way = CUPROBE_WAY_UNSUBSCRIBE; /* finalising with kinds on can crash other threads
						*/
	active = 0;
	flushes = 1;
	phase = RELEASE_FLUSH;
	ticket = cuprobe_flush_ask(false);
	state_set(CUPROBE_STATE_RELEASING, NULL);
}

/* Asks again while CUPTI still holds buffers: kernels that are running complete their records. */
static void release_flush(void)
{
	if (!cuprobe_buffers_held() || way == CUPROBE_WAY_FINALIZE_KINDS_ON) {
		phase = RELEASE_DRAIN;
		ticket = cuprobe_pump_drain();
	} else if (flushes++ < PLAIN_FLUSHES) {
		ticket = cuprobe_flush_ask(false);
	} else {
		phase = RELEASE_FORCE;
		ticket = cuprobe_flush_ask(true);
	}
}

static void dormant_begin(void)
{
	cuprobe_kinds_stop(true);
	state_set(CUPROBE_STATE_DORMANT, NULL);
}

static void release_step(void)
{
	switch (phase) {
	case RELEASE_FLUSH:
		if (cuprobe_flush_done(ticket))
			release_flush();
		break;
	case RELEASE_FORCE:
		if (!cuprobe_flush_done(ticket))
			break;
		phase = RELEASE_DRAIN;
		ticket = cuprobe_pump_drain();
		break;
	case RELEASE_DRAIN:
		if (!cuprobe_pump_drained(ticket))
			break;
		if (cuprobe_buffers_held() && way != CUPROBE_WAY_FINALIZE_KINDS_ON &&
		    flushes++ < PLAIN_FLUSHES) {
			phase = RELEASE_FLUSH; /* a call that was under way took another one */
			ticket = cuprobe_flush_ask(false);
			break;
		}
		phase = RELEASE_WAIT;
		cuprobe_release_begin(way);
		break;
	case RELEASE_WAIT:
		if (cuprobe_release_is_futile() && cuprobe_release_cancel())
			release_begin();
		else if (cuprobe_release_is_done())
			dormant_begin();
		break;
	}
}

static void release_or_return(void)
{
	if (!collectable() || !cuprobe_release_cancel()) {
		release_step();
		return;
	}
	cuprobe_flush_periodic(true);
	collect();
}

static void control_step(void)
{
	bool data = collectable();

	switch (state) {
	case CUPROBE_STATE_DORMANT:
		if (data)
			activate(true);
		else
			cuprobe_buffers_rest();
		break;
	case CUPROBE_STATE_ACTIVE:
		if (data)
			collect();
		else
			release_begin();
		break;
	case CUPROBE_STATE_YIELDED:
		if (!data)
			state_set(CUPROBE_STATE_DORMANT, NULL);
		else if (cuprobe_clock_now() >= retry_ns)
			activate(true);
		break;
	case CUPROBE_STATE_RELEASING:
		release_or_return();
		break;
	case CUPROBE_STATE_FAILED: /* tried again when somebody comes anew */
		if (!data)
			state_set(CUPROBE_STATE_DORMANT, NULL);
		break;
	}
}

/*
 * A reader that leaves is detached from one probe after the other: what is left meanwhile is no
 * wish, and a kind that is switched off alone would keep CUPTI from being finalised.
 */
static void wanted_look(void)
{
	static __u64 since_ns;
	__u64 now_ns = cuprobe_clock_now();
	__u32 now_wanted;

	cuprobe_direct_look();
	now_wanted = cuprobe_outlet_wanted() | cuprobe_parca_look();
	if (now_wanted != seen_wanted)
		since_ns = now_ns;
	seen_wanted = now_wanted;
	if (now_ns - since_ns < LEAVE_NS)
		now_wanted |= wanted;
	if (now_wanted == wanted)
		return;
	wanted = now_wanted;
	helpers_start();
	cuprobe_pump_wake();
}

static void nvtx_look(void)
{
	cuprobe_nvtx_control(wanted & CUPROBE_PROBE_BIT(CUPROBE_PROBE_nvtx));
}

static void process_watch(void)
{
	__u64 now = cuprobe_clock_now();

	if (now < next_look_ns)
		return;
	next_look_ns = now + SECOND;
	if (cuprobe_process_is_over(cuprobe_thread_started()))
		cuprobe_control_finish(2 * SECOND);
}

static __u64 poll_ns(void)
{
	if (state == CUPROBE_STATE_RELEASING && phase != RELEASE_WAIT)
		return RELEASE_POLL_NS;
	return seen_wanted == wanted ? POLL_NS : LEAVE_NS;
}

static void control_turn(void)
{
	pthread_mutex_lock(&turn);
	wanted_look();
	nvtx_look();
	control_step();
	pthread_mutex_unlock(&turn);
}

static void *control_main(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
		if (atomic_exchange_explicit(&look_due, false, memory_order_relaxed)) {
			cuprobe_process_look();
			cuprobe_pump_wake();
		}
		control_turn();
		process_watch();
		cuprobe_thread_wait(&wake, poll_ns());
		while (!sem_trywait(&wake))
			;
	}
	return NULL;
}

void cuprobe_control_cuda(void)
{
	pthread_mutex_lock(&turn);
	cuda = true;
	wanted_look();
	if (collectable() && state == CUPROBE_STATE_DORMANT)
		activate(false);
	pthread_mutex_unlock(&turn);
	atomic_store_explicit(&look_due, true, memory_order_relaxed);
}

void cuprobe_control_start(bool with_cuda)
{
	int err;

	sem_init(&wake, 0, 0);
	if (with_cuda)
		cuprobe_control_cuda();
	pthread_mutex_lock(&turn);
	wanted_look();
	nvtx_look();
	pthread_mutex_unlock(&turn);
	err = cuprobe_thread_start(&thread, CUPROBE_CONTROL_THREAD, control_main);
	if (err)
		cuprobe_notice_message(
			CUPROBE_ERROR, err, NULL,
			"the control thread cannot be started: who attaches later gets "
			"nothing");
	else
		atomic_store_explicit(&started, true, memory_order_release);
}

void cuprobe_control_wake(void)
{
	sem_post(&wake);
}

static __u64 time_left(__u64 deadline_ns)
{
	__u64 now = cuprobe_clock_now();

	return now < deadline_ns ? deadline_ns - now : 0;
}

static void wait_until(bool (*is_done)(__u32), __u32 of, __u64 deadline_ns)
{
	const struct timespec step = {.tv_nsec = 500000};

	while (!is_done(of) && time_left(deadline_ns))
		nanosleep(&step, NULL);
}

/* What CUPTI kept is lost; of how many records each buffer was, nobody can tell. */
static void buffers_collect(__u32 out, __u64 deadline_ns)
{
	__u32 kept = cuprobe_buffers_await(out, deadline_ns);

	if (!kept)
		return;
	cuprobe_ledger_dropped_add(kept);
	cuprobe_notice_message(CUPROBE_WARNING, 0, NULL,
			       "CUPTI kept %u written buffers at the end of the process: their "
			       "records are lost, and count as one each",
			       kept);
}

void cuprobe_control_finish(__u64 timeout_ns)
{
	__u64 deadline_ns = cuprobe_clock_now() + timeout_ns;
	bool collecting;
	__u32 out;

	if (atomic_exchange(&finished, true))
		return;
	atomic_store_explicit(&stopping, true, memory_order_release);
	cuprobe_control_wake();
	if (atomic_load_explicit(&started, memory_order_acquire) &&
	    !pthread_equal(pthread_self(), thread))
		cuprobe_thread_join(thread, timeout_ns / 4);
	cuprobe_pc_finish(timeout_ns / 4);
	collecting = cuprobe_flush_periodic(false);
	out = cuprobe_buffers_close();
	wait_until(cuprobe_flush_done, cuprobe_flush_ask(true), deadline_ns - timeout_ns / 4);
	if (collecting)
		buffers_collect(out, deadline_ns - timeout_ns / 4);
	cuprobe_notice_state(CUPROBE_STATE_DORMANT, 0, "the process ends");
	cuprobe_flush_stop(time_left(deadline_ns) / 4);
	wait_until(cuprobe_pump_drained, cuprobe_pump_drain(), deadline_ns);
	cuprobe_pump_stop(time_left(deadline_ns));
}
