/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_pc_context.h"
#include "src/inject/env.h"
#include "src/inject/memory.h"
#include "src/inject/pc_ring.h"

#define VERSION_12_4 22u /* cuptiGetVersion() of the first whose records have a correlation id */
#define OLD_RECORD_BYTES offsetof(CUpti_PCSamplingPCData, correlationId)
#define ROUNDS 256 /* of one drain: what never ends gets no further turn */

static size_t record_bytes(void)
{
	return cuprobe_cupti_version >= VERSION_12_4 ? sizeof(CUpti_PCSamplingPCData)
						     : OLD_RECORD_BYTES;
}

CUpti_PCSamplingPCData *cuprobe_pc_room_at(const struct cuprobe_pc_room *room, size_t i)
{
	return (CUpti_PCSamplingPCData *)(void *)(room->memory + i * record_bytes());
}

bool cuprobe_pc_room_make(struct cuprobe_pc_room *room, __u32 pcs, __u32 reasons)
{
	size_t records = pcs * record_bytes();
	CUpti_PCSamplingStallReason *stalls;
	__u8 *memory;

	if (room->memory && room->pcs >= pcs && room->reasons >= reasons)
		return true;
	memory = cuprobe_memory_grow(room->memory, &room->capacity,
				     records + pcs * reasons * sizeof(*stalls));
	if (!memory)
		return false;
	room->memory = memory;
	room->pcs = pcs;
	room->reasons = reasons;
	stalls = (CUpti_PCSamplingStallReason *)(void *)(memory + records);
	memset(memory, 0, records);
	for (__u32 i = 0; i < pcs; i++) {
		CUpti_PCSamplingPCData *record = cuprobe_pc_room_at(room, i);

		record->size = record_bytes();
		record->stallReason = stalls + (size_t)i * reasons;
	}
	return true;
}

void cuprobe_pc_room_free(struct cuprobe_pc_room *room)
{
	cuprobe_memory_free(room->memory, room->capacity);
	*room = (struct cuprobe_pc_room){0};
}

/* Adds up what belongs to one reason, and how much of it is of no issue. */
static __u64 record_put(const struct cuprobe_pc_context *c, const CUpti_PCSamplingPCData *record,
			__u64 range)
{
	__u32 samples[CUPROBE_PC_REASONS] = {0}, idle[CUPROBE_PC_REASONS] = {0};
	struct cuprobe_pc_item item = {
		.item = CUPROBE_PC_ITEM_SAMPLE,
		.device = c->device,
		.context = c->id,
		.sample =
			{
				.crc = record->cubinCrc,
				.pc_offset = record->pcOffset,
				.range = range,
				.function = record->functionName,
				.function_index = record->functionIndex,
			},
	};
	__u64 sum = 0;

	if (record_bytes() > OLD_RECORD_BYTES)
		item.sample.correlation = record->correlationId;
	for (size_t i = 0; i < record->stallReasonCount && i < CUPROBE_PC_REASONS; i++) {
		__u32 index = record->stallReason[i].pcSamplingStallReasonIndex;
		__u32 count = record->stallReason[i].samples;

		if (index >= CUPROBE_PC_REASONS)
			continue;
		if (c->roles[index].role == CUPROBE_PC_ROLE_REASON)
			samples[index] += count;
		else if (c->roles[index].role == CUPROBE_PC_ROLE_NOT_ISSUED)
			idle[c->roles[index].base] += count;
	}
	for (__u32 i = 0; i < CUPROBE_PC_REASONS; i++) {
		if (!samples[i] && !idle[i])
			continue;
		item.sample.stall = i;
		item.sample.samples = samples[i] > idle[i] ? samples[i] : idle[i];
		item.sample.not_issued = idle[i];
		sum += item.sample.samples;
		cuprobe_pc_ring_put(&item);
	}
	return sum;
}

static void rest_put(const struct cuprobe_pc_context *c, enum cuprobe_pc_kind kind, __u64 samples,
		     __u64 range)
{
	struct cuprobe_pc_item item = {
		.item = CUPROBE_PC_ITEM_SAMPLE,
		.device = c->device,
		.context = c->id,
		.sample = {.kind = kind, .samples = samples, .range = range},
	};

	if (samples)
		cuprobe_pc_ring_put(&item);
}

static void room_take(struct cuprobe_pc_context *c, struct cuprobe_pc_room *room)
{
	const CUpti_PCSamplingData *data = &room->data;
	__u64 known = data->nonUsrKernelsTotalSamples + data->droppedSamples;

	for (size_t i = 0; i < data->totalNumPcs && i < room->pcs; i++)
		known += record_put(c, cuprobe_pc_room_at(room, i), data->rangeId);
	rest_put(c, CUPROBE_PC_NON_USER, data->nonUsrKernelsTotalSamples, data->rangeId);
	rest_put(c, CUPROBE_PC_DROPPED, data->droppedSamples, data->rangeId);
	if (data->totalSamples > known)
		rest_put(c, CUPROBE_PC_OTHER, data->totalSamples - known, data->rangeId);
	c->measured_samples += data->totalSamples;
}

static void room_begin(struct cuprobe_pc_room *room)
{
	room->data = (CUpti_PCSamplingData){
		.size = sizeof(room->data),
		.collectNumPcs = room->pcs,
		.pPcData = cuprobe_pc_room_at(room, 0),
	};
}

CUptiResult cuprobe_pc_context_drain(struct cuprobe_pc_context *c, struct cuprobe_pc_room *room)
{
	CUpti_PCSamplingGetDataParams params = {
		.size = CUpti_PCSamplingGetDataParamsSize,
		.ctx = c->handle,
		.pcSamplingData = &room->data,
	};
	CUptiResult result;

	for (int i = 0; i < ROUNDS; i++) {
		room_begin(room);
		result = cuprobe_cupti.PCSamplingGetData(&params);
		if (result != CUPTI_SUCCESS)
			return result;
		room_take(c, room);
		if (room->data.hardwareBufferFull)
			return CUPTI_ERROR_OUT_OF_MEMORY;
		if (!room->data.remainingNumPcs)
			break;
	}
	return CUPTI_SUCCESS;
}

void cuprobe_pc_context_collect(struct cuprobe_pc_context *c)
{
	if (!c->config.memory)
		return;
	room_take(c, &c->config);
	room_begin(&c->config);
}
