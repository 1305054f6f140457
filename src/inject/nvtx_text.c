/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_BYTES 3
#define REPLACEMENT 0xfffd

void cuprobe_nvtx_text_init(struct nvtx_text *t, char *text, size_t room)
{
	*t = (struct nvtx_text){.text = text, .room = room - ELLIPSIS_BYTES};
}

size_t cuprobe_nvtx_text_fit(const char *text, size_t bytes, size_t room)
{
	if (bytes <= room)
		return bytes;
	while (room && ((unsigned char)text[room] & 0xc0) == 0x80)
		room--;
	return room;
}

void cuprobe_nvtx_text_put(struct nvtx_text *t, const char *text, size_t bytes)
{
	size_t fit;

	if (t->cut)
		return;
	fit = cuprobe_nvtx_text_fit(text, bytes, t->room - t->bytes);
	memcpy(t->text + t->bytes, text, fit);
	t->bytes += fit;
	if (fit == bytes)
		return;
	memcpy(t->text + t->bytes, ELLIPSIS, ELLIPSIS_BYTES);
	t->bytes += ELLIPSIS_BYTES;
	t->cut = true;
}

void cuprobe_nvtx_text_string(struct nvtx_text *t, const char *text)
{
	cuprobe_nvtx_text_put(t, text, strlen(text));
}

static size_t encode(char out[4], uint32_t code)
{
	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		code = REPLACEMENT;
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

void cuprobe_nvtx_text_code(struct nvtx_text *t, uint32_t code)
{
	char out[4];

	cuprobe_nvtx_text_put(t, out, encode(out, code));
}

void cuprobe_nvtx_text_utf16(struct nvtx_text *t, const uint16_t *text, size_t count)
{
	for (size_t i = 0; i < count && text[i] && !t->cut; i++) {
		uint32_t code = text[i];
		bool pair = code >= 0xd800 && code < 0xdc00 && i + 1 < count &&
			    text[i + 1] >= 0xdc00 && text[i + 1] <= 0xdfff;

		if (pair)
			code = 0x10000 + ((code & 0x3ff) << 10) + (text[++i] & 0x3ff);
		cuprobe_nvtx_text_code(t, code);
	}
}

void cuprobe_nvtx_text_utf32(struct nvtx_text *t, const uint32_t *text, size_t count)
{
	for (size_t i = 0; i < count && text[i] && !t->cut; i++)
		cuprobe_nvtx_text_code(t, text[i]);
}

void cuprobe_nvtx_text_wide(struct nvtx_text *t, const wchar_t *text)
{
	for (; *text && !t->cut; text++)
		cuprobe_nvtx_text_code(t, (uint32_t)*text);
}

size_t cuprobe_nvtx_text_wide_bytes(const wchar_t *text)
{
	size_t bytes = 0;
	char out[4];

	for (; *text; text++)
		bytes += encode(out, (uint32_t)*text);
	return bytes;
}

void cuprobe_nvtx_text_u64(struct nvtx_text *t, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	cuprobe_nvtx_text_put(t, digits + at, sizeof(digits) - at);
}

void cuprobe_nvtx_text_s64(struct nvtx_text *t, int64_t value)
{
	if (value < 0)
		cuprobe_nvtx_text_put(t, "-", 1);
	cuprobe_nvtx_text_u64(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void cuprobe_nvtx_text_hex(struct nvtx_text *t, uint64_t value)
{
	char digits[18];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	digits[--at] = 'x';
	digits[--at] = '0';
	cuprobe_nvtx_text_put(t, digits + at, sizeof(digits) - at);
}

void cuprobe_nvtx_text_double(struct nvtx_text *t, double value, int digits)
{
	char number[40];
	int bytes = snprintf(number, sizeof(number), "%.*g", digits, value);

	if (digits > 7 ? strtod(number, NULL) != value : strtof(number, NULL) != (float)value)
		bytes = snprintf(number, sizeof(number), "%.*g", digits + 2, value);
	for (int i = 0; i < bytes; i++) { /* the application's locale may have another point */
		if (!strchr("0123456789+-aefin.", number[i]))
			number[i] = '.';
	}
	cuprobe_nvtx_text_put(t, number, (size_t)bytes);
}
