/* SPDX-License-Identifier: Apache-2.0 */
#include "microbenchmarks/nvtx_client.h"

#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t domain;
static nvtxEventAttributes_t attributes;

static void client_init(void)
{
	nvtxInitialize(NULL);
	domain = nvtxDomainCreateA("benchmark");
	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.colorType = NVTX_COLOR_ARGB;
	attributes.color = 0xff00ff00;
	attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
}

static void client_pairs(long count)
{
	for (long i = 0; i < count; i++) {
		nvtxRangePushA("forward pass of layer 17");
		nvtxRangePop();
	}
}

static void client_registered_pairs(long count)
{
	for (long i = 0; i < count; i++) {
		nvtxDomainRangePushEx(domain, &attributes);
		nvtxDomainRangePop(domain);
	}
}

extern const struct nvtx_client nvtx_client;
const struct nvtx_client nvtx_client = {client_init, client_pairs, client_registered_pairs};
