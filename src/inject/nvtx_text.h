/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text as NVTX clients give it, written as UTF-8 into memory of a given size: what does not fit is
 * cut at a character and marked with an ellipsis. Allocates nothing.
 */
#ifndef CUPROBE_INJECT_NVTX_TEXT_H
#define CUPROBE_INJECT_NVTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

struct nvtx_text {
	char *text; /* not zero terminated */
	size_t room;
	size_t bytes;
	bool cut; /* nothing more is taken */
};

/* `room` must be at least 4. */
void cuprobe_nvtx_text_init(struct nvtx_text *t, char *text, size_t room);
void cuprobe_nvtx_text_put(struct nvtx_text *t, const char *text, size_t bytes);
void cuprobe_nvtx_text_string(struct nvtx_text *t, const char *text);
/* A code point; what is none becomes U+FFFD. */
void cuprobe_nvtx_text_code(struct nvtx_text *t, uint32_t code);
/* Up to a zero or `count` units. */
void cuprobe_nvtx_text_utf16(struct nvtx_text *t, const uint16_t *text, size_t count);
void cuprobe_nvtx_text_utf32(struct nvtx_text *t, const uint32_t *text, size_t count);
void cuprobe_nvtx_text_wide(struct nvtx_text *t, const wchar_t *text);
void cuprobe_nvtx_text_u64(struct nvtx_text *t, uint64_t value);
void cuprobe_nvtx_text_s64(struct nvtx_text *t, int64_t value);
void cuprobe_nvtx_text_hex(struct nvtx_text *t, uint64_t value);
/* As short as gives back the same number with `digits` digits: 7 for float, 15 for double. */
void cuprobe_nvtx_text_double(struct nvtx_text *t, double value, int digits);

/* The most whole characters of `text` that fit into `room` bytes. */
size_t cuprobe_nvtx_text_fit(const char *text, size_t bytes, size_t room);
/* Bytes that `text` takes as UTF-8. */
size_t cuprobe_nvtx_text_wide_bytes(const wchar_t *text);

#endif
