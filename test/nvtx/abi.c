/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the library's own declarations of NVTX's interface against NVIDIA's headers. */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtSync.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#define HAVE_PAYLOAD 1
#else
#define HAVE_PAYLOAD 0
#endif
#if __has_include(<nvtx3/nvToolsExtSemanticsTime.h>) /* came with what is deferred */
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#define HAVE_COUNTERS 1
#else
#define HAVE_COUNTERS 0
#endif

#ifndef NVTX_STATIC_CAST /* is not there any more, but macros use it */
#define NVTX_STATIC_CAST(type, value) ((type)(value))
#endif

#include "src/inject/nvtx_abi.h"

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define SAME_MEMBER(ours, member, theirs, their_member)                                            \
	SAME(offsetof(struct ours, member), offsetof(theirs, their_member));                       \
	SAME(sizeof(((struct ours *)0)->member), sizeof(((theirs *)0)->their_member))

SAME(NVTX_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_MODULE_CUDA, NVTX_CB_MODULE_CUDA);
SAME(NVTX_MODULE_OPENCL, NVTX_CB_MODULE_OPENCL);
SAME(NVTX_MODULE_CUDART, NVTX_CB_MODULE_CUDART);
SAME(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_MODULE_SYNC, NVTX_CB_MODULE_SYNC);
SAME(NVTX_CORE_COUNT, NVTX_CBID_CORE_SIZE);
SAME(NVTX_CORE_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_CORE_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_CORE_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_CORE_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_CORE_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_CORE_NAME_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
SAME(NVTX_CORE_NAME_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);
SAME(NVTX_CORE2_COUNT, NVTX_CBID_CORE2_SIZE);
SAME(NVTX_CORE2_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_CORE2_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_CORE2_RESOURCE_CREATE, NVTX_CBID_CORE2_DomainResourceCreate);
SAME(NVTX_CORE2_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_CORE2_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_CORE2_INITIALIZE, NVTX_CBID_CORE2_Initialize);
SAME(NVTX_CUDA_COUNT, NVTX_CBID_CUDA_SIZE);
SAME(NVTX_CUDA_NAME_STREAM_A, NVTX_CBID_CUDA_NameCuStreamA);
SAME(NVTX_OPENCL_COUNT, NVTX_CBID_OPENCL_SIZE);
SAME(NVTX_OPENCL_NAME_QUEUE_A, NVTX_CBID_OPENCL_NameClCommandQueueA);
SAME(NVTX_OPENCL_NAME_EVENT_W, NVTX_CBID_OPENCL_NameClEventW);
SAME(NVTX_SYNC_COUNT, NVTX_CBID_SYNC_SIZE);
SAME(NVTX_SYNC_CREATE, NVTX_CBID_SYNC_DomainSyncUserCreate);
SAME(NVTX_SYNC_ACQUIRE, NVTX_CBID_SYNC_DomainSyncUserAcquireStart);
SAME(NVTX_SYNC_FAILED, NVTX_CBID_SYNC_DomainSyncUserAcquireFailed);
SAME(NVTX_SYNC_ACQUIRED, NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess);
SAME(NVTX_SYNC_RELEASING, NVTX_CBID_SYNC_DomainSyncUserReleasing);
SAME(NVTX_CUDART_COUNT, NVTX_CBID_CUDART_SIZE);
SAME(NVTX_CUDART_NAME_STREAM_A, NVTX_CBID_CUDART_NameCudaStreamA);

SAME(sizeof(struct nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
SAME_MEMBER(nvtx_callbacks, table, NvtxExportTableCallbacks, GetModuleFunctionTable);

SAME(NVTX_LEVEL_UNKNOWN, NVTX_NO_PUSH_POP_TRACKING);
SAME(NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(sizeof(struct nvtx_attributes), sizeof(nvtxEventAttributes_t));
SAME_MEMBER(nvtx_attributes, bytes, nvtxEventAttributes_t, size);
SAME_MEMBER(nvtx_attributes, category, nvtxEventAttributes_t, category);
SAME_MEMBER(nvtx_attributes, color_type, nvtxEventAttributes_t, colorType);
SAME_MEMBER(nvtx_attributes, color, nvtxEventAttributes_t, color);
SAME_MEMBER(nvtx_attributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_MEMBER(nvtx_attributes, payload_count, nvtxEventAttributes_t, reserved0);
SAME_MEMBER(nvtx_attributes, payload, nvtxEventAttributes_t, payload);
SAME_MEMBER(nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
SAME_MEMBER(nvtx_attributes, message, nvtxEventAttributes_t, message);
SAME(sizeof(struct nvtx_resource_attributes), sizeof(nvtxResourceAttributes_t));
SAME_MEMBER(nvtx_resource_attributes, identifier_type, nvtxResourceAttributes_t, identifierType);
SAME_MEMBER(nvtx_resource_attributes, identifier, nvtxResourceAttributes_t, identifier);
SAME_MEMBER(nvtx_resource_attributes, message, nvtxResourceAttributes_t, message);
SAME(sizeof(struct nvtx_sync_attributes), sizeof(nvtxSyncUserAttributes_t));
SAME_MEMBER(nvtx_sync_attributes, message, nvtxSyncUserAttributes_t, message);
SAME(NVTX_RESOURCE_THREAD_NATIVE, NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);

#if HAVE_PAYLOAD
SAME(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
SAME(NVTX_SLOT_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(NVTX_SLOT_ENUM_REGISTER, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME(NVTX_SLOT_MARK, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(NVTX_SLOT_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(NVTX_SLOT_DOMAIN_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(NVTX_SLOT_TIMESTAMP, NVTX3EXT_CBID_nvtxTimestampGet);
SAME(sizeof(struct nvtx_extension), sizeof(nvtxExtModuleInfo_t));
SAME_MEMBER(nvtx_extension, module, nvtxExtModuleInfo_t, moduleId);
SAME_MEMBER(nvtx_extension, segments, nvtxExtModuleInfo_t, segments);
SAME(sizeof(struct nvtx_segment), sizeof(nvtxExtModuleSegment_t));
SAME_MEMBER(nvtx_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SAME(sizeof(struct nvtx_payload), sizeof(nvtxPayloadData_t));
SAME_MEMBER(nvtx_payload, data, nvtxPayloadData_t, payload);
SAME(sizeof(struct nvtx_schema_entry), sizeof(nvtxPayloadSchemaEntry_t));
SAME_MEMBER(nvtx_schema_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
SAME_MEMBER(nvtx_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME(sizeof(struct nvtx_schema_attributes), sizeof(nvtxPayloadSchemaAttr_t));
SAME_MEMBER(nvtx_schema_attributes, entries, nvtxPayloadSchemaAttr_t, entries);
SAME_MEMBER(nvtx_schema_attributes, static_bytes, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_MEMBER(nvtx_schema_attributes, id, nvtxPayloadSchemaAttr_t, schemaId);
SAME(sizeof(struct nvtx_enum_entry), sizeof(nvtxPayloadEnum_t));
SAME(sizeof(struct nvtx_enum_attributes), sizeof(nvtxPayloadEnumAttr_t));
SAME_MEMBER(nvtx_enum_attributes, id, nvtxPayloadEnumAttr_t, schemaId);
SAME(NVTX_SCHEMA_TYPE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE);
SAME(NVTX_SCHEMA_STATIC_BYTES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
SAME(NVTX_SCHEMA_PACK_ALIGN, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);
SAME(NVTX_SCHEMA_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME(NVTX_ENUM_BYTES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME(NVTX_ENUM_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME(NVTX_SCHEMA_DYNAMIC, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
SAME(NVTX_SCHEMA_FIRST_DYNAMIC, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
SAME(NVTX_ENTRY_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME(NVTX_ENTRY_FROM_HERE, NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
SAME(NVTX_ENTRY_ARRAY_ZERO, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED);
SAME(NVTX_ENTRY_ARRAY_INDEX, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
SAME(NVTX_ENTRY_HIDE, NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
SAME(NVTX_ENTRY_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
SAME(NVTX_TYPE_CHAR, NVTX_PAYLOAD_ENTRY_TYPE_CHAR);
SAME(NVTX_TYPE_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
SAME(NVTX_TYPE_CHAR32, NVTX_PAYLOAD_ENTRY_TYPE_CHAR32);
SAME(NVTX_TYPE_FLOAT128, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128);
SAME(NVTX_TYPE_COLOR, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB);
SAME(NVTX_TYPE_STRING_UTF32, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
SAME(NVTX_TYPE_REGISTERED_STRING, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
SAME(NVTX_TYPE_RAW, NVTX_TYPE_PAYLOAD_SCHEMA_RAW);
#endif

#if HAVE_COUNTERS
SAME(NVTX_SLOT_TIME_DOMAIN, NVTX3EXT_CBID_nvtxTimeDomainRegister);
SAME(NVTX_SLOT_EVENT_SUBMIT, NVTX3EXT_CBID_nvtxEventSubmit);
SAME(NVTX_SLOT_EVENT_BATCH, NVTX3EXT_CBID_nvtxEventBatchSubmit);
SAME(sizeof(struct nvtx_event_batch), sizeof(nvtxEventBatch_t));
SAME_MEMBER(nvtx_event_batch, bytes, nvtxEventBatch_t, size);
SAME(NVTX_EXTENSION_COUNTERS, NVTX_EXT_COUNTERS_MODULEID);
SAME(NVTX_COUNTERS_REGISTER, NVTX3EXT_CBID_nvtxCounterRegister);
SAME(NVTX_COUNTERS_SAMPLE_INT64, NVTX3EXT_CBID_nvtxCounterSampleInt64);
SAME(NVTX_COUNTERS_SAMPLE_FLOAT64, NVTX3EXT_CBID_nvtxCounterSampleFloat64);
SAME(NVTX_COUNTERS_SAMPLE, NVTX3EXT_CBID_nvtxCounterSample);
SAME(NVTX_COUNTERS_NO_VALUE, NVTX3EXT_CBID_nvtxCounterSampleNoValue);
SAME(NVTX_COUNTERS_BATCH, NVTX3EXT_CBID_nvtxCounterBatchSubmit);
SAME(NVTX_COUNTER_FIRST_DYNAMIC, NVTX_COUNTER_ID_DYNAMIC_START);
SAME(sizeof(struct nvtx_counter_attributes), sizeof(nvtxCounterAttr_t));
SAME_MEMBER(nvtx_counter_attributes, schema, nvtxCounterAttr_t, schemaId);
SAME_MEMBER(nvtx_counter_attributes, semantics, nvtxCounterAttr_t, semantics);
SAME_MEMBER(nvtx_counter_attributes, id, nvtxCounterAttr_t, counterId);
SAME(sizeof(struct nvtx_counter_batch), sizeof(nvtxCounterBatch_t));
SAME_MEMBER(nvtx_counter_batch, bytes, nvtxCounterBatch_t, countersSize);
SAME_MEMBER(nvtx_counter_batch, times, nvtxCounterBatch_t, timestamps);
SAME(NVTX_NO_VALUE_ZERO, NVTX_COUNTER_SAMPLE_ZERO);
SAME(NVTX_NO_VALUE_UNCHANGED, NVTX_COUNTER_SAMPLE_UNCHANGED);
SAME(NVTX_NO_VALUE_UNAVAILABLE, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
SAME(NVTX_ENTRY_TIMESTAMP, NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP);
SAME(NVTX_ENTRY_OF_BEGIN, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
SAME(NVTX_ENTRY_OF_END, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
SAME(NVTX_ENTRY_OF_MARK, NVTX_PAYLOAD_ENTRY_FLAG_MARK);
SAME(sizeof(struct nvtx_semantics_time), sizeof(nvtxSemanticsTime_t));
SAME_MEMBER(nvtx_semantics, id, nvtxSemanticsHeader_t, semanticId);
SAME_MEMBER(nvtx_semantics, next, nvtxSemanticsHeader_t, next);
SAME_MEMBER(nvtx_semantics_time, domain, nvtxSemanticsTime_t, timeDomainId);
SAME(NVTX_SEMANTICS_TIME, NVTX_SEMANTIC_ID_TIME_V1);
SAME(sizeof(struct nvtx_time_attributes), sizeof(nvtxTimeDomainAttr_t));
SAME_MEMBER(nvtx_time_attributes, time, nvtxTimeDomainAttr_t, timestampTypeId);
SAME_MEMBER(nvtx_time_attributes, id, nvtxTimeDomainAttr_t, timeDomainId);
SAME(NVTX_TIME_OF_TOOL, NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED);
SAME(NVTX_TIME_MONOTONIC, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC);
SAME(NVTX_TIME_MONOTONIC_COARSE, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_COARSE);
SAME(NVTX_TIME_STEADY_CLOCK, NVTX_TIMESTAMP_TYPE_CPP_STEADY_CLOCK);
#endif

int main(void)
{
	return 0;
}
