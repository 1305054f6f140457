/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading unwind information that may be damaged: never past its end. After a read that failed,
 * `bad` is set and everything reads as 0.
 */
#ifndef CUPROBE_INJECT_UNWIND_BYTES_H
#define CUPROBE_INJECT_UNWIND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <linux/types.h>

struct cuprobe_bytes {
	const __u8 *at, *end;
	bool bad;
};

static inline bool cuprobe_bytes_left(const struct cuprobe_bytes *b)
{
	return !b->bad && b->at < b->end;
}

static inline void cuprobe_bytes_skip(struct cuprobe_bytes *b, __u64 count)
{
	b->bad |= count > (__u64)(b->end - b->at);
	if (!b->bad)
		b->at += count;
}

/* The next `count` bytes, to be read by themselves. */
static inline struct cuprobe_bytes cuprobe_bytes_part(struct cuprobe_bytes *b, __u64 count)
{
	struct cuprobe_bytes part = *b;

	cuprobe_bytes_skip(b, count);
	part.end = b->at;
	part.bad = b->bad;
	return part;
}

#define CUPROBE_BYTES_READ(type)                                                                   \
	static inline type cuprobe_bytes_##type(struct cuprobe_bytes *b)                           \
	{                                                                                          \
		const __u8 *from = b->at;                                                          \
		type value = 0;                                                                    \
                                                                                                   \
		cuprobe_bytes_skip(b, sizeof(value));                                              \
		if (!b->bad)                                                                       \
			memcpy(&value, from, sizeof(value));                                       \
		return value;                                                                      \
	}
CUPROBE_BYTES_READ(__u8)
CUPROBE_BYTES_READ(__s8)
CUPROBE_BYTES_READ(__u16)
CUPROBE_BYTES_READ(__s16)
CUPROBE_BYTES_READ(__u32)
CUPROBE_BYTES_READ(__s32)
CUPROBE_BYTES_READ(__u64)
#undef CUPROBE_BYTES_READ

static inline __u64 cuprobe_bytes_leb(struct cuprobe_bytes *b, bool is_signed)
{
	unsigned int shift = 0;
	__u64 value = 0;
	__u8 byte;

	do {
		byte = cuprobe_bytes___u8(b);
		if (shift < 64)
			value |= (__u64)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && (byte & 0x40) && shift < 64)
		value |= ~0ull << shift;
	return value;
}

static inline __u64 cuprobe_bytes_uleb(struct cuprobe_bytes *b)
{
	return cuprobe_bytes_leb(b, false);
}

static inline __s64 cuprobe_bytes_sleb(struct cuprobe_bytes *b)
{
	return (__s64)cuprobe_bytes_leb(b, true);
}

#endif
