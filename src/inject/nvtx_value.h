/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the types that NVTX's extended payloads know by themselves, as text. */
#ifndef CUPROBE_INJECT_NVTX_VALUE_H
#define CUPROBE_INJECT_NVTX_VALUE_H

#include <stddef.h>

#include <linux/types.h>

struct nvtx_text;

/* A stretch of the client's memory. */
struct nvtx_view {
	const char *data;
	size_t bytes;
};

enum nvtx_form {
	NVTX_FORM_NONE, /* shown as its bytes */
	NVTX_FORM_SIGNED,
	NVTX_FORM_UNSIGNED,
	NVTX_FORM_HEX,
	NVTX_FORM_REAL,
	NVTX_FORM_HALF,
	NVTX_FORM_BRAIN,
	NVTX_FORM_CHARACTER,
	NVTX_FORM_STRING,
	NVTX_FORM_REGISTERED,
};

struct nvtx_basic {
	__u8 bytes, form;
};

/* NULL for types that are none of these, or not supported. */
const struct nvtx_basic *cuprobe_nvtx_basic_find(__u64 type);

/* Up to eight bytes, zero extended. */
__u64 cuprobe_nvtx_value_number(const char *data, size_t bytes);

/* The same as a signed number of so many bytes. */
__s64 cuprobe_nvtx_value_signed(__u64 value, size_t bytes);

/* One value, all of which lies in memory. */
void cuprobe_nvtx_value_render(struct nvtx_text *t, const struct nvtx_basic *b, const char *data);
/* The first bytes of the view, in hexadecimal. */
void cuprobe_nvtx_value_raw(struct nvtx_text *t, struct nvtx_view v);
/* Characters of `unit` bytes up to a zero or the end of the view; and the same in quotes. */
void cuprobe_nvtx_value_characters(struct nvtx_text *t, struct nvtx_view v, size_t unit);
void cuprobe_nvtx_value_quoted(struct nvtx_text *t, struct nvtx_view v, size_t unit);

#endif
