/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_pc_context.h"
#include "src/inject/env.h"
#include "src/inject/pc_ring.h"

#define CONFIG_PCS 4096u
#define HARDWARE_LEAST (4ull << 20)
#define WORKER_SLEEP_MS 50
#define MODE_SERIALIZED (cuprobe_env.pc_mode == CUPROBE_PC_SETTING_SERIALIZED)

static const char stall_prefix[] = "smsp__pcsamp_warps_issue_stalled_";
static const char idle_suffix[] = "_not_issued";

struct names {
	char text[CUPROBE_PC_REASONS][CUPTI_STALL_REASON_STRING_SIZE];
	char *at[CUPROBE_PC_REASONS];
};

static CUptiResult reasons_query(struct cuprobe_pc_context *c, struct names *names,
				 const char **ret_function)
{
	size_t count = 0;
	CUpti_PCSamplingGetNumStallReasonsParams number = {
		.size = CUpti_PCSamplingGetNumStallReasonsParamsSize,
		.ctx = c->handle,
		.numStallReasons = &count,
	};
	CUpti_PCSamplingGetStallReasonsParams reasons = {
		.size = CUpti_PCSamplingGetStallReasonsParamsSize,
		.ctx = c->handle,
		.stallReasonIndex = c->reasons,
		.stallReasons = names->at,
	};
	CUptiResult result = cuprobe_cupti.PCSamplingGetNumStallReasons(&number);

	*ret_function = "cuptiPCSamplingGetNumStallReasons";
	if (result != CUPTI_SUCCESS)
		return result;
	c->reason_count = count < CUPROBE_PC_REASONS ? (__u32)count : CUPROBE_PC_REASONS;
	reasons.numStallReasons = c->reason_count;
	*ret_function = "cuptiPCSamplingGetStallReasons";
	return cuprobe_cupti.PCSamplingGetStallReasons(&reasons);
}

/* "..._long_scoreboard_not_issued" counts a part of what "..._long_scoreboard" counts. */
static void role_find(struct cuprobe_pc_context *c, const struct names *names, __u32 i)
{
	const char *name = names->at[i], *suffix;
	__u32 index = c->reasons[i];
	size_t bytes = strlen(name);

	if (index >= CUPROBE_PC_REASONS ||
	    strncmp(name, stall_prefix, sizeof(stall_prefix) - 1) != 0)
		return;
	c->roles[index].role = CUPROBE_PC_ROLE_REASON;
	suffix = bytes > sizeof(idle_suffix) ? name + bytes - (sizeof(idle_suffix) - 1) : name;
	if (strcmp(suffix, idle_suffix) != 0)
		return;
	for (__u32 j = 0; j < c->reason_count; j++) {
		if (c->reasons[j] >= CUPROBE_PC_REASONS ||
		    strncmp(names->at[j], name, (size_t)(suffix - name)) != 0 ||
		    names->at[j][suffix - name])
			continue;
		c->roles[index].role = CUPROBE_PC_ROLE_NOT_ISSUED;
		c->roles[index].base = (__u8)c->reasons[j];
	}
}

static void reason_tell(const struct cuprobe_pc_context *c, const char *name, __u32 index)
{
	struct cuprobe_pc_item item = {
		.item = CUPROBE_PC_ITEM_REASON,
		.device = c->device,
		.context = c->id,
		.reason.index = index,
	};

	snprintf(item.reason.name, sizeof(item.reason.name), "%s", name);
	cuprobe_pc_ring_put(&item);
}

static CUptiResult reasons_learn(struct cuprobe_pc_context *c, const char **ret_function)
{
	static struct names names; /* under the lock */
	CUptiResult result;

	memset(c->roles, 0, sizeof(c->roles));
	for (__u32 i = 0; i < CUPROBE_PC_REASONS; i++) {
		names.at[i] = names.text[i];
		names.text[i][0] = 0;
	}
	result = reasons_query(c, &names, ret_function);
	if (result != CUPTI_SUCCESS)
		return result;
	for (__u32 i = 0; i < c->reason_count; i++) {
		role_find(c, &names, i);
		reason_tell(c, names.at[i], c->reasons[i]);
	}
	return CUPTI_SUCCESS;
}

#define ATTRIBUTE(type) .attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_##type

static CUptiResult configure(struct cuprobe_pc_context *c, __u32 period_log2)
{
	CUpti_PCSamplingConfigurationInfo info[] = {
		{ATTRIBUTE(COLLECTION_MODE),
		 .attributeData.collectionModeData.collectionMode =
			 MODE_SERIALIZED ? CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED
					 : CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS},
		{ATTRIBUTE(STALL_REASON),
		 .attributeData.stallReasonData = {c->reason_count, c->reasons}},
		{ATTRIBUTE(HARDWARE_BUFFER_SIZE),
		 .attributeData.hardwareBufferSizeData.hardwareBufferSize = c->hardware_bytes},
		{ATTRIBUTE(OUTPUT_DATA_FORMAT),
		 .attributeData.outputDataFormatData.outputDataFormat =
			 CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED},
		{ATTRIBUTE(SAMPLING_DATA_BUFFER),
		 .attributeData.samplingDataBufferData.samplingDataBuffer = &c->config.data},
		{ATTRIBUTE(ENABLE_START_STOP_CONTROL),
		 .attributeData.enableStartStopControlData.enableStartStopControl =
			 MODE_SERIALIZED},
		{ATTRIBUTE(WORKER_THREAD_PERIODIC_SLEEP_SPAN),
		 .attributeData.workerThreadPeriodicSleepSpanData.workerThreadPeriodicSleepSpan =
			 WORKER_SLEEP_MS},
		{ATTRIBUTE(SAMPLING_PERIOD),
		 .attributeData.samplingPeriodData.samplingPeriod = period_log2},
	};
	CUpti_PCSamplingConfigurationInfoParams params = {
		.size = CUpti_PCSamplingConfigurationInfoParamsSize,
		.ctx = c->handle,
		.numAttributes = sizeof(info) / sizeof(info[0]) - !period_log2,
		.pPCSamplingConfigurationInfo = info,
	};

	return cuprobe_cupti.PCSamplingSetConfigurationAttribute(&params);
}

/* A GPU with little memory left takes a smaller buffer. */
static CUptiResult configure_in_less(struct cuprobe_pc_context *c, __u32 period_log2)
{
	CUptiResult result;

	c->hardware_bytes = (__u64)cuprobe_env.pc_buffer_mb << 20;
	result = configure(c, period_log2);
	while (result == CUPTI_ERROR_OUT_OF_MEMORY && c->hardware_bytes > HARDWARE_LEAST) {
		c->hardware_bytes /= 2;
		result = configure(c, period_log2);
	}
	return result;
}

/* What is in force; what cannot be read is not known. */
static void configuration_read(struct cuprobe_pc_context *c)
{
	CUpti_PCSamplingConfigurationInfo info[] = {
		{ATTRIBUTE(SAMPLING_PERIOD)},
		{ATTRIBUTE(HARDWARE_BUFFER_SIZE)},
	};
	CUpti_PCSamplingConfigurationInfoParams params = {
		.size = CUpti_PCSamplingConfigurationInfoParamsSize,
		.ctx = c->handle,
		.numAttributes = sizeof(info) / sizeof(info[0]),
		.pPCSamplingConfigurationInfo = info,
	};
	struct cuprobe_pc_item item = {
		.item = CUPROBE_PC_ITEM_CONFIG,
		.device = c->device,
		.context = c->id,
		.config.mode = MODE_SERIALIZED ? CUPROBE_PC_SERIALIZED : CUPROBE_PC_CONTINUOUS,
	};

	c->period_log2 = 0;
	c->hardware_bytes = 0;
	if (cuprobe_cupti.PCSamplingGetConfigurationAttribute(&params) == CUPTI_SUCCESS) {
		c->period_log2 = info[0].attributeData.samplingPeriodData.samplingPeriod;
		c->hardware_bytes = info[1].attributeData.hardwareBufferSizeData.hardwareBufferSize;
	}
	item.config.period_log2 = c->period_log2;
	item.config.hardware_bytes = c->hardware_bytes;
	cuprobe_pc_ring_put(&item);
}

static CUptiResult context_set_up(struct cuprobe_pc_context *c, __u32 period_log2,
				  const char **ret_function)
{
	CUptiResult result = reasons_learn(c, ret_function);

	if (result != CUPTI_SUCCESS)
		return result;
	*ret_function = "mmap";
	if (!cuprobe_pc_room_make(&c->config, CONFIG_PCS, c->reason_count))
		return CUPTI_ERROR_OUT_OF_MEMORY;
	cuprobe_pc_context_collect(c); /* of nothing: makes it ready */
	*ret_function = "cuptiPCSamplingSetConfigurationAttribute";
	result = configure_in_less(c, period_log2);
	if (result == CUPTI_SUCCESS)
		configuration_read(c);
	return result;
}

CUptiResult cuprobe_pc_context_enable(struct cuprobe_pc_context *c, __u32 period_log2,
				      const char **ret_function)
{
	CUpti_PCSamplingEnableParams params = {.size = CUpti_PCSamplingEnableParamsSize,
					       .ctx = c->handle};
	CUptiResult result = cuprobe_cupti.PCSamplingEnable(&params);

	*ret_function = "cuptiPCSamplingEnable";
	if (result != CUPTI_SUCCESS)
		return result;
	c->enabled = true;
	c->started = false;
	return context_set_up(c, period_log2, ret_function);
}

bool cuprobe_pc_context_disable(struct cuprobe_pc_context *c)
{
	CUpti_PCSamplingDisableParams params = {.size = CUpti_PCSamplingDisableParamsSize,
						.ctx = c->handle};
	CUptiResult result;

	cuprobe_pc_context_window(c, false);
	result = cuprobe_cupti.PCSamplingDisable(&params);
	cuprobe_pc_context_collect(c);
	c->enabled = false;
	return result == CUPTI_SUCCESS;
}

CUptiResult cuprobe_pc_context_window(struct cuprobe_pc_context *c, bool open)
{
	CUpti_PCSamplingStartParams start = {.size = CUpti_PCSamplingStartParamsSize,
					     .ctx = c->handle};
	CUpti_PCSamplingStopParams stop = {.size = CUpti_PCSamplingStopParamsSize,
					   .ctx = c->handle};
	CUptiResult result;

	if (!MODE_SERIALIZED || open == c->started)
		return CUPTI_SUCCESS;
	result = open ? cuprobe_cupti.PCSamplingStart(&start) : cuprobe_cupti.PCSamplingStop(&stop);
	if (result == CUPTI_SUCCESS || !open)
		c->started = open;
	if (!open)
		cuprobe_pc_context_collect(c);
	return result;
}
