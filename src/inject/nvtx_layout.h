/* SPDX-License-Identifier: Apache-2.0 */
/* Where the fields of a schema lie in a payload. */
#ifndef CUPROBE_INJECT_NVTX_LAYOUT_H
#define CUPROBE_INJECT_NVTX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct nvtx_field;
struct nvtx_schema;

/* Bytes of one element; 0 when that cannot be told. */
size_t cuprobe_nvtx_type_bytes(__u32 domain, __u64 type);
/* Of a string: true when the text itself, and not its address, lies in the payload. */
bool cuprobe_nvtx_field_is_embedded(const struct nvtx_field *f);
/* Bytes that the field takes in a payload of static layout. */
size_t cuprobe_nvtx_field_bytes(const struct nvtx_schema *s, const struct nvtx_field *f);
/* Where the field lies when `at` is the end of the one before it. */
size_t cuprobe_nvtx_field_offset(const struct nvtx_schema *s, __u32 number, size_t at);

#endif
