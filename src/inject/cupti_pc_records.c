/* SPDX-License-Identifier: Apache-2.0 */
/* The pump's side of PC sampling: what was fetched becomes records. */
#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/cupti_pc.h"
#include "src/inject/info.h"
#include "src/inject/outlet.h"
#include "src/inject/parca_pc.h"
#include "src/inject/pc_ring.h"
#include "src/inject/strings.h"

static void sample_publish(const struct cuprobe_pc_item *item, __u64 now_ns)
{
	struct cuprobe_pc_sample sample = {
		.time_ns = now_ns,
		.crc = item->sample.crc,
		.pc_offset = item->sample.pc_offset,
		.range = item->sample.range,
		.samples = item->sample.samples,
		.function = cuprobe_strings_id_shared(item->sample.function),
		.function_index = item->sample.function_index,
		.stall = item->sample.stall,
		.device = item->device,
		.context = item->context,
		.correlation = item->sample.correlation,
		.not_issued = item->sample.not_issued,
		.kind = (__u8)item->sample.kind,
	};
	struct cuprobe_pc_sample *record = cuprobe_batch_add(CUPROBE_PROBE_pc_sample);

	*record = sample;
}

static void reason_publish(const struct cuprobe_pc_item *item)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_STALL_REASON};

	info.stall_reason.device = item->device;
	info.stall_reason.index = item->reason.index;
	info.stall_reason.name = cuprobe_strings_id(item->reason.name);
	cuprobe_info_put(&info);
}

static void config_publish(const struct cuprobe_pc_item *item)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_PC_SAMPLING};

	info.pc_sampling = (struct cuprobe_info_pc_sampling){
		.hardware_buffer_bytes = item->config.hardware_bytes,
		.context = item->context,
		.device = item->device,
		.period_log2 = item->config.period_log2,
		.mode = item->config.mode,
	};
	cuprobe_info_put(&info);
}

void cuprobe_pc_pump(__u64 now_ns)
{
	struct cuprobe_pc_item item;

	if (!cuprobe_pc_ring_take(&item))
		return;
	cuprobe_strings_period_begin();
	do {
		if (cuprobe_parca_pc(&item))
			continue;
		switch (item.item) {
		case CUPROBE_PC_ITEM_REASON:
			reason_publish(&item);
			break;
		case CUPROBE_PC_ITEM_CONFIG:
			config_publish(&item);
			break;
		default:
			sample_publish(&item, now_ns);
			break;
		}
	} while (cuprobe_pc_ring_take(&item));
}
