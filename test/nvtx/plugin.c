/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object with an NVTX of its own; built twice, with different names. */
#include <nvtx3/nvToolsExt.h>

void plugin_work(void);

void plugin_work(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("plugin domain");
	nvtxEventAttributes_t a = {0};

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(domain, PLUGIN " registered");
	nvtxRangePushA(PLUGIN);
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
	nvtxRangePop();
}
