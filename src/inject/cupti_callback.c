/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_callback.h"

#include "src/inject/cupti_calls.h"
#include "src/inject/cupti_module.h"
#include "src/inject/cupti_release.h"
#include "src/inject/guard.h"

void CUPTIAPI cuprobe_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			       const void *data)
{
	struct cuprobe_guard guard;
	bool due = false;

	(void)user;
	if (!cuprobe_guard_enter(&guard))
		return;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API)
		due = cuprobe_calls_callback(domain, cbid, data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		cuprobe_module_callback(cbid, data);
	cuprobe_guard_leave(&guard);
	if (due)
		cuprobe_release_finalize();
}
