/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are handed in when they are over: alone, in a batch, and with a clock of no use. */
#include <time.h>

#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

struct transfer {
	int64_t begin, end;
	const char *name;
	uint32_t bytes;
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Of a struct transfer whose times are of that clock. */
static uint64_t transfer_schema(nvtxDomainHandle_t domain, uint64_t clock)
{
	const nvtxSemanticsTime_t time = {
		.header = {.structSize = sizeof(time),
			   .semanticId = NVTX_SEMANTIC_ID_TIME_V1,
			   .version = NVTX_TIME_SEMANTIC_VERSION},
		.timeDomainId = clock,
	};
	const nvtxPayloadSchemaEntry_t entries[] = {
		{NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP,
		 NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin", NULL, 0, 0, &time.header, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP,
		 NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end", NULL, 0, 0, &time.header, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name",
		 NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "bytes", NULL, 0, 0, NULL, NULL},
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.flags = NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND,
		.entries = entries,
		.numEntries = 4,
		.payloadStaticSize = sizeof(struct transfer),
	};

	return nvtxPayloadSchemaRegister(domain, &schema);
}

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("deferred");
	uint64_t known = transfer_schema(domain, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC);
	uint64_t other = transfer_schema(domain, NVTX_TIMESTAMP_TYPE_CPU_TSC);
	const int64_t t = now();
	const struct transfer transfers[] = {{t, t + 1, "first", 1}, {t + 2, t + 3, "second", 2}};
	const nvtxPayloadData_t one = {known, sizeof(transfers[0]), &transfers[0]};
	const nvtxPayloadData_t useless = {other, sizeof(transfers[0]), &transfers[0]};
	const nvtxEventBatch_t batch = {
		.eventSchemaId = known, .size = sizeof(transfers), .events = transfers};

	nvtxEventSubmit(domain, &one, 1);
	nvtxEventBatchSubmit(domain, &batch);
	nvtxEventSubmit(domain, &useless, 1);
	return 0;
}
