/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What records consist of, for the outputs that show every field: CSV, JSON lines and text. One
 * table for each probe; fields of the same name mean the same in each.
 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_FIELDS_H
#define CUPROBE_COLLECTOR_OUTPUT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/collector/event.h"

enum field_type {
	FIELD_U8,
	FIELD_U16,
	FIELD_U32,
	FIELD_S32,
	FIELD_U64,
	FIELD_KNOWN,	     /* u64; 0 is not known */
	FIELD_ADDRESS,	     /* u64, in hexadecimal; 0 is none */
	FIELD_ID,	     /* u32; CUPROBE_NO_ID is none */
	FIELD_THREAD,	     /* likewise, told in the initial pid namespace */
	FIELD_XYZ,	     /* u32[3] */
	FIELD_PRIORITY,	     /* s32; CUPROBE_NO_PRIORITY is none */
	FIELD_TEXT,	     /* u32: string id */
	FIELD_COPY_KIND,     /* u8 */
	FIELD_MEMORY,	     /* u8: memory kind */
	FIELD_MEMORY16,	     /* u16: likewise */
	FIELD_API_DOMAIN,    /* u8 */
	FIELD_MEMORY_OP,     /* u8 */
	FIELD_NVTX_KIND,     /* u8 */
	FIELD_NVTX_DOMAIN,   /* u32 */
	FIELD_NVTX_CATEGORY, /* u32 */
	FIELD_NVTX_PAYLOAD,  /* as text, whatever its type */
	FIELD_MODULE_OP,     /* u8 */
	FIELD_PC_KIND,	     /* u8 */
	FIELD_STALL,	     /* u32: of a pc_sample */
};

struct field {
	const char *name;
	unsigned short offset;
	unsigned char type; /* enum field_type */
	bool brief;	    /* worth its place in a line of text */
};

/* The fields of a probe's record, without times and the name; ends with a NULL name. */
const struct field *probe_fields(enum cuprobe_probe_id probe);

/* The number in a field (not FIELD_XYZ); false when it says that there is none. */
bool field_number(const struct field *f, const struct event *e, __u64 *ret);
/*
 * The text of the types that are words; NULL for those that are numbers, and for no text. Valid
 * until the next call.
 */
const char *field_text(const struct field *f, const struct event *e);
const __u32 *field_xyz(const struct field *f, const struct event *e);

/* What an event is called: a kernel's or call's name, "Memcpy HtoD (Pinned -> Device)", ... */
#define EVENT_NAME_BYTES 128
struct event_name {
	const char *text;
	size_t bytes;
	char room[EVENT_NAME_BYTES];
};
/* Valid until `n` is used again. */
void event_name(struct event_name *n, const struct event *e, bool mangled);

#endif
