/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_payload.h"

#include <stdint.h>
#include <string.h>

#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_layout.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_schema.h"
#include "src/inject/nvtx_text.h"
#include "src/inject/nvtx_value.h"

#define DEPTH_MOST 8
#define LENGTHS 32 /* leading fields whose values may be array lengths */

struct rendering {
	struct nvtx_text *text;
	struct nvtx_payload_attributes *attributes;
	__u32 domain;
	int depth;
};

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

static void render_struct(struct rendering *r, const struct nvtx_schema *s, struct nvtx_view v);

/* One value of any type at the beginning of the view. */
static void render_value(struct rendering *r, __u64 type, struct nvtx_view v)
{
	const struct nvtx_basic *b = cuprobe_nvtx_basic_find(type);
	const struct nvtx_schema *s = b ? NULL : cuprobe_nvtx_schema_find(r->domain, type);

	if (b && (b->form == NVTX_FORM_STRING ? sizeof(char *) : b->bytes) <= v.bytes)
		cuprobe_nvtx_value_render(r->text, b, v.data);
	else if (s && s->type)
		render_struct(r, s, v);
	else if (s && s->bytes <= v.bytes && s->bytes <= 8)
		render_enum(r->text, s, cuprobe_nvtx_value_number(v.data, s->bytes));
	else
		cuprobe_nvtx_text_put(r->text, "?", 1);
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
static size_t render_array(struct rendering *r, const struct nvtx_field *f, struct nvtx_view v,
			   __u64 count)
{
	bool zero = (f->flags & NVTX_ENTRY_ARRAY) == NVTX_ENTRY_ARRAY_ZERO;
	size_t unit = cuprobe_nvtx_type_bytes(r->domain, f->type), at = 0;

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
		render_value(r, f->type, (struct nvtx_view){v.data + at, v.bytes - at});
	}
	cuprobe_nvtx_text_put(r->text, "]", 1);
	return at;
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
static size_t string_view(const struct nvtx_field *f, const struct nvtx_basic *b,
			  const struct field_lengths *lengths, struct nvtx_view *v)
{
	__u64 count = f->flags & NVTX_ENTRY_ARRAY ? field_count(f, lengths) : f->detail;
	const char *text;

	if (cuprobe_nvtx_field_is_embedded(f) && !(f->flags & NVTX_ENTRY_POINTER)) {
		if (count < v->bytes / b->bytes)
			v->bytes = count * b->bytes;
		return v->bytes;
	}
	if (v->bytes < sizeof(text))
		return v->bytes = 0;
	memcpy(&text, v->data, sizeof(text));
	*v = (struct nvtx_view){text, !text				  ? 0
				      : cuprobe_nvtx_field_is_embedded(f) ? count * b->bytes
									  : SIZE_MAX};
	return sizeof(text);
}

/* Writes the field's value; returns the bytes that it takes in the payload. */
static size_t render_field(struct rendering *r, const struct nvtx_field *f, struct nvtx_view v,
			   const struct field_lengths *lengths)
{
	const struct nvtx_basic *b = cuprobe_nvtx_basic_find(f->type);
	bool array = f->flags & NVTX_ENTRY_ARRAY;
	struct nvtx_view target = v;
	size_t bytes;

	if (b && b->form == NVTX_FORM_STRING) {
		bytes = string_view(f, b, lengths, &v);
		cuprobe_nvtx_value_quoted(r->text, v, b->bytes);
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
		bytes = cuprobe_nvtx_type_bytes(r->domain, f->type);
	} else if (array) {
		bytes = render_array(r, f, target, field_count(f, lengths));
	} else {
		render_value(r, f->type, target);
		bytes = cuprobe_nvtx_type_bytes(r->domain, f->type);
	}
	return f->flags & NVTX_ENTRY_POINTER ? sizeof(target.data) : bytes;
}

static void message_take(const struct rendering *r, const struct nvtx_field *f, struct nvtx_view v,
			 const struct field_lengths *lengths)
{
	const struct nvtx_basic *b = cuprobe_nvtx_basic_find(f->type);

	if (b && b->form == NVTX_FORM_REGISTERED && b->bytes <= v.bytes) {
		r->attributes->message_id = cuprobe_nvtx_registered(
			(void *)cuprobe_nvtx_value_number(v.data, b->bytes));
	} else if (b && b->form == NVTX_FORM_STRING) {
		string_view(f, b, lengths, &v);
		cuprobe_nvtx_value_characters(r->attributes->message, v, b->bytes);
	}
}

static void attributes_take(const struct rendering *r, const struct nvtx_field *f,
			    struct nvtx_view v)
{
	__u32 value;

	if (v.bytes < sizeof(value))
		return;
	value = (__u32)cuprobe_nvtx_value_number(v.data, sizeof(value));
	if (f->type == NVTX_TYPE_COLOR) {
		r->attributes->has_color = true;
		r->attributes->color = value;
	} else if (f->type == NVTX_TYPE_CATEGORY) {
		r->attributes->has_category = true;
		r->attributes->category = value;
	}
}

static bool field_is_time(const struct nvtx_field *f)
{
	return f->flags & NVTX_ENTRY_TIMESTAMP && f->flags & NVTX_ENTRY_OF_EVENT;
}

static void time_take(const struct rendering *r, const struct nvtx_field *f, struct nvtx_view v)
{
	__u64 time_ns;

	if (!field_is_time(f) || !f->timed || v.bytes < sizeof(time_ns))
		return;
	time_ns = cuprobe_nvtx_value_number(v.data, sizeof(time_ns));
	if ((f->flags & NVTX_ENTRY_OF_EVENT) == NVTX_ENTRY_OF_END)
		r->attributes->end_ns = time_ns;
	else
		r->attributes->begin_ns = time_ns;
}

static bool field_is_shown(const struct nvtx_field *f)
{
	return !(f->flags & (NVTX_ENTRY_HIDE | NVTX_ENTRY_MESSAGE)) && f->type != NVTX_TYPE_COLOR &&
	       f->type != NVTX_TYPE_CATEGORY && !field_is_time(f);
}

/* Runs through the fields; those that are not shown go into a text that nobody reads. */
static void render_fields(struct rendering *r, const struct nvtx_schema *s, struct nvtx_view v)
{
	struct nvtx_text unseen = {.cut = true}, *seen = r->text;
	struct field_lengths lengths = {0};
	bool first = true;
	size_t at = 0;

	for (__u32 i = 0; i < s->count && !seen->cut; i++) {
		const struct nvtx_field *f = &s->fields[i];
		struct nvtx_view rest;

		at = cuprobe_nvtx_field_offset(s, i, at);
		if (at > v.bytes)
			return;
		rest = (struct nvtx_view){v.data + at, v.bytes - at};
		if (i < LENGTHS && rest.bytes >= cuprobe_nvtx_type_bytes(r->domain, f->type))
			lengths.value[i] = cuprobe_nvtx_value_number(
				rest.data, cuprobe_nvtx_type_bytes(r->domain, f->type));
		if (f->flags & NVTX_ENTRY_MESSAGE)
			message_take(r, f, rest, &lengths);
		attributes_take(r, f, rest);
		time_take(r, f, rest);
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

static void render_struct(struct rendering *r, const struct nvtx_schema *s, struct nvtx_view v)
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
static bool payload_view(const struct rendering *r, const struct nvtx_payload *p,
			 struct nvtx_view *ret)
{
	*ret = (struct nvtx_view){p->data, p->bytes};
	if (p->bytes == SIZE_MAX)
		ret->bytes = cuprobe_nvtx_type_bytes(r->domain, p->schema);
	return ret->data && ret->bytes;
}

static void render_payload(struct rendering *r, const struct nvtx_payload *p)
{
	const struct nvtx_basic *b = cuprobe_nvtx_basic_find(p->schema);
	struct nvtx_view v;

	if (b && b->form == NVTX_FORM_STRING && p->data)
		cuprobe_nvtx_value_quoted(r->text, (struct nvtx_view){p->data, p->bytes}, b->bytes);
	else if (!payload_view(r, p, &v))
		cuprobe_nvtx_text_put(r->text, "?", 1);
	else if (p->schema == NVTX_TYPE_RAW)
		cuprobe_nvtx_value_raw(r->text, v);
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
