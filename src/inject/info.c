/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/info.h"

#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/memory.h"
#include "src/inject/outlet.h"
#include "src/inject/slots.h"

/* Of a program that makes a stream for each of its requests; what is more is told once. */
#define ITEMS_MOST 65536u

static struct cuprobe_info *items; /* in the order in which they were first seen */
static size_t items_capacity;
static __u32 item_count;
static struct cuprobe_slots slots; /* index of an item + 1 */
static __u32 replay_next;
static bool replaying;

/* The last answers: records come in long runs of one stream. */
static struct {
	__u32 context, device;
} last_device = {CUPROBE_NO_ID, CUPROBE_NO_ID};
static struct {
	__u32 context, stream;
	__s32 priority;
} last_priority = {CUPROBE_NO_ID, CUPROBE_NO_ID, 0};

static __u64 key_make(__u32 type, __u32 context, __u32 id)
{
	return ((__u64)type << 60 | (__u64)context << 32 | id) * 0x9e3779b97f4a7c15ull;
}

static __u64 item_key(const struct cuprobe_info *item)
{
	switch (item->type) {
	case CUPROBE_INFO_DEVICE:
		return key_make(item->type, 0, item->device.id);
	case CUPROBE_INFO_CONTEXT:
		return key_make(item->type, 0, item->context.id);
	case CUPROBE_INFO_STREAM:
		return key_make(item->type, item->stream.context, item->stream.id);
	case CUPROBE_INFO_STALL_REASON:
		return key_make(item->type, item->stall_reason.device, item->stall_reason.index);
	case CUPROBE_INFO_PC_SAMPLING:
		return key_make(item->type, 0, item->pc_sampling.context);
	default:
		return key_make(item->type, 0, 0);
	}
}

static __u32 key_hash(__u64 key)
{
	return (__u32)(key >> 32);
}

/* The slot of the thing with that key, or the empty one where it belongs. */
static __u32 *slot_of(__u64 key)
{
	__u32 slot = key_hash(key) & slots.mask;

	while (slots.numbers[slot] && item_key(&items[slots.numbers[slot] - 1]) != key)
		slot = (slot + 1) & slots.mask;
	return &slots.numbers[slot];
}

static const struct cuprobe_info *item_find(__u64 key)
{
	__u32 *slot = slots.numbers ? slot_of(key) : NULL;

	return slot && *slot ? &items[*slot - 1] : NULL;
}

static bool slots_reserve(void)
{
	int made = cuprobe_slots_reserve(&slots, item_count);

	for (__u32 i = 0; made > 0 && i < item_count; i++)
		cuprobe_slots_put(&slots, key_hash(item_key(&items[i])), i + 1);
	return made >= 0;
}

static void item_publish(const struct cuprobe_info *item)
{
	struct cuprobe_info *record = cuprobe_batch_add(CUPROBE_PROBE_info);

	*record = *item;
}

static struct cuprobe_info *item_add(const struct cuprobe_info *info)
{
	struct cuprobe_info *grown;

	if (item_count >= ITEMS_MOST)
		return NULL;
	grown = cuprobe_memory_grow(items, &items_capacity, (item_count + 1) * sizeof(*items));
	if (!grown)
		return NULL;
	items = grown;
	items[item_count] = *info;
	*slot_of(item_key(info)) = item_count + 1;
	return &items[item_count++];
}

void cuprobe_info_put(const struct cuprobe_info *info)
{
	struct cuprobe_info *item;
	__u32 slot;

	if (!slots_reserve())
		return;
	slot = *slot_of(item_key(info));
	item = slot ? &items[slot - 1] : item_add(info);
	if (slot && !memcmp(item, info, sizeof(*item)))
		return;
	if (item)
		*item = *info;
	last_device.context = CUPROBE_NO_ID;
	last_priority.context = CUPROBE_NO_ID;
	if (cuprobe_outlet->consumers(CUPROBE_PROBE_info))
		item_publish(info);
}

__u32 cuprobe_info_context_device(__u32 context)
{
	const struct cuprobe_info *item;

	if (context == last_device.context && context != CUPROBE_NO_ID)
		return last_device.device;
	item = item_find(key_make(CUPROBE_INFO_CONTEXT, 0, context));
	if (!item)
		return CUPROBE_NO_ID;
	last_device.context = context;
	last_device.device = item->context.device;
	return last_device.device;
}

bool cuprobe_info_device(__u32 device, struct cuprobe_info_device *ret)
{
	const struct cuprobe_info *item = item_find(key_make(CUPROBE_INFO_DEVICE, 0, device));

	if (item)
		*ret = item->device;
	return item;
}

__s32 cuprobe_info_stream_priority(__u32 context, __u32 stream)
{
	const struct cuprobe_info *item;

	if (context == last_priority.context && stream == last_priority.stream &&
	    context != CUPROBE_NO_ID)
		return last_priority.priority;
	item = item_find(key_make(CUPROBE_INFO_STREAM, context, stream));
	if (!item)
		return CUPROBE_NO_PRIORITY;
	last_priority.context = context;
	last_priority.stream = stream;
	last_priority.priority = item->stream.priority;
	return last_priority.priority;
}

void cuprobe_info_replay_begin(void)
{
	replay_next = 0;
	replaying = true;
}

bool cuprobe_info_replay(__u32 records)
{
	if (!replaying)
		return false;
	for (; records && replay_next < item_count; records--)
		item_publish(&items[replay_next++]);
	replaying = replay_next < item_count;
	return replaying;
}
