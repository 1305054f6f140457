/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/pump.h"

#include <semaphore.h>
#include <stdatomic.h>

#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_buffers.h"
#include "src/inject/cupti_decode.h"
#include "src/inject/cupti_gate.h"
#include "src/inject/cupti_module.h"
#include "src/inject/cupti_pc.h"
#include "src/inject/cupti_session.h"
#include "src/inject/info.h"
#include "src/inject/launch.h"
#include "src/inject/ledger.h"
#include "src/inject/nvtx.h"
#include "src/inject/outlet.h"
#include "src/inject/parca.h"
#include "src/inject/parca_kernels.h"
#include "src/inject/parca_nvtx.h"
#include "src/inject/parca_pc.h"
#include "src/inject/parca_told.h"
#include "src/inject/pool.h"
#include "src/inject/process.h"
#include "src/inject/queue.h"
#include "src/inject/stacks.h"
#include "src/inject/status.h"
#include "src/inject/strings.h"
#include "src/inject/thread.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define NVTX_DRAINS 64 /* rounds of draining at most, when all is to go */
#define REPLAY_PERIOD_NS (10 * SECOND)
#define REPLAY_RECORDS 512u /* in one round: 128 KiB of strings */
#define FOREVER (3600 * SECOND)

/*
 * A probe whose records a new consumer gets again: at once, and when its breakpoint surely stands.
 * One that comes while others are there is not seen, unless it says so through the outlet: it gets
 * them with the next regular replay.
 */
struct replay {
	enum cuprobe_probe_id probe;
	void (*begin)(void);
	bool (*go_on)(__u32 records); /* NULL: done at once */
	__u32 parca;		      /* PARCAGPU_BIT() in place of `probe` */
	__u32 consumers;	      /* at the last look */
	__u64 again_ns;		      /* when to begin the next time */
	bool running;
};

#define NATIVE(name, replay)                                                                       \
	{                                                                                          \
		.probe = CUPROBE_PROBE_##name, .begin = replay##_begin, .go_on = replay            \
	}
#define PARCA(name, replay)                                                                        \
	{                                                                                          \
		.parca = PARCAGPU_BIT(name), .begin = replay                                       \
	}

static struct replay replays[] = {
	NATIVE(string, cuprobe_strings_replay),
	NATIVE(info, cuprobe_info_replay),
	NATIVE(module, cuprobe_module_replay),
	NATIVE(stack, cuprobe_stacks_replay),
	NATIVE(status, cuprobe_status_replay),
	PARCA(error, cuprobe_parca_errors_replay),
	PARCA(gpu_config, cuprobe_parca_configs_replay),
	PARCA(stall_reason_map, cuprobe_parca_reasons_replay),
	PARCA(cubin_loaded, cuprobe_parca_cubins_replay),
	PARCA(nvtx_resource_name, cuprobe_parca_names_replay),
};

#define REPLAYS (sizeof(replays) / sizeof(replays[0]))

static pthread_t thread;
static atomic_bool started; /* written by the control thread, read by any */
static atomic_bool stopping;
static sem_t wake;
static struct cuprobe_queue queue;
/* A drain is done when `drained` has reached the number that `asked` had; both only grow. */
static atomic_uint asked, drained;
static __u64 next_second_ns;
static bool nvtx_left; /* threads have put down more than one round takes */

void cuprobe_pump_post(struct cuprobe_buffer *buffer)
{
	cuprobe_queue_push(&queue, buffer);
	cuprobe_pump_wake();
}

void cuprobe_pump_wake(void)
{
	if (atomic_load_explicit(&started, memory_order_acquire))
		sem_post(&wake);
}

static bool newcomers_call(void)
{
	static __u32 before;
	__u32 newcomers = cuprobe_outlet->newcomers();
	bool call = newcomers != before;

	before = newcomers;
	return call;
}

static __u32 replay_consumers(const struct replay *replay)
{
	return replay->parca ? cuprobe_parcagpu->attached() & replay->parca
			     : cuprobe_outlet->consumers(replay->probe);
}

/* True when a replay of native records begins. */
static bool replay_look(struct replay *replay, bool called, __u64 now)
{
	__u32 consumers = replay_consumers(replay);
	bool newcomer = consumers > replay->consumers || called;

	replay->consumers = consumers;
	if (!consumers || (!newcomer && now < replay->again_ns))
		return false;
	replay->again_ns = now + (newcomer ? SECOND : REPLAY_PERIOD_NS);
	replay->begin();
	replay->running = replay->go_on;
	return !replay->parca;
}

static void replays_look(__u64 now)
{
	bool called = newcomers_call(), began = false;

	for (size_t i = 0; i < REPLAYS; i++)
		began |= replay_look(&replays[i], called, now);
	if (!began)
		return;
	cuprobe_nvtx_replay();
	next_second_ns = now; /* who comes is told the ledger at once */
}

static void replays_go_on(void)
{
	for (size_t i = 0; i < REPLAYS; i++) {
		struct replay *replay = &replays[i];

		if (replay->running && replay->consumers)
			replay->running = replay->go_on(REPLAY_RECORDS);
	}
}

static bool replays_running(void)
{
	bool running = false;

	for (size_t i = 0; i < REPLAYS; i++)
		running |= replays[i].running && replays[i].consumers;
	return running;
}

static void dropped_count(void)
{
	size_t dropped = 0;

	if (cuprobe_cupti.ActivityGetNumDroppedRecords &&
	    cuprobe_cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS)
		cuprobe_ledger_dropped_add(dropped);
}

static void clock_keep(void)
{
	if (cuprobe_session_clock() == CUPROBE_CLOCK_CALIBRATED)
		cuprobe_clock_calibrate(cuprobe_session_read_clock);
	else
		cuprobe_clock_offset_ns = 0;
}

static void buffers_decode(void)
{
	static bool calibrated;
	struct cuprobe_buffer *buffer = cuprobe_queue_take(&queue);

	while (buffer) {
		struct cuprobe_buffer *next = buffer->next;
		bool alive = cuprobe_gate_enter();

		if (alive && !calibrated) {
			clock_keep();
			calibrated = true;
		}
		cuprobe_decode_buffer(buffer->data, buffer->valid_bytes, alive);
		if (alive)
			cuprobe_gate_leave();
		cuprobe_buffers_put(buffer);
		buffer = next;
	}
}

static void second_pass(__u64 now)
{
	if (now < next_second_ns)
		return;
	next_second_ns = now + SECOND;
	if (cuprobe_gate_enter()) {
		clock_keep();
		dropped_count();
		cuprobe_gate_leave();
	}
	cuprobe_status_ledgers();
}

/* All that threads have put down; those that never stop get no further turn. */
static void nvtx_drain(void)
{
	for (int i = 0; i < NVTX_DRAINS && cuprobe_nvtx_pump(); i++)
		;
}

static void drain_finish(__u32 ticket)
{
	if (ticket == atomic_load_explicit(&drained, memory_order_relaxed))
		return;
	if (cuprobe_gate_enter()) {
		dropped_count();
		cuprobe_gate_leave();
	}
	cuprobe_launch_pump();
	nvtx_drain();
	cuprobe_parca_nvtx_pump(true);
	cuprobe_batch_fire_aged(~0ull);
	cuprobe_status_ledgers();
	cuprobe_batch_fire_aged(~0ull);
	atomic_store_explicit(&drained, ticket, memory_order_release);
}

static void pump_round(void)
{
	__u32 ticket = atomic_load_explicit(&asked, memory_order_acquire);
	__u64 now = cuprobe_clock_now();

	replays_look(now);
	if (cuprobe_status_take_notices())
		cuprobe_batch_fire_aged(~0ull); /* rare, and what somebody waits for */
	cuprobe_process_publish();
	cuprobe_module_pump(now);
	cuprobe_pc_pump(now);
	cuprobe_parca_pc_fire();
	cuprobe_launch_pump();
	buffers_decode();
	cuprobe_parca_kernels_fire();
	nvtx_left = cuprobe_nvtx_pump();
	cuprobe_parca_nvtx_pump(false);
	second_pass(now);
	replays_go_on();
	cuprobe_batch_fire_aged(now - CUPROBE_BATCH_AGE_NS);
	drain_finish(ticket);
}

static __u64 sleep_ns(void)
{
	if (nvtx_left)
		return 0;
	if (replays_running())
		return 10 * MS;
	if (cuprobe_nvtx_busy())
		return CUPROBE_NVTX_PERIOD_NS;
	if (cuprobe_launch_busy())
		return CUPROBE_LAUNCH_PERIOD_NS;
	return cuprobe_outlet_wanted() || cuprobe_parcagpu->attached() ? 50 * MS : FOREVER;
}

static void *pump_main(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
		pump_round();
		cuprobe_thread_wait(&wake, sleep_ns());
		while (!sem_trywait(&wake))
			;
	}
	pump_round();
	return NULL;
}

int cuprobe_pump_start(void)
{
	int err;

	if (atomic_load_explicit(&started, memory_order_relaxed))
		return 0;
	sem_init(&wake, 0, 0);
	err = cuprobe_thread_start(&thread, "cuprobe-pump", pump_main);
	if (!err)
		atomic_store_explicit(&started, true, memory_order_release);
	return err;
}

__u32 cuprobe_pump_drain(void)
{
	__u32 ticket = atomic_fetch_add_explicit(&asked, 1, memory_order_release) + 1;

	cuprobe_pump_wake();
	return ticket;
}

bool cuprobe_pump_drained(__u32 ticket)
{
	return !atomic_load_explicit(&started, memory_order_relaxed) ||
	       (__s32)(atomic_load_explicit(&drained, memory_order_acquire) - ticket) >= 0;
}

void cuprobe_pump_stop(__u64 timeout_ns)
{
	if (!atomic_load_explicit(&started, memory_order_relaxed))
		return;
	atomic_store_explicit(&stopping, true, memory_order_release);
	cuprobe_pump_wake();
	cuprobe_thread_join(thread, timeout_ns);
}
