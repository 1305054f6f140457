/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_calls.h"

#include <stdatomic.h>
#include <string.h>

#include "src/inject/cupti_api.h"
#include "src/inject/cupti_fence.h"
#include "src/inject/cupti_kinds.h"
#include "src/inject/cupti_release.h"
#include "src/inject/graph_nodes.h"
#include "src/inject/launch.h"
#include "src/inject/notice.h"
#include "src/inject/parca_launch.h"

#define CBIDS 1024u /* more than any CUPTI has */
#define KERNEL CUPROBE_CALL_LAUNCHES_KERNEL
#define GRAPH CUPROBE_CALL_LAUNCHES_GRAPH
#define WATCHED (CUPROBE_CALL_USES_GRAPH | CUPROBE_CALL_WAITS)

struct named {
	const char *begins; /* the rest is a version, a variant or a kind of memory */
	__u8 classes;
};

/* The first that fits counts. */
static const struct named named[] = {
	{"cudaLaunchHostFunc", 0}, /* runs on the CPU */
	{"cuLaunchHostFunc", 0},
	{"cudaLaunch", KERNEL},
	{"__cudaLaunch", KERNEL},
	{"cuLaunch", KERNEL | CUPROBE_CALL_FENCED},
	{"cudaGraphLaunch", GRAPH},
	{"cuGraphLaunch", GRAPH | CUPROBE_CALL_USES_GRAPH | CUPROBE_CALL_FENCED},
	{"cuGraphInstantiate", CUPROBE_CALL_USES_GRAPH | CUPROBE_CALL_FENCED},
	{"cuGraphUpload", CUPROBE_CALL_USES_GRAPH | CUPROBE_CALL_FENCED},
	{"cuGraph", CUPROBE_CALL_FENCED},
	{"cuCtxSynchronize", CUPROBE_CALL_WAITS},
	{"cuEventSynchronize", CUPROBE_CALL_WAITS},
	{"cuStreamSynchronize", CUPROBE_CALL_WAITS},
	{"cuMemcpyDtoHAsync", CUPROBE_CALL_COPIES},
	{"cuMemcpyDtoH", CUPROBE_CALL_COPIES | CUPROBE_CALL_WAITS},
	{"cuMemcpyHtoD", CUPROBE_CALL_COPIES},
	{"cuMemcpy", CUPROBE_CALL_COPIES | CUPROBE_CALL_FENCED},
	{"cuMemset", CUPROBE_CALL_COPIES | CUPROBE_CALL_FENCED},
	{"cuMemBatchDecompress", CUPROBE_CALL_FENCED},
	{"cuModule", CUPROBE_CALL_FENCED}, /* these load, or look up what is loaded then */
	{"cuLibrary", CUPROBE_CALL_FENCED},
	{"cuKernel", CUPROBE_CALL_FENCED},
	{"cuFunc", CUPROBE_CALL_FENCED},
	{"cuOccupancy", CUPROBE_CALL_FENCED},
	{"cudaMemcpy", CUPROBE_CALL_COPIES},
	{"cudaMemset", CUPROBE_CALL_COPIES},
};

static const CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_RUNTIME_API,
					       CUPTI_CB_DOMAIN_DRIVER_API};

#define DOMAINS (sizeof(domains) / sizeof(domains[0]))

/* By domain as above and callback id; written before the first callback. */
static _Atomic __u8 classes_of[DOMAINS][CBIDS];

static CUpti_SubscriberHandle subscriber;
/* Since CUPTI came up. */
static __u8 asked_for, shown; /* classes */
static bool all_shown;
static CUptiResult refusal;
static bool refusal_told;

__u8 cuprobe_calls_classes(const char *name)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (!strncmp(name, named[i].begins, strlen(named[i].begins)))
			return named[i].classes;
	}
	return 0;
}

static __u8 call_classes(size_t domain, CUpti_CallbackId cbid)
{
	return cbid < CBIDS ? atomic_load_explicit(&classes_of[domain][cbid], memory_order_relaxed)
			    : 0;
}

static void domain_learn(size_t domain)
{
	for (CUpti_CallbackId cbid = 1; cbid < CBIDS; cbid++) {
		const char *name = NULL;

		if (cuprobe_cupti.GetCallbackName(domains[domain], cbid, &name) == CUPTI_SUCCESS &&
		    name)
			atomic_store_explicit(&classes_of[domain][cbid],
					      cuprobe_calls_classes(name), memory_order_relaxed);
	}
}

/* Also called for a call that began before what shows it was switched off. */
bool cuprobe_calls_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			    const CUpti_CallbackData *call, struct cuprobe_registers at)
{
	__u8 classes = call_classes(domain == CUPTI_CB_DOMAIN_DRIVER_API, cbid);

	if (classes & CUPROBE_CALL_FENCED)
		cuprobe_fence_launch(call);
	if (classes & CUPROBE_CALL_USES_GRAPH)
		cuprobe_graph_nodes_call(call);
	if (classes & CUPROBE_CALL_ENQUEUES)
		cuprobe_launch_call(domain, cbid, call, at);
	if (classes & CUPROBE_CALL_LAUNCHES)
		cuprobe_parca_launch(domain, cbid, call, classes & CUPROBE_CALL_LAUNCHES_GRAPH);
	return cuprobe_release_call(call, classes & CUPROBE_CALL_USES_GRAPH);
}

static void domain_show(size_t domain, __u8 classes)
{
	for (CUpti_CallbackId cbid = 1; cbid < CBIDS; cbid++) {
		__u8 of_call = call_classes(domain, cbid);
		CUptiResult result;

		if (!(of_call & classes) || (of_call & asked_for))
			continue;
		result = cuprobe_cupti.EnableCallback(1, subscriber, domains[domain], cbid);
		if (result == CUPTI_SUCCESS)
			shown |= of_call & classes;
		else
			refusal = result;
	}
}

static void refusal_report(void)
{
	if (!refusal_told)
		cuprobe_notice_message(
			CUPROBE_ERROR, (int)refusal, cuprobe_kinds_remedy(refusal),
			"CUPTI shows no calls, so that launches and their stacks are "
			"not known: %s",
			cuprobe_cupti_result(refusal));
	refusal_told = true;
}

bool cuprobe_calls_show(__u8 classes)
{
	if (all_shown)
		return true;
	if (classes & ~asked_for) {
		for (size_t domain = 0; domain < DOMAINS; domain++)
			domain_show(domain, classes);
		asked_for |= classes;
	}
	if (!(shown & classes) && refusal != CUPTI_SUCCESS)
		refusal_report();
	return shown & classes;
}

void cuprobe_calls_begin(CUpti_SubscriberHandle of)
{
	static bool learned;

	subscriber = of;
	for (size_t domain = 0; domain < DOMAINS && !learned; domain++)
		domain_learn(domain);
	learned = true;
	all_shown = refusal_told = false;
	asked_for = shown = 0;
	refusal = CUPTI_SUCCESS;
	cuprobe_calls_show(WATCHED);
}

CUptiResult cuprobe_calls_show_all(void)
{
	for (size_t domain = 0; domain < DOMAINS && !all_shown; domain++) {
		CUptiResult result = cuprobe_cupti.EnableDomain(1, subscriber, domains[domain]);

		if (result != CUPTI_SUCCESS)
			return result;
	}
	all_shown = true;
	return CUPTI_SUCCESS;
}
