/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's functions, found in the one libcupti of this process at run time. Those after the mark
 * may be missing, and are NULL then.
 */
#ifndef CUPROBE_INJECT_CUPTI_API_H
#define CUPROBE_INJECT_CUPTI_API_H

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <stdbool.h>

/* CUpti_SubscriberParams, which headers before CUDA 13.0 do not have. */
struct cuprobe_subscriber_params {
	size_t struct_size;
	const char *name;
	char *rival;
	size_t rival_size;
};

#define CUPROBE_RIVAL_BYTES 64 /* CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN */

/* X(member, result type, arguments): the symbol is "cupti" and the member's name. */
#define CUPROBE_CUPTI_REQUIRED(X)                                                                  \
	X(GetVersion, CUptiResult, (uint32_t *))                                                   \
	X(Subscribe, CUptiResult, (CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *))          \
	X(Unsubscribe, CUptiResult, (CUpti_SubscriberHandle))                                      \
	X(EnableCallback, CUptiResult,                                                             \
	  (uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId))              \
	X(EnableDomain, CUptiResult, (uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain))     \
	X(GetCallbackName, CUptiResult, (CUpti_CallbackDomain, uint32_t, const char **))           \
	X(ActivityEnable, CUptiResult, (CUpti_ActivityKind))                                       \
	X(ActivityDisable, CUptiResult, (CUpti_ActivityKind))                                      \
	X(ActivityRegisterCallbacks, CUptiResult,                                                  \
	  (CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc))                   \
	X(ActivityFlushAll, CUptiResult, (uint32_t))                                               \
	X(ActivityGetNextRecord, CUptiResult, (uint8_t *, size_t, CUpti_Activity **))

#define CUPROBE_CUPTI_OPTIONAL(X)                                                                  \
	X(Subscribe_v2, CUptiResult,                                                               \
	  (CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,                                   \
	   struct cuprobe_subscriber_params *))                                                    \
	X(Finalize, CUptiResult, (void))                                                           \
	X(ActivityEnableAndDump, CUptiResult, (CUpti_ActivityKind))                                \
	X(ActivityRegisterTimestampCallback, CUptiResult, (CUpti_TimestampCallbackFunc))           \
	X(GetGraphNodeId, CUptiResult, (CUgraphNode, uint64_t *))                                  \
	X(GetTimestamp, CUptiResult, (uint64_t *))                                                 \
	X(ActivityGetNumDroppedRecords, CUptiResult, (CUcontext, uint32_t, size_t *))              \
	X(ActivityConfigureUnifiedMemoryCounter, CUptiResult,                                      \
	  (CUpti_ActivityUnifiedMemoryCounterConfig *, uint32_t))                                  \
	X(ActivityEnableLatencyTimestamps, CUptiResult, (uint8_t))                                 \
	X(GetContextId, CUptiResult, (CUcontext, uint32_t *))                                      \
	X(GetDeviceId, CUptiResult, (CUcontext, uint32_t *))                                       \
	X(GetCubinCrc, CUptiResult, (CUpti_GetCubinCrcParams *))                                   \
	X(PCSamplingEnable, CUptiResult, (CUpti_PCSamplingEnableParams *))                         \
	X(PCSamplingDisable, CUptiResult, (CUpti_PCSamplingDisableParams *))                       \
	X(PCSamplingStart, CUptiResult, (CUpti_PCSamplingStartParams *))                           \
	X(PCSamplingStop, CUptiResult, (CUpti_PCSamplingStopParams *))                             \
	X(PCSamplingGetData, CUptiResult, (CUpti_PCSamplingGetDataParams *))                       \
	X(PCSamplingSetConfigurationAttribute, CUptiResult,                                        \
	  (CUpti_PCSamplingConfigurationInfoParams *))                                             \
	X(PCSamplingGetConfigurationAttribute, CUptiResult,                                        \
	  (CUpti_PCSamplingConfigurationInfoParams *))                                             \
	X(PCSamplingGetNumStallReasons, CUptiResult, (CUpti_PCSamplingGetNumStallReasonsParams *)) \
	X(PCSamplingGetStallReasons, CUptiResult, (CUpti_PCSamplingGetStallReasonsParams *))       \
	X(SetThreadIdType, CUptiResult, (CUpti_ActivityThreadIdType))                              \
	X(GetResultString, CUptiResult, (CUptiResult, const char **))

struct cuprobe_cupti_api {
#define CUPROBE_CUPTI_MEMBER(name, result, arguments) result(*name) arguments;
	CUPROBE_CUPTI_REQUIRED(CUPROBE_CUPTI_MEMBER)
	CUPROBE_CUPTI_OPTIONAL(CUPROBE_CUPTI_MEMBER)
#undef CUPROBE_CUPTI_MEMBER
};

/* Written once, before CUPTI is used. */
extern struct cuprobe_cupti_api cuprobe_cupti;
extern uint32_t cuprobe_cupti_version; /* cuptiGetVersion(), 0 until loaded */

/*
 * Finds and loads libcupti, once; later calls do nothing. 0, or a negative errno, and then
 * `ret_why` says why.
 */
int cuprobe_cupti_load(char *ret_why, size_t why_size);

/* The path of the libcupti in use, or "". */
const char *cuprobe_cupti_path(void);

/* CUPTI's name for a result. Never NULL. */
const char *cuprobe_cupti_result(CUptiResult result);

#endif
