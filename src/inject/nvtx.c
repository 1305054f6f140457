/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx.h"

#include <pthread.h>
#include <stdatomic.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/ledger.h"
#include "src/inject/notice.h"
#include "src/inject/nvtx_buffer.h"
#include "src/inject/nvtx_clients.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_put.h"
#include "src/inject/nvtx_time.h"
#include "src/inject/outlet.h"
#include "src/inject/parca_nvtx.h"
#include "src/inject/texts.h"

#define FIRE_COUNT 256u
#define TURNS_A_PUMP 64u /* of draining, before the pump looks after other things */
/*
 * Slots are set again at so many turns of the control thread after something changed: a client that
 * is just finishing its initialisation empties slots that it found not set yet.
 */
#define SETTLING_TURNS 20u

/* Protects what follows and the order of switching; the clients' lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __u32 session_number;
static bool refused; /* not tried again before somebody comes anew */
static unsigned int settling;
static atomic_bool settled = true; /* relaxed: spares the lock when there is nothing to do */

static _Atomic __u64 began_ns; /* release pairs with the pump's acquire of the session */
static atomic_bool draining;   /* the pump has to look once more */

/* The pump's. */
static __u32 pumped_session;
static bool parca_wants; /* consumers of the provider parcagpu want events too */
static __u64 oldest_ns;	 /* of the events in the batch; ~0 when there are none */
static struct cuprobe_texts messages = {.lowest_id = 0xc0000000u,
					.first_id = 0xc0000000u,
					.most = 1u << 15,
					.most_bytes = (size_t)8 << 20};

static void settle(void)
{
	settling = SETTLING_TURNS;
	atomic_store_explicit(&settled, false, memory_order_relaxed);
}

static void session_begin(void)
{
	int err = cuprobe_nvtx_buffer_init();

	refused = err;
	if (err) {
		cuprobe_notice_message(
			CUPROBE_ERROR, err, NULL,
			"NVTX events cannot be taken: no memory or key for their threads");
		return;
	}
	if (!++session_number)
		session_number = 1;
	atomic_store_explicit(&began_ns, cuprobe_clock_now(), memory_order_relaxed);
	atomic_store_explicit(&cuprobe_nvtx_session, session_number, memory_order_release);
	cuprobe_nvtx_clients_set(true);
	settle();
}

static void session_end(void)
{
	atomic_store_explicit(&cuprobe_nvtx_session, 0, memory_order_release);
	atomic_store_explicit(&draining, true, memory_order_release);
	cuprobe_nvtx_clients_set(false);
	settle();
}

static void settle_turn(bool taking)
{
	if (!settling) {
		atomic_store_explicit(&settled, true, memory_order_relaxed);
		return;
	}
	settling--;
	cuprobe_nvtx_clients_set(taking);
}

void cuprobe_nvtx_control(bool wanted)
{
	bool taking = atomic_load_explicit(&cuprobe_nvtx_session, memory_order_relaxed);

	if (wanted == taking && !refused && atomic_load_explicit(&settled, memory_order_relaxed))
		return;
	pthread_mutex_lock(&lock);
	taking = atomic_load_explicit(&cuprobe_nvtx_session, memory_order_relaxed);
	refused = refused && wanted;
	if (wanted && !taking && !refused)
		session_begin();
	else if (!wanted && taking)
		session_end();
	else
		settle_turn(taking);
	pthread_mutex_unlock(&lock);
}

int cuprobe_nvtx_attach(const struct nvtx_callbacks *callbacks,
			const struct nvtx_extension *extension)
{
	bool taking;
	int err;

	pthread_mutex_lock(&lock);
	taking = atomic_load_explicit(&cuprobe_nvtx_session, memory_order_relaxed);
	err = callbacks ? cuprobe_nvtx_client_add(callbacks, taking)
			: cuprobe_nvtx_client_add_extension(extension, taking);
	settle();
	pthread_mutex_unlock(&lock);
	return err;
}

bool cuprobe_nvtx_busy(void)
{
	return atomic_load_explicit(&cuprobe_nvtx_session, memory_order_relaxed) ||
	       atomic_load_explicit(&draining, memory_order_relaxed);
}

static __u32 message_id(const char *text, size_t bytes)
{
	__u32 known = messages.count;
	__u32 id = cuprobe_texts_id(&messages, text, bytes);

	if (!id) {
		cuprobe_texts_clear(&messages);
		known = 0;
		id = cuprobe_texts_id(&messages, text, bytes);
	}
	if (messages.count > known)
		cuprobe_texts_define(&messages, id);
	return id;
}

static void event_take(const struct nvtx_slot *slot, const char *chunk)
{
	struct cuprobe_nvtx record = slot->record;

	if (record.time_ns < atomic_load_explicit(&began_ns, memory_order_relaxed)) {
		cuprobe_ledger[CUPROBE_PROBE_nvtx].decoded++;
		cuprobe_ledger[CUPROBE_PROBE_nvtx].discarded++;
		return;
	}
	if (parca_wants)
		cuprobe_parca_nvtx(&record, chunk + slot->message_at, slot->message_bytes);
	if (parca_wants && !cuprobe_outlet->consumers(CUPROBE_PROBE_nvtx))
		return;
	if (cuprobe_nvtx_names_pending())
		cuprobe_nvtx_names_define();
	if (slot->message_bytes)
		record.message = message_id(chunk + slot->message_at, slot->message_bytes);
	if (slot->payload_bytes)
		record.payload = message_id(chunk + slot->payload_at, slot->payload_bytes);
	*(struct cuprobe_nvtx *)cuprobe_batch_add(CUPROBE_PROBE_nvtx) = record;
	if (cuprobe_batch_pending(CUPROBE_PROBE_nvtx) == 1 || record.time_ns < oldest_ns)
		oldest_ns = record.time_ns;
}

static void batch_fire(void)
{
	__u32 pending = cuprobe_batch_pending(CUPROBE_PROBE_nvtx);
	__u64 next_turn_ns = cuprobe_clock_now() + CUPROBE_NVTX_PERIOD_NS;

	if (pending >= FIRE_COUNT || (pending && oldest_ns + CUPROBE_BATCH_AGE_NS <= next_turn_ns))
		cuprobe_batch_fire(CUPROBE_PROBE_nvtx);
}

void cuprobe_nvtx_replay(void)
{
	if (!cuprobe_nvtx_busy())
		return;
	cuprobe_nvtx_names_replay();
	for (__u32 i = 0; i < messages.count; i++)
		cuprobe_texts_define(&messages, messages.first_id + i);
}

bool cuprobe_nvtx_pump(void)
{
	__u32 session = atomic_load_explicit(&cuprobe_nvtx_session, memory_order_acquire);
	bool last = atomic_exchange_explicit(&draining, false, memory_order_acquire);
	bool more = true;

	if (!session && !last)
		return false;
	if (session && session != pumped_session) {
		pumped_session = session;
		cuprobe_nvtx_replay();
	}
	if (session && cuprobe_nvtx_names_pending())
		cuprobe_nvtx_names_define();
	cuprobe_nvtx_time_pump();
	parca_wants = cuprobe_parca_nvtx_wanted();
	for (unsigned int i = 0; i < TURNS_A_PUMP && more; i++)
		more = cuprobe_nvtx_buffer_drain(event_take);
	if (more)
		atomic_store_explicit(&draining, true, memory_order_relaxed);
	else if (!session)
		cuprobe_nvtx_buffer_trim();
	batch_fire();
	return more;
}
