/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, alone and in groups, now and in batches. */
#include <time.h>

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

struct traffic {
	uint32_t packets;
	double rate;
};

static uint64_t counter(nvtxDomainHandle_t domain, const char *name, uint64_t schema)
{
	const nvtxSemanticsTime_t semantics = {
		.header = {.structSize = sizeof(semantics),
			   .semanticId = NVTX_SEMANTIC_ID_TIME_V1,
			   .version = NVTX_TIME_SEMANTIC_VERSION},
		.timeDomainId = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
	};
	const nvtxCounterAttr_t a = {.structSize = sizeof(a),
				     .schemaId = schema,
				     .name = name,
				     .semantics = &semantics.header};

	return nvtxCounterRegister(domain, &a);
}

static uint64_t traffic_schema(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "packets", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "rate", NULL, 0, 0, NULL, NULL},
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 2,
		.payloadStaticSize = sizeof(struct traffic),
	};

	return nvtxPayloadSchemaRegister(domain, &schema);
}

static void batch(nvtxDomainHandle_t domain, uint64_t id)
{
	const int64_t values[] = {1, 2};
	struct timespec now;
	int64_t times[2];
	const nvtxCounterBatch_t b = {.counterId = id,
				      .counters = values,
				      .countersSize = sizeof(values),
				      .timestamps = times,
				      .timestampsSize = sizeof(times)};

	clock_gettime(CLOCK_MONOTONIC, &now);
	times[1] = now.tv_sec * 1000000000ll + now.tv_nsec;
	times[0] = times[1] - 1;
	nvtxCounterBatchSubmit(domain, &b);
}

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("counted");
	uint64_t tokens = counter(domain, "tokens", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
	uint64_t loss = counter(domain, "loss", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
	const struct traffic t = {7, 1.5};

	nvtxCounterSampleInt64(domain, tokens, -42);
	nvtxCounterSampleFloat64(domain, loss, 0.25);
	nvtxCounterSample(domain, counter(domain, "traffic", traffic_schema(domain)), &t,
			  sizeof(t));
	nvtxCounterSampleNoValue(domain, tokens, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
	batch(domain, tokens);
	return 0;
}
