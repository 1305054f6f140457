/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts of extended payloads that clients have registered. A schema, once found, stays as it
 * is: threads read it without a lock.
 */
#ifndef CUPROBE_INJECT_NVTX_SCHEMA_H
#define CUPROBE_INJECT_NVTX_SCHEMA_H

#include <stdbool.h>

#include <linux/types.h>

struct nvtx_enum_attributes;
struct nvtx_schema_attributes;

struct nvtx_field {
	__u64 flags, type, detail, offset; /* of enum nvtx_entry_flag, enum nvtx_type */
	const char *name;		   /* NULL: none. Of an enumeration its word */
	__u64 value;			   /* of the word */
	bool is_flag;
	bool timed; /* of a time: its clock is known */
};

struct nvtx_schema {
	__u64 id;
	__u32 domain;
	__u32 type;  /* enum nvtx_schema_type; 0: an enumeration */
	__u64 bytes; /* 0: not known */
	__u64 pack_align;
	__u32 count;
	struct nvtx_field fields[];
};

/* The id by which payloads refer to it; 0 when it cannot be used or there is no room. */
__u64 cuprobe_nvtx_schema_add(__u32 domain, const struct nvtx_schema_attributes *attributes);
__u64 cuprobe_nvtx_schema_add_enum(__u32 domain, const struct nvtx_enum_attributes *attributes);

/* NULL when there is none. */
const struct nvtx_schema *cuprobe_nvtx_schema_find(__u32 domain, __u64 id);

#endif
