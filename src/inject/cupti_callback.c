/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_callback.h"

#include <stdbool.h>

#include "src/inject/cupti_api.h"
#include "src/inject/cupti_calls.h"
#include "src/inject/cupti_module.h"
#include "src/inject/cupti_pc.h"
#include "src/inject/cupti_release.h"
#include "src/inject/graph_nodes.h"
#include "src/inject/guard.h"
#include "src/inject/notice.h"

static const CUpti_CallbackIdResource modules[] = {
	CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
	CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
	CUPTI_CBID_RESOURCE_MODULE_LOADED,
	CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
};

static const CUpti_CallbackIdResource nodes[] = {
	CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
	CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
};

#define COUNT(ids) (sizeof(ids) / sizeof((ids)[0]))

static CUpti_SubscriberHandle subscriber;
static bool modules_told, nodes_told;

void cuprobe_callback_begin(CUpti_SubscriberHandle of)
{
	subscriber = of;
	modules_told = nodes_told = false;
}

static CUptiResult resources_tell(const CUpti_CallbackIdResource *ids, size_t count)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; i < count; i++) {
		CUptiResult one = cuprobe_cupti.EnableCallback(1, subscriber,
							       CUPTI_CB_DOMAIN_RESOURCE, ids[i]);

		result = result == CUPTI_SUCCESS ? one : result;
	}
	return result;
}

void cuprobe_callback_modules(void)
{
	CUptiResult result;

	if (modules_told)
		return;
	modules_told = true;
	result = resources_tell(modules, COUNT(modules));
	if (result != CUPTI_SUCCESS)
		cuprobe_notice_message(CUPROBE_ERROR, (int)result, NULL,
				       "CUPTI does not tell of contexts and modules: %s",
				       cuprobe_cupti_result(result));
}

void cuprobe_callback_nodes(void)
{
	if (nodes_told || !cuprobe_cupti.GetGraphNodeId)
		return;
	nodes_told = true;
	if (resources_tell(nodes, COUNT(nodes)) != CUPTI_SUCCESS)
		cuprobe_notice_message(CUPROBE_NOTE, 0, NULL,
				       "this CUPTI does not tell where nodes of CUDA graphs come "
				       "from");
}

void CUPTIAPI cuprobe_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			       const void *data)
{
	struct cuprobe_guard guard;
	bool due = false;

	(void)user;
	if (!cuprobe_guard_enter(&guard))
		return;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		due = cuprobe_calls_callback(domain, cbid, data, CUPROBE_REGISTERS_OF_CALLER());
	} else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		cuprobe_module_callback(cbid, data);
		cuprobe_pc_callback(cbid, data);
		cuprobe_graph_nodes_callback(cbid, data, CUPROBE_REGISTERS_OF_CALLER());
	}
	cuprobe_guard_leave(&guard);
	if (due)
		cuprobe_release_finalize();
}
