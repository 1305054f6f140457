/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_value.h"

#include <stdint.h>
#include <string.h>

#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_text.h"

#define RAW_MOST 64

static const struct nvtx_basic basics[] = {
	[NVTX_TYPE_CHAR] = {1, NVTX_FORM_CHARACTER},
	[NVTX_TYPE_UCHAR] = {1, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_SHORT] = {sizeof(short), NVTX_FORM_SIGNED},
	[NVTX_TYPE_USHORT] = {sizeof(short), NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_INT] = {sizeof(int), NVTX_FORM_SIGNED},
	[NVTX_TYPE_UINT] = {sizeof(int), NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_LONG] = {sizeof(long), NVTX_FORM_SIGNED},
	[NVTX_TYPE_ULONG] = {sizeof(long), NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_LONGLONG] = {8, NVTX_FORM_SIGNED},
	[NVTX_TYPE_ULONGLONG] = {8, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_INT8] = {1, NVTX_FORM_SIGNED},
	[NVTX_TYPE_UINT8] = {1, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_INT16] = {2, NVTX_FORM_SIGNED},
	[NVTX_TYPE_UINT16] = {2, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_INT32] = {4, NVTX_FORM_SIGNED},
	[NVTX_TYPE_UINT32] = {4, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_INT64] = {8, NVTX_FORM_SIGNED},
	[NVTX_TYPE_UINT64] = {8, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_FLOAT] = {4, NVTX_FORM_REAL},
	[NVTX_TYPE_DOUBLE] = {8, NVTX_FORM_REAL},
	[NVTX_TYPE_LONGDOUBLE] = {sizeof(long double), NVTX_FORM_REAL},
	[NVTX_TYPE_SIZE] = {sizeof(size_t), NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_ADDRESS] = {sizeof(void *), NVTX_FORM_HEX},
	[NVTX_TYPE_WCHAR] = {sizeof(wchar_t), NVTX_FORM_CHARACTER},
	[NVTX_TYPE_CHAR8] = {1, NVTX_FORM_CHARACTER},
	[NVTX_TYPE_CHAR16] = {2, NVTX_FORM_CHARACTER},
	[NVTX_TYPE_CHAR32] = {4, NVTX_FORM_CHARACTER},
	[NVTX_TYPE_BYTE] = {1, NVTX_FORM_HEX},
	[NVTX_TYPE_INT128] = {16, NVTX_FORM_NONE},
	[NVTX_TYPE_UINT128] = {16, NVTX_FORM_NONE},
	[NVTX_TYPE_FLOAT16] = {2, NVTX_FORM_HALF},
	[NVTX_TYPE_FLOAT32] = {4, NVTX_FORM_REAL},
	[NVTX_TYPE_FLOAT64] = {8, NVTX_FORM_REAL},
	[NVTX_TYPE_FLOAT128] = {16, NVTX_FORM_NONE},
	[NVTX_TYPE_BF16] = {2, NVTX_FORM_BRAIN},
	[NVTX_TYPE_TF32] = {4, NVTX_FORM_REAL},
	[NVTX_TYPE_CATEGORY] = {4, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_COLOR] = {4, NVTX_FORM_HEX},
	[NVTX_TYPE_SCOPE] = {8, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_PID32] = {4, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_PID64] = {8, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_TID32] = {4, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_TID64] = {8, NVTX_FORM_UNSIGNED},
	[NVTX_TYPE_STRING] = {1, NVTX_FORM_STRING},
	[NVTX_TYPE_STRING_UTF8] = {1, NVTX_FORM_STRING},
	[NVTX_TYPE_STRING_UTF16] = {2, NVTX_FORM_STRING},
	[NVTX_TYPE_STRING_UTF32] = {4, NVTX_FORM_STRING},
	[NVTX_TYPE_REGISTERED_STRING] = {sizeof(void *), NVTX_FORM_REGISTERED},
};

const struct nvtx_basic *cuprobe_nvtx_basic_find(__u64 type)
{
	if (type >= sizeof(basics) / sizeof(basics[0]) || !basics[type].bytes)
		return NULL;
	return &basics[type];
}

__u64 cuprobe_nvtx_value_number(const char *data, size_t bytes)
{
	__u64 value = 0;

	memcpy(&value, data, bytes < sizeof(value) ? bytes : sizeof(value));
	return value;
}

__s64 cuprobe_nvtx_value_signed(__u64 value, size_t bytes)
{
	unsigned int shift = bytes < 8 ? (unsigned int)(64 - 8 * bytes) : 0;

	return (__s64)(value << shift) >> shift;
}

static float single_of(__u32 bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static float half_read(__u32 half)
{
	__u32 sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;

	if (exponent == 31)
		return single_of(sign | 0x7f800000 | fraction << 13);
	if (exponent)
		return single_of(sign | (exponent + 112) << 23 | fraction << 13);
	return single_of(sign | 0x3f800000) * (float)fraction / 16777216;
}

static void render_real(struct nvtx_text *t, const char *data, size_t bytes)
{
	long double extended;
	double value;

	if (bytes == sizeof(float)) {
		cuprobe_nvtx_text_double(t, single_of((__u32)cuprobe_nvtx_value_number(data, 4)),
					 7);
	} else if (bytes == sizeof(double)) {
		memcpy(&value, data, sizeof(value));
		cuprobe_nvtx_text_double(t, value, 15);
	} else {
		memcpy(&extended, data, sizeof(extended));
		cuprobe_nvtx_text_double(t, (double)extended, 15);
	}
}

void cuprobe_nvtx_value_raw(struct nvtx_text *t, struct nvtx_view v)
{
	for (size_t i = 0; i < v.bytes && i < RAW_MOST; i++) {
		const char *digits = "0123456789abcdef";
		unsigned char byte = (unsigned char)v.data[i];

		if (i)
			cuprobe_nvtx_text_put(t, " ", 1);
		cuprobe_nvtx_text_put(t, digits + (byte >> 4), 1);
		cuprobe_nvtx_text_put(t, digits + (byte & 15), 1);
	}
	if (v.bytes > RAW_MOST)
		cuprobe_nvtx_text_string(t, " \xe2\x80\xa6");
}

/* Characters of `unit` bytes up to a zero or the end of the view. */
void cuprobe_nvtx_value_characters(struct nvtx_text *t, struct nvtx_view v, size_t unit)
{
	if (unit == 2)
		cuprobe_nvtx_text_utf16(t, (const void *)v.data, v.bytes / 2);
	else if (unit == 4)
		cuprobe_nvtx_text_utf32(t, (const void *)v.data, v.bytes / 4);
	else
		cuprobe_nvtx_text_put(t, v.data, strnlen(v.data, v.bytes));
}

void cuprobe_nvtx_value_quoted(struct nvtx_text *t, struct nvtx_view v, size_t unit)
{
	cuprobe_nvtx_text_put(t, "\"", 1);
	cuprobe_nvtx_value_characters(t, v, unit);
	cuprobe_nvtx_text_put(t, "\"", 1);
}

static void render_registered(struct nvtx_text *t, const void *handle)
{
	char text[256];
	size_t bytes = cuprobe_nvtx_name_copy(cuprobe_nvtx_registered(handle), text, sizeof(text));

	cuprobe_nvtx_text_put(t, "\"", 1);
	cuprobe_nvtx_text_put(t, text, bytes);
	cuprobe_nvtx_text_put(t, "\"", 1);
}

/* One value of a predefined type, all of which lies in memory. */
void cuprobe_nvtx_value_render(struct nvtx_text *t, const struct nvtx_basic *b, const char *data)
{
	__u64 value = cuprobe_nvtx_value_number(data, b->bytes);

	switch (b->form) {
	case NVTX_FORM_SIGNED:
		cuprobe_nvtx_text_s64(t, cuprobe_nvtx_value_signed(value, b->bytes));
		break;
	case NVTX_FORM_UNSIGNED:
		cuprobe_nvtx_text_u64(t, value);
		break;
	case NVTX_FORM_HEX:
		cuprobe_nvtx_text_hex(t, value);
		break;
	case NVTX_FORM_REAL:
		render_real(t, data, b->bytes);
		break;
	case NVTX_FORM_HALF:
		cuprobe_nvtx_text_double(t, half_read((__u32)value), 7);
		break;
	case NVTX_FORM_BRAIN:
		cuprobe_nvtx_text_double(t, single_of((__u32)value << 16), 7);
		break;
	case NVTX_FORM_CHARACTER:
		cuprobe_nvtx_value_quoted(t, (struct nvtx_view){data, b->bytes}, b->bytes);
		break;
	case NVTX_FORM_STRING: /* the address of one */
		if (value)
			cuprobe_nvtx_value_quoted(
				t, (struct nvtx_view){(const char *)value, SIZE_MAX}, b->bytes);
		break;
	case NVTX_FORM_REGISTERED:
		render_registered(t, (const void *)value);
		break;
	default:
		cuprobe_nvtx_value_raw(t, (struct nvtx_view){data, b->bytes});
	}
}
