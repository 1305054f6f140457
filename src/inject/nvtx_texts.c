/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_texts.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/memory.h"

static __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static __u64 text_hash(const char *text, size_t bytes)
{
	__u64 hash = mix(0, bytes), word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, text, bytes);
	return mix(hash, word);
}

static void slot_fill(struct nvtx_texts *t, __u32 number)
{
	__u32 slot = (__u32)t->entries[number].hash & t->slot_mask;

	while (t->slots[slot])
		slot = (slot + 1) & t->slot_mask;
	t->slots[slot] = number + 1;
}

static int slots_grow(struct nvtx_texts *t)
{
	size_t capacity = 0;
	__u32 *grown;

	if (t->slots && t->count * 2 < t->slot_mask)
		return 0;
	grown = cuprobe_memory_grow(NULL, &capacity, t->slots ? 2 * t->slots_capacity : 1);
	if (!grown)
		return -ENOMEM;
	cuprobe_memory_free(t->slots, t->slots_capacity);
	t->slots = grown;
	t->slots_capacity = capacity;
	t->slot_mask = (__u32)(capacity / sizeof(*t->slots)) - 1;
	for (__u32 number = 0; number < t->count; number++)
		slot_fill(t, number);
	return 0;
}

static bool room_for(struct nvtx_texts *t, size_t bytes)
{
	char *store;
	struct nvtx_texts_entry *entries;

	if (t->count >= t->most || t->store_used + bytes > t->most_bytes)
		return false;
	store = cuprobe_memory_grow(t->store, &t->store_capacity, t->store_used + bytes + 1);
	if (store)
		t->store = store;
	entries = cuprobe_memory_grow(t->entries, &t->entries_capacity,
				      (t->count + 1) * sizeof(*t->entries));
	if (entries)
		t->entries = entries;
	return store && entries;
}

static __u32 text_add(struct nvtx_texts *t, const char *text, size_t bytes, __u64 hash)
{
	__u32 number = t->count;

	if (!room_for(t, bytes))
		return 0;
	t->entries[number] =
		(struct nvtx_texts_entry){.hash = hash, .at = t->store_used, .bytes = (__u32)bytes};
	memcpy(t->store + t->store_used, text, bytes);
	t->store_used += bytes;
	t->count++;
	slot_fill(t, number);
	return t->first_id + number;
}

__u32 cuprobe_nvtx_texts_id(struct nvtx_texts *t, const char *text, size_t bytes)
{
	__u64 hash = text_hash(text, bytes);

	if (slots_grow(t))
		return 0;
	for (__u32 slot = (__u32)hash & t->slot_mask; t->slots[slot];
	     slot = (slot + 1) & t->slot_mask) {
		const struct nvtx_texts_entry *known = &t->entries[t->slots[slot] - 1];

		if (known->hash == hash && known->bytes == bytes &&
		    !memcmp(t->store + known->at, text, bytes))
			return t->first_id + t->slots[slot] - 1;
	}
	return text_add(t, text, bytes, hash);
}

const char *cuprobe_nvtx_texts_find(const struct nvtx_texts *t, __u32 id, size_t *ret_bytes)
{
	const struct nvtx_texts_entry *e;

	if (id < t->first_id || id - t->first_id >= t->count)
		return NULL;
	e = &t->entries[id - t->first_id];
	*ret_bytes = e->bytes;
	return t->store + e->at;
}

void cuprobe_nvtx_texts_clear(struct nvtx_texts *t)
{
	t->first_id += t->count;
	t->count = 0;
	t->store_used = 0;
	if (t->slots)
		memset(t->slots, 0, t->slots_capacity);
}

void cuprobe_nvtx_texts_define(const struct nvtx_texts *t, __u32 id)
{
	size_t total, offset = 0;
	const char *text = cuprobe_nvtx_texts_find(t, id, &total);

	if (!text)
		return;
	do {
		struct cuprobe_string *record = cuprobe_batch_add(CUPROBE_PROBE_string);
		size_t bytes = total - offset;

		if (bytes > CUPROBE_STRING_PIECE)
			bytes = CUPROBE_STRING_PIECE;
		*record = (struct cuprobe_string){.id = id,
						  .total_bytes = (__u32)total,
						  .offset = (__u32)offset,
						  .bytes = (__u32)bytes};
		memcpy(record->text, text + offset, bytes);
		offset += bytes;
	} while (offset < total);
}
