/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_layout.h"

#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_schema.h"
#include "src/inject/nvtx_value.h"

size_t cuprobe_nvtx_type_bytes(__u32 domain, __u64 type)
{
	const struct nvtx_basic *b = cuprobe_nvtx_basic_find(type);
	const struct nvtx_schema *s = b ? NULL : cuprobe_nvtx_schema_find(domain, type);

	if (b)
		return b->bytes;
	return s ? s->bytes : 0;
}

bool cuprobe_nvtx_field_is_embedded(const struct nvtx_field *f)
{
	return f->detail || f->flags & NVTX_ENTRY_ARRAY;
}

/* True when an address stands in the payload for what lies elsewhere. */
static bool field_is_address(const struct nvtx_field *f)
{
	const struct nvtx_basic *b = cuprobe_nvtx_basic_find(f->type);

	return f->flags & NVTX_ENTRY_POINTER ||
	       (b && b->form == NVTX_FORM_STRING && !cuprobe_nvtx_field_is_embedded(f));
}

size_t cuprobe_nvtx_field_bytes(const struct nvtx_schema *s, const struct nvtx_field *f)
{
	size_t unit = cuprobe_nvtx_type_bytes(s->domain, f->type);

	if (field_is_address(f))
		return sizeof(void *);
	return f->detail ? unit * f->detail : unit;
}

static size_t field_align(const struct nvtx_schema *s, const struct nvtx_field *f)
{
	size_t align =
		field_is_address(f) ? sizeof(void *) : cuprobe_nvtx_type_bytes(s->domain, f->type);

	if (!align || align > 16 || align & (align - 1))
		align = 8;
	return s->pack_align && s->pack_align < align ? s->pack_align : align;
}

size_t cuprobe_nvtx_field_offset(const struct nvtx_schema *s, __u32 number, size_t at)
{
	const struct nvtx_field *f = &s->fields[number];
	size_t align = field_align(s, f);

	if (f->offset || !number)
		return f->offset;
	return s->type == NVTX_SCHEMA_DYNAMIC ? at : (at + align - 1) / align * align;
}
