/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of every CUDA call through the simulator: it is counted, gets a correlation id, is shown
 * to libcupti before and after, and fails where the script says so.
 */
#include "test/mock/driver.h"

#include <cupti_runtime_cbid.h>
#include <errno.h>

struct call_counter {
	_Atomic uint64_t calls;
	const char *_Atomic name;
};

static struct call_counter driver_calls[CUPTI_DRIVER_TRACE_CBID_SIZE];
static struct call_counter runtime_calls[CUPTI_RUNTIME_TRACE_CBID_SIZE];
static const struct mock_tools *_Atomic current_tools;
static _Atomic uint32_t last_correlation, inside;
static __thread uint32_t thread_correlation, thread_depth;

const struct mock_tools *call_tools(void)
{
	/* pairs with the store in mock_attach: the table behind it is complete */
	return atomic_load_explicit(&current_tools, memory_order_acquire);
}

uint32_t mock_calls_begun(void)
{
	return atomic_load(&last_correlation);
}

uint32_t mock_calls_inside(void)
{
	return atomic_load(&inside);
}

uint32_t call_correlation(void)
{
	return thread_correlation;
}

static struct call_counter *call_counter(CUpti_CallbackDomain domain, uint32_t cbid)
{
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		return cbid < CUPTI_RUNTIME_TRACE_CBID_SIZE ? &runtime_calls[cbid] : NULL;
	return cbid < CUPTI_DRIVER_TRACE_CBID_SIZE ? &driver_calls[cbid] : NULL;
}

uint64_t call_count(CUpti_CallbackDomain domain, uint32_t cbid, const char **ret_name)
{
	struct call_counter *counter = call_counter(domain, cbid);

	*ret_name = atomic_load(&counter->name);
	return atomic_load(&counter->calls);
}

static void call_number(struct mock_call *call)
{
	struct call_counter *counter = call_counter(call->domain, call->cbid);

	if (!atomic_load_explicit(&counter->name, memory_order_relaxed))
		atomic_store(&counter->name, call->name);
	atomic_fetch_add_explicit(&counter->calls, 1, memory_order_relaxed);
	call->nested = thread_depth++ > 0;
	if (!call->nested) {
		atomic_fetch_add(&inside, 1);
		thread_correlation = atomic_fetch_add(&last_correlation, 1) + 1;
	}
	call->correlation = thread_correlation;
	call->context = mock_current();
}

/* 0: the call goes on; else call->result says how it fails, and the caller only ends it. */
int mock_call_begin(struct mock_call *call)
{
	const struct mock_tools *tools = call_tools();

	call_number(call);
	if (tools)
		tools->enter(call);
	if (mock_fault(call->name, &call->result))
		return 1;
	if (call->anytime || call->domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		return 0;
	if (mock_injecting())
		mock_violation("%s called inside InitializeInjection", call->name);
	call->result = (int)driver_check();
	return call->result != CUDA_SUCCESS;
}

int mock_call_end(struct mock_call *call, int result)
{
	const struct mock_tools *tools = call_tools();

	call->result = result;
	call->context = mock_current();
	if (tools)
		tools->exit(call);
	if (!--thread_depth)
		atomic_fetch_sub(&inside, 1);
	return call->result;
}

int mock_attach(const struct mock_tools *tools)
{
	const struct mock_tools *expected = NULL;

	if (atomic_compare_exchange_strong(&current_tools, &expected, tools))
		return 0;
	if (expected == tools)
		return 0;
	mock_violation("two libcupti in one process: '%s' and '%s'", expected->path, tools->path);
	return -EBUSY;
}

void mock_detach(const struct mock_tools *tools)
{
	const struct mock_tools *expected = tools;

	atomic_compare_exchange_strong(&current_tools, &expected, NULL);
}
