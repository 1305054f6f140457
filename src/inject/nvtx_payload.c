/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_payload.h"

#include <stdint.h>
#include <string.h>

#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_schema.h"
#include "src/inject/nvtx_text.h"

#define DEPTH_MOST 8
#define LENGTHS 32 /* leading fields whose values may be array lengths */
#define RAW_MOST 64

struct rendering {
	struct nvtx_text *text;
	struct nvtx_payload_attributes *attributes;
	__u32 domain;
	int depth;
};

/* A stretch of the client's memory. */
struct view {
	const char *data;
	size_t bytes;
};

enum form {
	FORM_NONE, /* shown as its bytes */
	FORM_SIGNED,
	FORM_UNSIGNED,
	FORM_HEX,
	FORM_REAL,
	FORM_HALF,
	FORM_BRAIN,
	FORM_CHARACTER,
	FORM_STRING,
	FORM_REGISTERED,
};

struct basic {
	__u8 bytes, form;
};

static const struct basic basics[] = {
	[NVTX_TYPE_CHAR] = {1, FORM_CHARACTER},
	[NVTX_TYPE_UCHAR] = {1, FORM_UNSIGNED},
	[NVTX_TYPE_SHORT] = {sizeof(short), FORM_SIGNED},
	[NVTX_TYPE_USHORT] = {sizeof(short), FORM_UNSIGNED},
	[NVTX_TYPE_INT] = {sizeof(int), FORM_SIGNED},
	[NVTX_TYPE_UINT] = {sizeof(int), FORM_UNSIGNED},
	[NVTX_TYPE_LONG] = {sizeof(long), FORM_SIGNED},
	[NVTX_TYPE_ULONG] = {sizeof(long), FORM_UNSIGNED},
	[NVTX_TYPE_LONGLONG] = {8, FORM_SIGNED},
	[NVTX_TYPE_ULONGLONG] = {8, FORM_UNSIGNED},
	[NVTX_TYPE_INT8] = {1, FORM_SIGNED},
	[NVTX_TYPE_UINT8] = {1, FORM_UNSIGNED},
	[NVTX_TYPE_INT16] = {2, FORM_SIGNED},
	[NVTX_TYPE_UINT16] = {2, FORM_UNSIGNED},
	[NVTX_TYPE_INT32] = {4, FORM_SIGNED},
	[NVTX_TYPE_UINT32] = {4, FORM_UNSIGNED},
	[NVTX_TYPE_INT64] = {8, FORM_SIGNED},
	[NVTX_TYPE_UINT64] = {8, FORM_UNSIGNED},
	[NVTX_TYPE_FLOAT] = {4, FORM_REAL},
	[NVTX_TYPE_DOUBLE] = {8, FORM_REAL},
	[NVTX_TYPE_LONGDOUBLE] = {sizeof(long double), FORM_REAL},
	[NVTX_TYPE_SIZE] = {sizeof(size_t), FORM_UNSIGNED},
	[NVTX_TYPE_ADDRESS] = {sizeof(void *), FORM_HEX},
	[NVTX_TYPE_WCHAR] = {sizeof(wchar_t), FORM_CHARACTER},
	[NVTX_TYPE_CHAR8] = {1, FORM_CHARACTER},
	[NVTX_TYPE_CHAR16] = {2, FORM_CHARACTER},
	[NVTX_TYPE_CHAR32] = {4, FORM_CHARACTER},
	[NVTX_TYPE_BYTE] = {1, FORM_HEX},
	[NVTX_TYPE_INT128] = {16, FORM_NONE},
	[NVTX_TYPE_UINT128] = {16, FORM_NONE},
	[NVTX_TYPE_FLOAT16] = {2, FORM_HALF},
	[NVTX_TYPE_FLOAT32] = {4, FORM_REAL},
	[NVTX_TYPE_FLOAT64] = {8, FORM_REAL},
	[NVTX_TYPE_FLOAT128] = {16, FORM_NONE},
	[NVTX_TYPE_BF16] = {2, FORM_BRAIN},
	[NVTX_TYPE_TF32] = {4, FORM_REAL},
	[NVTX_TYPE_CATEGORY] = {4, FORM_UNSIGNED},
	[NVTX_TYPE_COLOR] = {4, FORM_HEX},
	[NVTX_TYPE_SCOPE] = {8, FORM_UNSIGNED},
	[NVTX_TYPE_PID32] = {4, FORM_UNSIGNED},
	[NVTX_TYPE_PID64] = {8, FORM_UNSIGNED},
	[NVTX_TYPE_TID32] = {4, FORM_UNSIGNED},
	[NVTX_TYPE_TID64] = {8, FORM_UNSIGNED},
	[NVTX_TYPE_STRING] = {1, FORM_STRING},
	[NVTX_TYPE_STRING_UTF8] = {1, FORM_STRING},
	[NVTX_TYPE_STRING_UTF16] = {2, FORM_STRING},
	[NVTX_TYPE_STRING_UTF32] = {4, FORM_STRING},
	[NVTX_TYPE_REGISTERED_STRING] = {sizeof(void *), FORM_REGISTERED},
};

static const struct basic *basic_find(__u64 type)
{
	if (type >= sizeof(basics) / sizeof(basics[0]) || !basics[type].bytes)
		return NULL;
	return &basics[type];
}

static __u64 number_read(const char *data, size_t bytes)
{
	__u64 value = 0;

	memcpy(&value, data, bytes < sizeof(value) ? bytes : sizeof(value));
	return value;
}

static __s64 number_extend(__u64 value, size_t bytes)
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
		cuprobe_nvtx_text_double(t, single_of((__u32)number_read(data, 4)), 7);
	} else if (bytes == sizeof(double)) {
		memcpy(&value, data, sizeof(value));
		cuprobe_nvtx_text_double(t, value, 15);
	} else {
		memcpy(&extended, data, sizeof(extended));
		cuprobe_nvtx_text_double(t, (double)extended, 15);
	}
}

static void render_raw(struct nvtx_text *t, struct view v)
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
static void render_characters(struct nvtx_text *t, struct view v, size_t unit)
{
	if (unit == 2)
		cuprobe_nvtx_text_utf16(t, (const void *)v.data, v.bytes / 2);
	else if (unit == 4)
		cuprobe_nvtx_text_utf32(t, (const void *)v.data, v.bytes / 4);
	else
		cuprobe_nvtx_text_put(t, v.data, strnlen(v.data, v.bytes));
}

static void render_quoted(struct nvtx_text *t, struct view v, size_t unit)
{
	cuprobe_nvtx_text_put(t, "\"", 1);
	render_characters(t, v, unit);
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
static void render_basic(struct nvtx_text *t, const struct basic *b, const char *data)
{
	__u64 value = number_read(data, b->bytes);

	switch (b->form) {
	case FORM_SIGNED:
		cuprobe_nvtx_text_s64(t, number_extend(value, b->bytes));
		break;
	case FORM_UNSIGNED:
		cuprobe_nvtx_text_u64(t, value);
		break;
	case FORM_HEX:
		cuprobe_nvtx_text_hex(t, value);
		break;
	case FORM_REAL:
		render_real(t, data, b->bytes);
		break;
	case FORM_HALF:
		cuprobe_nvtx_text_double(t, half_read((__u32)value), 7);
		break;
	case FORM_BRAIN:
		cuprobe_nvtx_text_double(t, single_of((__u32)value << 16), 7);
		break;
	case FORM_CHARACTER:
		render_quoted(t, (struct view){data, b->bytes}, b->bytes);
		break;
	case FORM_STRING: /* the address of one */
		if (value)
			render_quoted(t, (struct view){(const char *)value, SIZE_MAX}, b->bytes);
		break;
	case FORM_REGISTERED:
		render_registered(t, (const void *)value);
		break;
	default:
		render_raw(t, (struct view){data, b->bytes});
	}
}

static void render_enum(struct nvtx_text *t, const struct nvtx_schema *s, __u64 value)
{
	__u64 rest = value;
	bool first = true;

	for (__u32 i = 0; i < s->count; i++) {
		const struct nvtx_field *word = &s->fields[i];
		bool holds = word->is_flag ? word->value && (rest & word->value) == word->value
					   : value == word->value;

		if (!holds || !word->name)
			continue;
		if (!first)
			cuprobe_nvtx_text_put(t, "|", 1);
		cuprobe_nvtx_text_string(t, word->name);
		first = false;
		rest &= ~word->value;
		if (!word->is_flag)
			return;
	}
	if (first)
		cuprobe_nvtx_text_u64(t, value);
}

static void render_struct(struct rendering *r, const struct nvtx_schema *s, struct view v);

/* One value of any type at the beginning of the view. */
static void render_value(struct rendering *r, __u64 type, struct view v)
{
	const struct basic *b = basic_find(type);
	const struct nvtx_schema *s = b ? NULL : cuprobe_nvtx_schema_find(r->domain, type);

	if (b && (b->form == FORM_STRING ? sizeof(char *) : b->bytes) <= v.bytes)
		render_basic(r->text, b, v.data);
	else if (s && s->type)
		render_struct(r, s, v);
	else if (s && s->bytes <= v.bytes && s->bytes <= 8)
		render_enum(r->text, s, number_read(v.data, s->bytes));
	else
		cuprobe_nvtx_text_put(r->text, "?", 1);
}

/* Bytes of one element; 0 when that cannot be told. */
static size_t type_bytes(const struct rendering *r, __u64 type)
{
	const struct basic *b = basic_find(type);
	const struct nvtx_schema *s = b ? NULL : cuprobe_nvtx_schema_find(r->domain, type);

	if (b)
		return b->bytes;
	return s ? s->bytes : 0;
}

static bool is_zero(const char *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (data[i])
			return false;
	}
	return true;
}

/* Up to `count` elements, or up to a zero one; returns how many bytes they take. */
static size_t render_array(struct rendering *r, const struct nvtx_field *f, struct view v,
			   __u64 count)
{
	bool zero = (f->flags & NVTX_ENTRY_ARRAY) == NVTX_ENTRY_ARRAY_ZERO;
	size_t unit = type_bytes(r, f->type), at = 0;

	if (!unit) {
		cuprobe_nvtx_text_put(r->text, "?", 1);
		return 0;
	}
	cuprobe_nvtx_text_put(r->text, "[", 1);
	for (__u64 i = 0; i < count && unit <= v.bytes - at && !r->text->cut; i++, at += unit) {
		if (zero && is_zero(v.data + at, unit))
			break;
		if (i)
			cuprobe_nvtx_text_put(r->text, ", ", 2);
		render_value(r, f->type, (struct view){v.data + at, v.bytes - at});
	}
	cuprobe_nvtx_text_put(r->text, "]", 1);
	return at;
}

/* True when the text itself, and not its address, lies in the payload. */
static bool string_is_embedded(const struct nvtx_field *f)
{
	return f->detail || f->flags & NVTX_ENTRY_ARRAY;
}

static size_t field_align(const struct rendering *r, const struct nvtx_schema *s,
			  const struct nvtx_field *f)
{
	const struct basic *b = basic_find(f->type);
	size_t align = type_bytes(r, f->type);

	if (f->flags & NVTX_ENTRY_POINTER ||
	    (b && b->form == FORM_STRING && !string_is_embedded(f)))
		align = sizeof(void *);
	if (!align || align > 16 || align & (align - 1))
		align = 8;
	return s->pack_align && s->pack_align < align ? s->pack_align : align;
}

/* Where the field lies when `at` is the end of the one before it. */
static size_t field_offset(const struct rendering *r, const struct nvtx_schema *s, __u32 number,
			   size_t at)
{
	const struct nvtx_field *f = &s->fields[number];
	size_t align = field_align(r, s, f);

	if (f->offset || !number)
		return f->offset;
	return s->type == NVTX_SCHEMA_DYNAMIC ? at : (at + align - 1) / align * align;
}

struct field_lengths {
	__u64 value[LENGTHS];
};

static __u64 field_count(const struct nvtx_field *f, const struct field_lengths *lengths)
{
	switch (f->flags & NVTX_ENTRY_ARRAY) {
	case NVTX_ENTRY_ARRAY_FIXED:
		return f->detail;
	case NVTX_ENTRY_ARRAY_INDEX:
		return f->detail < LENGTHS ? lengths->value[f->detail] : 0;
	default:
		return UINT64_MAX;
	}
}

/* A string field's text, whether it lies in the payload or is pointed to. */
static size_t string_view(const struct nvtx_field *f, const struct basic *b,
			  const struct field_lengths *lengths, struct view *v)
{
	__u64 count = f->flags & NVTX_ENTRY_ARRAY ? field_count(f, lengths) : f->detail;
	const char *text;

	if (string_is_embedded(f) && !(f->flags & NVTX_ENTRY_POINTER)) {
		if (count < v->bytes / b->bytes)
			v->bytes = count * b->bytes;
		return v->bytes;
	}
	if (v->bytes < sizeof(text))
		return v->bytes = 0;
	memcpy(&text, v->data, sizeof(text));
	*v = (struct view){text, !text ? 0 : string_is_embedded(f) ? count * b->bytes : SIZE_MAX};
	return sizeof(text);
}

/* Writes the field's value; returns the bytes that it takes in the payload. */
static size_t render_field(struct rendering *r, const struct nvtx_field *f, struct view v,
			   const struct field_lengths *lengths)
{
	const struct basic *b = basic_find(f->type);
	bool array = f->flags & NVTX_ENTRY_ARRAY;
	struct view target = v;
	size_t bytes;

	if (b && b->form == FORM_STRING) {
		bytes = string_view(f, b, lengths, &v);
		render_quoted(r->text, v, b->bytes);
		return bytes;
	}
	if (f->flags & NVTX_ENTRY_POINTER) {
		if (v.bytes < sizeof(target.data))
			return 0;
		memcpy(&target.data, v.data, sizeof(target.data));
		target.bytes = SIZE_MAX;
	}
	if (f->flags & (NVTX_ENTRY_FROM_BASE | NVTX_ENTRY_FROM_HERE) || !target.data) {
		cuprobe_nvtx_text_put(r->text, "?", 1);
		bytes = type_bytes(r, f->type);
	} else if (array) {
		bytes = render_array(r, f, target, field_count(f, lengths));
	} else {
		render_value(r, f->type, target);
		bytes = type_bytes(r, f->type);
	}
	return f->flags & NVTX_ENTRY_POINTER ? sizeof(target.data) : bytes;
}

static void message_take(const struct rendering *r, const struct nvtx_field *f, struct view v,
			 const struct field_lengths *lengths)
{
	const struct basic *b = basic_find(f->type);

	if (b && b->form == FORM_REGISTERED && b->bytes <= v.bytes) {
		r->attributes->message_id =
			cuprobe_nvtx_registered((void *)number_read(v.data, b->bytes));
	} else if (b && b->form == FORM_STRING) {
		string_view(f, b, lengths, &v);
		render_characters(r->attributes->message, v, b->bytes);
	}
}

static void attributes_take(const struct rendering *r, const struct nvtx_field *f, struct view v)
{
	__u32 value;

	if (v.bytes < sizeof(value))
		return;
	value = (__u32)number_read(v.data, sizeof(value));
	if (f->type == NVTX_TYPE_COLOR) {
		r->attributes->has_color = true;
		r->attributes->color = value;
	} else if (f->type == NVTX_TYPE_CATEGORY) {
		r->attributes->has_category = true;
		r->attributes->category = value;
	}
}

static bool field_is_shown(const struct nvtx_field *f)
{
	return !(f->flags & (NVTX_ENTRY_HIDE | NVTX_ENTRY_MESSAGE)) && f->type != NVTX_TYPE_COLOR &&
	       f->type != NVTX_TYPE_CATEGORY;
}

/* Runs through the fields; those that are not shown go into a text that nobody reads. */
static void render_fields(struct rendering *r, const struct nvtx_schema *s, struct view v)
{
	struct nvtx_text unseen = {.cut = true}, *seen = r->text;
	struct field_lengths lengths = {0};
	bool first = true;
	size_t at = 0;

	for (__u32 i = 0; i < s->count && !seen->cut; i++) {
		const struct nvtx_field *f = &s->fields[i];
		struct view rest;

		at = field_offset(r, s, i, at);
		if (at > v.bytes)
			return;
		rest = (struct view){v.data + at, v.bytes - at};
		if (i < LENGTHS && rest.bytes >= type_bytes(r, f->type))
			lengths.value[i] = number_read(rest.data, type_bytes(r, f->type));
		if (f->flags & NVTX_ENTRY_MESSAGE)
			message_take(r, f, rest, &lengths);
		attributes_take(r, f, rest);
		r->text = field_is_shown(f) ? seen : &unseen;
		if (!first)
			cuprobe_nvtx_text_put(r->text, ", ", 2);
		if (f->name) {
			cuprobe_nvtx_text_string(r->text, f->name);
			cuprobe_nvtx_text_put(r->text, ": ", 2);
		}
		at += render_field(r, f, rest, &lengths);
		first = first && !field_is_shown(f);
	}
	r->text = seen;
}

static void render_struct(struct rendering *r, const struct nvtx_schema *s, struct view v)
{
	if (s->type == NVTX_SCHEMA_STATIC && s->bytes && s->bytes < v.bytes)
		v.bytes = s->bytes;
	if (r->depth == DEPTH_MOST) {
		cuprobe_nvtx_text_put(r->text, "?", 1);
		return;
	}
	r->depth++;
	cuprobe_nvtx_text_put(r->text, "{", 1);
	render_fields(r, s, v);
	cuprobe_nvtx_text_put(r->text, "}", 1);
	r->depth--;
}

/* A payload whose end is known neither from itself nor from its type cannot be read. */
static bool payload_view(const struct rendering *r, const struct nvtx_payload *p, struct view *ret)
{
	*ret = (struct view){p->data, p->bytes};
	if (p->bytes == SIZE_MAX)
		ret->bytes = type_bytes(r, p->schema);
	return ret->data && ret->bytes;
}

static void render_payload(struct rendering *r, const struct nvtx_payload *p)
{
	const struct basic *b = basic_find(p->schema);
	struct view v;

	if (b && b->form == FORM_STRING && p->data)
		render_quoted(r->text, (struct view){p->data, p->bytes}, b->bytes);
	else if (!payload_view(r, p, &v))
		cuprobe_nvtx_text_put(r->text, "?", 1);
	else if (p->schema == NVTX_TYPE_RAW)
		render_raw(r->text, v);
	else
		render_value(r, p->schema, v);
}

void cuprobe_nvtx_payload_render(struct nvtx_text *t, __u32 domain,
				 const struct nvtx_payload *payloads, size_t count,
				 struct nvtx_payload_attributes *attributes)
{
	struct rendering r = {.text = t, .attributes = attributes, .domain = domain};
	bool first = true;

	for (size_t i = 0; i < count && !t->cut; i++) {
		if (payloads[i].schema == NVTX_TYPE_REFERENCED)
			continue;
		if (!first)
			cuprobe_nvtx_text_put(t, ", ", 2);
		first = false;
		render_payload(&r, &payloads[i]);
	}
}
