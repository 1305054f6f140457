/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_texts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct text {
	__u64 hash;
	__u32 at, bytes; /* in `store`, with a final zero */
};

#define SLOTS (2 * PYTHON_TEXTS)

/* A text as it lies in the interpreter. */
struct source {
	const char *characters;
	size_t length;
	__u32 width; /* bytes of a character */
};

static char store[PYTHON_TEXT_BYTES];
static struct text texts[PYTHON_TEXTS]; /* by number; [0] is the empty text */
static atomic_uint store_used = 1, text_count = 1;
/* Open addressing: numbers, 0 free. Filled with release, which pairs with acquire in find(). */
static atomic_uint slots[SLOTS];
static atomic_ullong lost;

/*
 * Writes a character as UTF-8 and returns its end. A file name that is no UTF-8 comes from Python
 * with its odd bytes as U+DC80 to U+DCFF, and leaves with those bytes.
 */
static char *character_put(char *to, __u32 c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c >= 0xdc80 && c <= 0xdcff) {
		*to++ = (char)(c - 0xdc00);
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | (c >> 18 & 7));
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* Character `i` as UTF-8, at most 4 bytes; returns how many. */
static __u32 character_get(const struct source *s, size_t i, char *ret)
{
	__u32 value = 0;

	memcpy(&value, s->characters + i * s->width, s->width);
	return (__u32)(character_put(ret, value) - ret);
}

/* What the text will be like, but for where it lies. */
static struct text text_measure(const struct source *s)
{
	struct text text = {.hash = 0xcbf29ce484222325ull}; /* FNV-1a: texts are short, and few */
	char utf8[4];

	for (size_t i = 0; i < s->length; i++) {
		__u32 bytes = character_get(s, i, utf8);

		for (__u32 byte = 0; byte < bytes; byte++)
			text.hash = (text.hash ^ (__u8)utf8[byte]) * 0x100000001b3ull;
		text.bytes += bytes;
	}
	return text;
}

static bool text_equals(__u32 number, const struct text *text, const struct source *s)
{
	const struct text *known = &texts[number];
	const char *at = store + known->at;
	char utf8[4];

	if (known->hash != text->hash || known->bytes != text->bytes)
		return false;
	for (size_t i = 0; i < s->length; i++) {
		__u32 bytes = character_get(s, i, utf8);

		if (memcmp(at, utf8, bytes))
			return false;
		at += bytes;
	}
	return true;
}

/* The text's number; 0 when it has none yet, and then its place in the row is *slot. */
static __u32 text_find(const struct text *text, const struct source *s, __u32 *slot)
{
	__u32 number;

	for (;; *slot = (*slot + 1) % SLOTS) {
		number = atomic_load_explicit(&slots[*slot], memory_order_acquire);
		if (!number || text_equals(number, text, s))
			return number;
	}
}

/* Takes so many of what is counted, or nothing when there are not so many left. */
static __u32 take(atomic_uint *used, __u32 amount, __u32 most)
{
	__u32 before = atomic_load_explicit(used, memory_order_relaxed);

	do {
		if (amount > most - before)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		used, &before, before + amount, memory_order_relaxed, memory_order_relaxed));
	return before;
}

/* Gives it back, where nobody has taken more since. */
static void untake(atomic_uint *used, __u32 before, __u32 amount)
{
	__u32 after = before + amount;

	atomic_compare_exchange_strong_explicit(used, &after, before, memory_order_relaxed,
						memory_order_relaxed);
}

static void text_copy(const struct text *text, const struct source *s)
{
	char *to = store + text->at, utf8[4];

	for (size_t i = 0; i < s->length; i++) {
		__u32 bytes = character_get(s, i, utf8);

		memcpy(to, utf8, bytes);
		to += bytes;
	}
	*to = 0;
}

/* A number for a new text, not known to anybody yet; 0 when there is no room. */
static __u32 text_make(struct text *text, const struct source *s)
{
	__u32 number;

	text->at = take(&store_used, text->bytes + 1, PYTHON_TEXT_BYTES);
	if (!text->at)
		return 0;
	number = take(&text_count, 1, PYTHON_TEXTS);
	if (!number) {
		untake(&store_used, text->at, text->bytes + 1);
		return 0;
	}
	text_copy(text, s);
	texts[number] = *text;
	return number;
}

static __u32 text_number(const struct source *s)
{
	struct text text = text_measure(s);
	__u32 slot = (__u32)text.hash % SLOTS, free_slot = 0, known, made;

	known = text_find(&text, s, &slot);
	if (known)
		return known;
	made = text_make(&text, s);
	if (!made)
		return 0;
	while (!atomic_compare_exchange_strong_explicit(
		&slots[slot], &free_slot, made, memory_order_release, memory_order_relaxed)) {
		known = text_find(&text, s, &slot); /* another thread was faster */
		if (known) {
			untake(&text_count, made, 1);
			untake(&store_used, text.at, text.bytes + 1);
			return known;
		}
		free_slot = 0;
	}
	return made;
}

__u32 cuprobe_python_text(const void *characters, size_t length, __u32 width)
{
	struct source source = {characters, length, width};
	__u32 number = 0;

	if (length <= PYTHON_TEXT_LONGEST)
		number = text_number(&source);
	if (!number)
		atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
	return number;
}

const char *cuprobe_python_text_get(__u32 number)
{
	return store + texts[number].at;
}

__u64 cuprobe_python_texts_lost(void)
{
	return atomic_load_explicit(&lost, memory_order_relaxed);
}
