/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/strings.h"

#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/memory.h"
#include "src/inject/outlet.h"
#include "src/inject/slots.h"

struct text {
	__u64 hash;
	size_t at; /* in `store`, with a final zero */
	__u32 bytes;
};

struct pointer {
	const char *text;
	__u32 id, period;
};

#define POINTERS 4096u /* direct mapped */
#define PAGE_BYTES 4096u

static char *store;
static size_t store_capacity, store_used;
static struct text *texts; /* by id; [0] is never used */
static size_t texts_capacity;
static __u32 text_count = 1;
static struct cuprobe_slots slots; /* ids */
static struct pointer pointers[POINTERS];
static __u32 period = 1;
static __u32 replay_id; /* next to define again; text_count or more: done */
static __u32 replay_offset;

static __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
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

/* Defines one piece of a text and returns the offset of the next. */
static __u32 piece_define(__u32 id, __u32 offset)
{
	const struct text *text = &texts[id];
	struct cuprobe_string *record = cuprobe_batch_add(CUPROBE_PROBE_string);
	__u32 bytes = text->bytes - offset;

	if (bytes > CUPROBE_STRING_PIECE)
		bytes = CUPROBE_STRING_PIECE;
	*record = (struct cuprobe_string){
		.id = id, .total_bytes = text->bytes, .offset = offset, .bytes = bytes};
	memcpy(record->text, store + text->at + offset, bytes);
	return offset + bytes;
}

static void text_define(__u32 id)
{
	__u32 offset = 0;

	if (!cuprobe_outlet->consumers(CUPROBE_PROBE_string))
		return;
	do {
		offset = piece_define(id, offset);
	} while (offset < texts[id].bytes);
}

static bool slots_reserve(void)
{
	int made = cuprobe_slots_reserve(&slots, text_count);

	for (__u32 id = 1; made > 0 && id < text_count; id++)
		cuprobe_slots_put(&slots, (__u32)texts[id].hash, id);
	return made >= 0;
}

static __u32 text_find(const char *text, size_t bytes, __u64 hash)
{
	__u32 slot = (__u32)hash & slots.mask, id;

	for (; (id = slots.numbers[slot]); slot = (slot + 1) & slots.mask) {
		const struct text *known = &texts[id];

		if (known->hash == hash && known->bytes == bytes &&
		    !memcmp(store + known->at, text, bytes))
			break;
	}
	return id;
}

static bool text_reserve(size_t bytes)
{
	char *grown_store = cuprobe_memory_grow(store, &store_capacity, store_used + bytes);
	struct text *grown_texts;

	if (!grown_store)
		return false;
	store = grown_store;
	grown_texts =
		cuprobe_memory_grow(texts, &texts_capacity, (text_count + 1) * sizeof(*texts));
	if (!grown_texts)
		return false;
	texts = grown_texts;
	return true;
}

/* A new id, or 0 when there is no memory for it. */
static __u32 text_add(const char *text, size_t bytes, __u64 hash)
{
	__u32 id = text_count;

	if (!text_reserve(bytes + 1))
		return 0;
	texts[id] = (struct text){.hash = hash, .at = store_used, .bytes = (__u32)bytes};
	memcpy(store + store_used, text, bytes + 1);
	store_used += bytes + 1;
	text_count++;
	cuprobe_slots_put(&slots, (__u32)hash, id);
	text_define(id);
	return id;
}

__u32 cuprobe_strings_id(const char *text)
{
	size_t bytes;
	__u64 hash;
	__u32 id;

	if (!text || !slots_reserve())
		return 0;
	bytes = strlen(text);
	if (bytes > 0x7fffffff)
		return 0;
	hash = text_hash(text, bytes);
	id = text_find(text, bytes, hash);
	return id ? id : text_add(text, bytes, hash);
}

void cuprobe_strings_period_begin(void)
{
	period++;
}

__u32 cuprobe_strings_id_shared(const char *text)
{
	struct pointer *pointer = &pointers[mix(0, (__u64)text) % POINTERS];

	if (pointer->text != text)
		pointer->id = cuprobe_strings_id(text);
	else if (pointer->period == period)
		return pointer->id;
	else if (!pointer->id || strcmp(store + texts[pointer->id].at, text))
		pointer->id = cuprobe_strings_id(text);
	pointer->text = text;
	pointer->period = period;
	return pointer->id;
}

const char *cuprobe_strings_text(__u32 id)
{
	const char *text = id ? store + texts[id].at : "";

	for (size_t at = 0; id && at < texts[id].bytes; at += PAGE_BYTES)
		*(volatile const char *)&text[at];
	*(volatile const char *)&text[id ? texts[id].bytes : 0];
	return text;
}

void cuprobe_strings_replay_begin(void)
{
	replay_id = 1;
	replay_offset = 0;
}

bool cuprobe_strings_replay(__u32 records)
{
	if (!replay_id)
		return false;
	for (; records && replay_id < text_count; records--) {
		replay_offset = piece_define(replay_id, replay_offset);
		if (replay_offset < texts[replay_id].bytes)
			continue;
		replay_id++;
		replay_offset = 0;
	}
	if (replay_id < text_count)
		return true;
	replay_id = 0;
	return false;
}
