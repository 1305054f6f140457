/* SPDX-License-Identifier: Apache-2.0 */
/* Extended payloads, through the headers that have them. */
#include <nvtx3/nvToolsExtPayload.h>

struct request {
	int32_t id;
	float seconds;
	const char *user;
	uint8_t state;
};

int main(void)
{
	const nvtxPayloadEnum_t states[] = {{"waiting", 0, 0}, {"running", 1, 0}};
	const nvtxPayloadEnumAttr_t states_attr = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
		.entries = states,
		.numEntries = 2,
		.sizeOfEnum = 1,
	};
	nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "id", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "seconds", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "user", NULL, 0, 0, NULL, NULL},
		{0, nvtxPayloadEnumRegister(domain, &states_attr), "state", NULL, 0, 0, NULL, NULL},
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 4,
		.payloadStaticSize = sizeof(struct request),
	};
	uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
	struct request request = {7, 0.5f, "somebody", 1};
	nvtxPayloadData_t data;
	nvtxEventAttributes_t a = {0};

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = "request";
	data.schemaId = id;
	data.size = sizeof(request);
	data.payload = &request;
	a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a.payload.ullValue = (uint64_t)(uintptr_t)&data;
	a.reserved0 = 1;
	nvtxDomainRangePushEx(domain, &a);
	request.state = 0;
	nvtxRangePopPayload(domain, &data, 1);
	return nvtxDomainIsEnabled(domain) ? 0 : 1;
}
