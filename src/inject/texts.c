/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/texts.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/hash.h"
#include "src/inject/memory.h"

static __u64 text_hash(const char *text, size_t bytes)
{
	__u64 hash = cuprobe_hash_mix(0, bytes), word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = cuprobe_hash_mix(hash, word);
	}
	word = 0;
	memcpy(&word, text, bytes);
	return cuprobe_hash_mix(hash, word);
}

static bool slots_reserve(struct cuprobe_texts *t)
{
	int made = cuprobe_slots_reserve(&t->slots, t->count);

	for (__u32 i = 0; made > 0 && i < t->count; i++)
		cuprobe_slots_put(&t->slots, (__u32)t->texts[i].hash, i + 1);
	return made >= 0;
}

static bool text_reserve(struct cuprobe_texts *t, size_t bytes)
{
	char *store;
	struct cuprobe_text *texts;

	if (t->count >= t->most || t->store_used + bytes > t->most_bytes)
		return false;
	store = cuprobe_memory_grow(t->store, &t->store_capacity, t->store_used + bytes);
	if (!store)
		return false;
	t->store = store;
	texts = cuprobe_memory_grow(t->texts, &t->texts_capacity,
				    (t->count + 1) * sizeof(*t->texts));
	if (!texts)
		return false;
	t->texts = texts;
	return true;
}

static __u32 text_add(struct cuprobe_texts *t, const char *text, size_t bytes, __u64 hash)
{
	if (!text_reserve(t, bytes + 1))
		return 0;
	t->texts[t->count] =
		(struct cuprobe_text){.hash = hash, .at = t->store_used, .bytes = (__u32)bytes};
	memcpy(t->store + t->store_used, text, bytes);
	t->store[t->store_used + bytes] = 0;
	t->store_used += bytes + 1;
	cuprobe_slots_put(&t->slots, (__u32)hash, t->count + 1);
	return t->first_id + t->count++;
}

__u32 cuprobe_texts_id(struct cuprobe_texts *t, const char *text, size_t bytes)
{
	__u64 hash = text_hash(text, bytes);
	__u32 number;

	if (bytes > 0x7fffffff || !slots_reserve(t))
		return 0;
	for (__u32 slot = (__u32)hash; (number = t->slots.numbers[slot & t->slots.mask]); slot++) {
		const struct cuprobe_text *known = &t->texts[number - 1];

		if (known->hash == hash && known->bytes == bytes &&
		    !memcmp(t->store + known->at, text, bytes))
			return t->first_id + number - 1;
	}
	return text_add(t, text, bytes, hash);
}

const char *cuprobe_texts_find(const struct cuprobe_texts *t, __u32 id, size_t *ret_bytes)
{
	const struct cuprobe_text *text;

	if (id < t->first_id || id - t->first_id >= t->count)
		return NULL;
	text = &t->texts[id - t->first_id];
	*ret_bytes = text->bytes;
	return t->store + text->at;
}

void cuprobe_texts_clear(struct cuprobe_texts *t)
{
	t->first_id += t->count;
	if (t->first_id > UINT32_MAX - t->most)
		t->first_id = t->lowest_id;
	t->count = 0;
	t->store_used = 0;
	if (t->slots.numbers)
		memset(t->slots.numbers, 0, t->slots.capacity);
}

__u32 cuprobe_texts_define_piece(const struct cuprobe_texts *t, __u32 id, __u32 offset)
{
	struct cuprobe_string *record = cuprobe_batch_add(CUPROBE_PROBE_string);
	size_t total = 0;
	const char *text = cuprobe_texts_find(t, id, &total);
	__u32 bytes = (__u32)total - offset;

	if (bytes > CUPROBE_STRING_PIECE)
		bytes = CUPROBE_STRING_PIECE;
	*record = (struct cuprobe_string){
		.id = id, .total_bytes = (__u32)total, .offset = offset, .bytes = bytes};
	memcpy(record->text, text + offset, bytes);
	return offset + bytes < total ? offset + bytes : 0;
}

void cuprobe_texts_define(const struct cuprobe_texts *t, __u32 id)
{
	__u32 offset = 0;

	do {
		offset = cuprobe_texts_define_piece(t, id, offset);
	} while (offset);
}
