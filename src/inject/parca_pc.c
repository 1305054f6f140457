/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/parca_pc.h"

#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/info.h"
#include "src/inject/outlet.h"
#include "src/inject/parca.h"
#include "src/inject/pc_ring.h"
#include "src/inject/strings.h"

#define DEVICES 64u

/* Stalls are read as far as they could go: none lies at the end of a page, all are written to. */
static struct parcagpu_stall stalls[PARCAGPU_PC_BATCH][PARCAGPU_STALLS]
	__attribute__((aligned(4096)));
static struct parcagpu_pc records[PARCAGPU_PC_BATCH];
static __u32 functions[PARCAGPU_PC_BATCH]; /* string ids: the texts may move until they are fired */
static __u32 count;

/* One page, the whole of which is read. */
static char reasons[PARCAGPU_REASONS][PARCAGPU_REASON_BYTES] __attribute__((aligned(4096)));
static __u32 reason_count;

static struct {
	__u32 factor; /* 0: not known */
	bool told;
} devices[DEVICES];

static bool is_attached(__u32 probe)
{
	return cuprobe_parcagpu->attached() & probe;
}

static void batch_fire(void)
{
	static const struct parcagpu_pc *pointers[PARCAGPU_PC_BATCH];

	for (__u32 i = 0; i < PARCAGPU_PC_BATCH; i++) {
		pointers[i] = i < count ? &records[i] : NULL;
		if (i < count)
			records[i].function = cuprobe_strings_text(functions[i]);
	}
	if (count && is_attached(PARCAGPU_BIT(pc_sample_batch)))
		cuprobe_parcagpu->pc_sample_batch(pointers, count);
	count = 0;
}

/* The samples of one instruction come one after another, by reason. */
static struct parcagpu_pc *record_for(const struct cuprobe_pc_item *item, __u32 function)
{
	struct parcagpu_pc *r = count ? &records[count - 1] : NULL;

	if (r && r->stall_count < PARCAGPU_STALLS && r->crc == item->sample.crc &&
	    r->pc_offset == item->sample.pc_offset && functions[count - 1] == function &&
	    r->function_index == item->sample.function_index &&
	    r->correlation == item->sample.correlation)
		return r;
	if (count == PARCAGPU_PC_BATCH)
		batch_fire();
	functions[count] = function;
	memset(stalls[count], 0, sizeof(stalls[count]));
	records[count] = (struct parcagpu_pc){
		.size = sizeof(*r),
		.crc = item->sample.crc,
		.pc_offset = item->sample.pc_offset,
		.function_index = item->sample.function_index,
		.stalls = stalls[count],
		.correlation = item->sample.correlation,
	};
	return &records[count++];
}

static void sample_take(const struct cuprobe_pc_item *item)
{
	struct parcagpu_pc *r;

	if (item->sample.kind != CUPROBE_PC_SAMPLES || !item->sample.function ||
	    item->sample.stall >= PARCAGPU_REASONS)
		return;
	r = record_for(item, cuprobe_strings_id_shared(item->sample.function));
	stalls[r - records][r->stall_count++] =
		(struct parcagpu_stall){item->sample.stall, (__u32)item->sample.samples};
}

static void reason_take(const struct cuprobe_pc_item *item)
{
	if (item->reason.index >= PARCAGPU_REASONS)
		return;
	memcpy(reasons[item->reason.index], item->reason.name, PARCAGPU_REASON_BYTES - 1);
	if (reason_count <= item->reason.index)
		reason_count = item->reason.index + 1;
}

bool cuprobe_parca_pc(const struct cuprobe_pc_item *item)
{
	switch (item->item) {
	case CUPROBE_PC_ITEM_REASON:
		reason_take(item);
		return false;
	case CUPROBE_PC_ITEM_CONFIG:
		if (item->device < DEVICES)
			devices[item->device].factor = item->config.period_log2;
		return false;
	default:
		if (!is_attached(PARCAGPU_BIT(pc_sample_batch)))
			return false;
		sample_take(item);
		return !cuprobe_outlet->consumers(CUPROBE_PROBE_pc_sample);
	}
}

/* The consumer keeps the first values it is told: they are told when all of them are known. */
static void config_fire(__u32 device)
{
	struct cuprobe_info_device info;

	if (!devices[device].factor || devices[device].told ||
	    !is_attached(PARCAGPU_BIT(gpu_config)) || !cuprobe_info_device(device, &info))
		return;
	cuprobe_parcagpu->gpu_config(device, devices[device].factor, info.clock_khz,
				     info.multiprocessors);
	devices[device].told = true;
}

void cuprobe_parca_pc_fire(void)
{
	static __u32 told;

	for (__u32 device = 0; device < DEVICES; device++)
		config_fire(device);
	if (reason_count != told) {
		cuprobe_parca_reasons_replay();
		told = reason_count;
	}
	batch_fire();
}

void cuprobe_parca_reasons_replay(void)
{
	if (reason_count && is_attached(PARCAGPU_BIT(stall_reason_map)))
		cuprobe_parcagpu->stall_reason_map(reasons[0], reason_count);
}

void cuprobe_parca_configs_replay(void)
{
	for (__u32 device = 0; device < DEVICES; device++)
		devices[device].told = false;
}
