/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/strings.h"

#include <stdint.h>
#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/hash.h"
#include "src/inject/outlet.h"
#include "src/inject/texts.h"

struct pointer {
	const char *text;
	__u32 id, period;
};

#define POINTERS 4096u /* direct mapped */
#define PAGE_BYTES 4096u

static struct cuprobe_texts texts = {.first_id = 1, .most = 1u << 31, .most_bytes = SIZE_MAX};
static struct pointer pointers[POINTERS];
static __u32 period = 1;
static __u32 replay_id; /* next to define again; 0 when all are */
static __u32 replay_offset;

__u32 cuprobe_strings_id(const char *text)
{
	__u32 known = texts.count;
	__u32 id = text ? cuprobe_texts_id(&texts, text, strlen(text)) : 0;

	if (texts.count > known && cuprobe_outlet->consumers(CUPROBE_PROBE_string))
		cuprobe_texts_define(&texts, id);
	return id;
}

void cuprobe_strings_period_begin(void)
{
	period++;
}

static bool is_still(__u32 id, const char *text)
{
	size_t bytes;
	const char *known = cuprobe_texts_find(&texts, id, &bytes);

	return known && !strcmp(known, text);
}

__u32 cuprobe_strings_id_shared(const char *text)
{
	struct pointer *pointer = &pointers[cuprobe_hash_mix(0, (__u64)text) % POINTERS];

	if (pointer->text == text && pointer->period == period)
		return pointer->id;
	if (pointer->text != text || !is_still(pointer->id, text))
		pointer->id = cuprobe_strings_id(text);
	pointer->text = text;
	pointer->period = period;
	return pointer->id;
}

const char *cuprobe_strings_text(__u32 id)
{
	size_t bytes = 0;
	const char *text = cuprobe_texts_find(&texts, id, &bytes);

	if (!text)
		text = "";
	for (size_t at = 0; at < bytes; at += PAGE_BYTES)
		*(volatile const char *)&text[at];
	*(volatile const char *)&text[bytes];
	return text;
}

void cuprobe_strings_replay_begin(void)
{
	replay_id = texts.first_id;
	replay_offset = 0;
}

bool cuprobe_strings_replay(__u32 records)
{
	if (!replay_id)
		return false;
	for (; records && replay_id <= texts.count; records--) {
		replay_offset = cuprobe_texts_define_piece(&texts, replay_id, replay_offset);
		if (!replay_offset)
			replay_id++;
	}
	if (replay_id > texts.count)
		replay_id = 0;
	return replay_id;
}
