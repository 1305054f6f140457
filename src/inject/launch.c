/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/launch.h"

#include <stdatomic.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/env.h"
#include "src/inject/graph_nodes.h"
#include "src/inject/launch_thread.h"
#include "src/inject/ledger.h"
#include "src/inject/notice.h"
#include "src/inject/outlet.h"
#include "src/inject/stacks.h"

/*
 * The number of the session that launches are taken for; 0: they are not. Set by the control thread
 * (release), read by callbacks (acquire): all is ready for them.
 */
static atomic_uint session;
static __u32 last_session; /* the control thread's */
static bool refused;	   /* likewise: not tried again before somebody comes anew */

static bool launches_begin(void)
{
	int err = cuprobe_launch_threads_init();

	if (!err)
		err = cuprobe_stacks_init();
	refused = err;
	if (err)
		cuprobe_notice_message(
			CUPROBE_ERROR, err, NULL,
			"launches cannot be taken: no memory or key for their threads");
	else
		atomic_store_explicit(&session, ++last_session, memory_order_release);
	return !err;
}

bool cuprobe_launch_apply(bool wanted)
{
	if (wanted && !cuprobe_env.native_stacks)
		cuprobe_python_look();
	if (wanted && !cuprobe_launch_busy())
		return !refused && launches_begin();
	if (!wanted) {
		atomic_store_explicit(&session, 0, memory_order_relaxed);
		refused = false;
	}
	return wanted;
}

bool cuprobe_launch_busy(void)
{
	return atomic_load_explicit(&session, memory_order_relaxed);
}

/* The stack's id, and in `weight` how many launches it stands for. */
static __u32 stack_take(struct launch_thread *t, __u64 now, struct cuprobe_registers at,
			__u32 *ret_weight)
{
	__u32 id;

	*ret_weight = CUPROBE_LAUNCH_WEIGHT_ONE;
	if (!cuprobe_outlet->consumers(CUPROBE_PROBE_stack))
		return 0;
	*ret_weight = cuprobe_budget_weight(&t->budget, now, cuprobe_env.stack_budget);
	if (!*ret_weight)
		return 0;
	id = cuprobe_stacks_take(&t->stacks, at);
	/* What is learned once does not count. */
	if (cuprobe_budget_measures(&t->budget) && !t->stacks.unwinding.learned)
		cuprobe_budget_spent(&t->budget, cuprobe_clock_now() - now);
	return id;
}

static void launch_take(struct launch_thread *t, __u32 api, __u32 correlation,
			struct cuprobe_registers at)
{
	__u64 now = cuprobe_clock_now();
	struct launch_slot *slot = cuprobe_launch_hold(t);
	__u32 stack, weight;

	if (!slot)
		return;
	stack = stack_take(t, now, at, &weight);
	*slot = (struct launch_slot){
		.record = {.time_ns = now,
			   .correlation = correlation,
			   .thread = t->tid,
			   .stack = stack,
			   .weight = weight,
			   .domain_api = api},
	};
}

static __u32 domain_api(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	return cbid | (domain == CUPTI_CB_DOMAIN_DRIVER_API ? CUPROBE_LAUNCH_DRIVER : 0);
}

/*
 * The runtime calls the driver with the same correlation id: that is one launch, and the outer call
 * is the one that the program made.
 */
static bool is_inner(const struct launch_thread *t, __u32 now_session,
		     const CUpti_CallbackData *call)
{
	return t->session == now_session && t->correlation == call->correlationId;
}

static void call_enter(__u32 now_session, __u32 api, const CUpti_CallbackData *call,
		       struct cuprobe_registers at)
{
	struct launch_thread *t = cuprobe_launch_thread();

	/* With nothing to tell the inner call by: each launch ends in one of the driver. */
	if (!t && api & CUPROBE_LAUNCH_DRIVER)
		cuprobe_ledger_lose(CUPROBE_PROBE_launch, 1);
	if (!t || is_inner(t, now_session, call))
		return;
	t->session = now_session;
	t->correlation = call->correlationId;
	launch_take(t, api, call->correlationId, at);
}

/* A call that failed has put nothing on a GPU. */
static void call_exit(__u32 api, const CUpti_CallbackData *call)
{
	struct launch_thread *t = cuprobe_launch_thread_mine();
	const struct launch_slot *held = t ? cuprobe_launch_held(t) : NULL;
	const int *result = call->functionReturnValue;

	if (!held || held->record.domain_api != api || t->correlation != call->correlationId)
		return;
	if (result && *result)
		t->holds = false;
	cuprobe_launch_release(t);
}

void cuprobe_launch_call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			 const CUpti_CallbackData *call, struct cuprobe_registers at)
{
	__u32 now_session = atomic_load_explicit(&session, memory_order_acquire);

	if (!now_session)
		return;
	if (call->callbackSite == CUPTI_API_ENTER)
		call_enter(now_session, domain_api(domain, cbid), call, at);
	else
		call_exit(domain_api(domain, cbid), call);
}

/*
 * The record of the call that captures a node becomes that of the node: such a call launches
 * nothing. Nodes are few and may be launched often, so that each has its stack.
 */
void cuprobe_launch_node(__u64 node, struct cuprobe_registers at)
{
	struct launch_thread *t = node ? cuprobe_launch_thread() : NULL;
	struct launch_slot *slot = t ? cuprobe_launch_held(t) : NULL;
	struct cuprobe_launch record = {.time_ns = cuprobe_clock_now()};

	if (slot)
		record = slot->record;
	if (t && (!slot || record.graph_node_id))
		slot = cuprobe_launch_hold(t);
	if (node && !t)
		cuprobe_ledger_lose(CUPROBE_PROBE_launch, 1);
	if (!slot)
		return;
	record.graph_node_id = node;
	record.correlation = 0;
	record.thread = t->tid;
	record.weight = CUPROBE_LAUNCH_WEIGHT_ONE;
	if (!record.stack && cuprobe_outlet->consumers(CUPROBE_PROBE_stack))
		record.stack = cuprobe_stacks_take(&t->stacks, at);
	*slot = (struct launch_slot){.record = record};
	if (!record.domain_api) /* there is no call whose end is shown */
		cuprobe_launch_release(t);
}

void cuprobe_launch_copy(__u64 node, __u64 original)
{
	struct launch_thread *t = node && original ? cuprobe_launch_thread() : NULL;
	struct launch_slot *slot = t ? cuprobe_launch_hold(t) : NULL;

	if (node && original && !t)
		cuprobe_ledger_lose(CUPROBE_PROBE_launch, 1);
	if (!slot)
		return;
	*slot = (struct launch_slot){
		.record = {.time_ns = cuprobe_clock_now(),
			   .graph_node_id = node,
			   .thread = t->tid,
			   .weight = CUPROBE_LAUNCH_WEIGHT_ONE},
		.original = original,
	};
	cuprobe_launch_release(t);
}

static void launch_put(const struct launch_slot *slot)
{
	struct cuprobe_launch record = slot->record;

	if (slot->original)
		record.stack = cuprobe_graph_nodes_stack(slot->original);
	if (slot->original && !record.stack)
		return; /* a copy of what was captured before anybody was attached */
	if (record.graph_node_id)
		cuprobe_graph_nodes_keep(record.graph_node_id, record.stack);
	*(struct cuprobe_launch *)cuprobe_batch_add(CUPROBE_PROBE_launch) = record;
}

void cuprobe_launch_pump(void)
{
	cuprobe_launch_threads_drain(launch_put);
	cuprobe_stacks_pump();
}
