/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_callback.h"

#include "src/inject/cupti_api.h"
#include "src/inject/cupti_calls.h"
#include "src/inject/cupti_module.h"
#include "src/inject/cupti_pc.h"
#include "src/inject/cupti_release.h"
#include "src/inject/cupti_session.h"
#include "src/inject/graph_nodes.h"
#include "src/inject/guard.h"
#include "src/inject/notice.h"

static const CUpti_CallbackIdResource resources[] = {
	CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
	CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
	CUPTI_CBID_RESOURCE_MODULE_LOADED,
	CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
};

void cuprobe_callback_resources(bool wanted)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		CUptiResult one =
			cuprobe_cupti.EnableCallback(wanted, cuprobe_session_subscriber(),
						     CUPTI_CB_DOMAIN_RESOURCE, resources[i]);

		result = result == CUPTI_SUCCESS ? one : result;
	}
	if (result != CUPTI_SUCCESS)
		cuprobe_notice_message(CUPROBE_ERROR, (int)result, NULL,
				       "CUPTI does not tell of contexts and modules: %s",
				       cuprobe_cupti_result(result));
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
