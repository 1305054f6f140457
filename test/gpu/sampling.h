/* SPDX-License-Identifier: Apache-2.0 */
/* PC sampling by CUPTI alone, without cuprobe, of one context; include it in one file. */
#ifndef CUPROBE_TEST_GPU_SAMPLING_H
#define CUPROBE_TEST_GPU_SAMPLING_H

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <vector>

#define PCS 4096

static CUcontext context;
static std::vector<uint32_t> reasons;
static std::vector<CUpti_PCSamplingPCData> pcs(PCS), flushed(PCS);
static std::vector<std::vector<CUpti_PCSamplingStallReason>> stalls(2 * PCS);
static CUpti_PCSamplingData data, flush_data;

static void check(CUptiResult result, const char *what)
{
	if (result != CUPTI_SUCCESS)
		fprintf(stderr, "%s: CUPTI error %d\n", what, (int)result);
}

static void room_make(CUpti_PCSamplingData *room, std::vector<CUpti_PCSamplingPCData> &records,
		      size_t first)
{
	for (size_t i = 0; i < PCS; i++) {
		stalls[first + i].resize(reasons.size());
		records[i].size = sizeof(records[i]);
		records[i].stallReason = stalls[first + i].data();
	}
	memset(room, 0, sizeof(*room));
	room->size = sizeof(*room);
	room->collectNumPcs = PCS;
	room->pPcData = records.data();
}

static void sampling_begin(void)
{
	CUpti_PCSamplingEnableParams enable = {CUpti_PCSamplingEnableParamsSize, NULL, context};
	size_t count = 0;
	CUpti_PCSamplingGetNumStallReasonsParams number = {
		CUpti_PCSamplingGetNumStallReasonsParamsSize, NULL, context, &count};
	CUpti_PCSamplingConfigurationInfo info[3] = {};
	CUpti_PCSamplingConfigurationInfoParams params = {
		CUpti_PCSamplingConfigurationInfoParamsSize, NULL, context, 3, info};

	check(cuptiPCSamplingEnable(&enable), "enable");
	check(cuptiPCSamplingGetNumStallReasons(&number), "number of stall reasons");
	reasons.resize(count);
	room_make(&data, pcs, 0);
	room_make(&flush_data, flushed, PCS);
	info[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
	info[0].attributeData.samplingDataBufferData.samplingDataBuffer = &flush_data;
	info[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
	info[1].attributeData.hardwareBufferSizeData.hardwareBufferSize = 32 << 20;
	info[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
	info[2].attributeData.samplingPeriodData.samplingPeriod = 20;
	check(cuptiPCSamplingSetConfigurationAttribute(&params), "configure");
}

struct count {
	unsigned long long total, non_user, records;
};

static void samples_fetch(struct count *count)
{
	CUpti_PCSamplingGetDataParams get = {CUpti_PCSamplingGetDataParamsSize, NULL, context,
					     &data};

	do {
		room_make(&data, pcs, 0);
		check(cuptiPCSamplingGetData(&get), "get data");
		count->total += data.totalSamples;
		count->non_user += data.nonUsrKernelsTotalSamples;
		count->records += data.totalNumPcs;
	} while (data.remainingNumPcs);
}

static void sampling_disable(void)
{
	CUpti_PCSamplingDisableParams disable = {CUpti_PCSamplingDisableParamsSize, NULL, context};

	check(cuptiPCSamplingDisable(&disable), "disable");
}

#endif
