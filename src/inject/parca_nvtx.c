/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/parca_nvtx.h"

#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/nvtx.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_text.h"
#include "src/inject/parca.h"

#define TEXT_BYTES 256 /* what is longer is cut */
#define NAMES_A_TURN 64

static struct parcagpu_nvtx events[PARCAGPU_NVTX_BATCH];
static char texts[PARCAGPU_NVTX_BATCH][TEXT_BYTES];
static __u32 count;
static __u64 oldest_ns;

bool cuprobe_parca_nvtx_wanted(void)
{
	return cuprobe_parcagpu->attached() & PARCAGPU_BIT(nvtx_event_batch);
}

static void batch_fire(void)
{
	static const struct parcagpu_nvtx *pointers[PARCAGPU_NVTX_BATCH];

	for (__u32 i = 0; i < PARCAGPU_NVTX_BATCH; i++)
		pointers[i] = i < count ? &events[i] : NULL;
	if (count && cuprobe_parca_nvtx_wanted())
		cuprobe_parcagpu->nvtx_event_batch(pointers, count);
	count = 0;
}

static const char *text_keep(char *room, const char *text, size_t bytes)
{
	size_t fit = cuprobe_nvtx_text_fit(text, bytes, TEXT_BYTES - 1);

	memcpy(room, text, fit);
	room[fit] = '\0';
	return room;
}

/* Registered messages are looked up; a payload that is text has no place here. */
void cuprobe_parca_nvtx(const struct cuprobe_nvtx *e, const char *message, size_t bytes)
{
	char registered[TEXT_BYTES];

	if (e->kind > CUPROBE_NVTX_MARK)
		return;
	if (!bytes && e->message) {
		message = registered;
		bytes = cuprobe_nvtx_name_copy(e->message, registered, sizeof(registered));
	}
	events[count] = (struct parcagpu_nvtx){
		.time_ns = e->time_ns,
		.tid = e->thread,
		.domain = e->domain,
		.kind = e->kind,
		.color = e->flags & CUPROBE_NVTX_FLAG_COLOR ? e->color : 0,
		.device = CUPROBE_NO_ID,
		.payload = e->payload_type == CUPROBE_NVTX_PAYLOAD_TEXT ? 0 : e->payload,
		.range = e->range,
		.message = text_keep(texts[count], bytes ? message : "", bytes),
	};
	if (!count || e->time_ns < oldest_ns)
		oldest_ns = e->time_ns;
	if (++count == PARCAGPU_NVTX_BATCH)
		batch_fire();
}

static __u32 resource_kind(const struct cuprobe_info *info)
{
	if (info->type == CUPROBE_INFO_NVTX_DOMAIN)
		return PARCAGPU_RESOURCE_DOMAIN;
	if (info->type != CUPROBE_INFO_NAME)
		return 0;
	switch (info->name.object) {
	case CUPROBE_OBJECT_THREAD:
		return PARCAGPU_RESOURCE_THREAD;
	case CUPROBE_OBJECT_STREAM:
		return PARCAGPU_RESOURCE_STREAM;
	case CUPROBE_OBJECT_DEVICE:
		return PARCAGPU_RESOURCE_DEVICE;
	default:
		return 0;
	}
}

static void names_fire(void)
{
	static char name[TEXT_BYTES];
	struct cuprobe_info info;
	char text[TEXT_BYTES];
	size_t bytes;

	for (int i = 0; i < NAMES_A_TURN; i++) {
		if (!cuprobe_nvtx_names_next(&info, text, sizeof(text), &bytes))
			return;
		if (resource_kind(&info))
			cuprobe_parcagpu->nvtx_resource_name(resource_kind(&info),
							     info.type == CUPROBE_INFO_NAME
								     ? info.name.handle
								     : info.nvtx_domain.id,
							     text_keep(name, text, bytes));
	}
}

void cuprobe_parca_nvtx_pump(bool all)
{
	__u64 next_turn_ns = cuprobe_clock_now() + CUPROBE_NVTX_PERIOD_NS;

	if (count && (all || oldest_ns + CUPROBE_BATCH_AGE_NS <= next_turn_ns))
		batch_fire();
	if (cuprobe_parcagpu->attached() & PARCAGPU_BIT(nvtx_resource_name))
		names_fire();
}

void cuprobe_parca_names_replay(void)
{
	cuprobe_nvtx_names_again();
}
