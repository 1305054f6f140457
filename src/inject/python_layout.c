/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_layout.h"

#include <errno.h>

/* Seen with DWARF of 3.9.18, 3.10.13, 3.11.7 and 3.12.1; they do not change within a minor. */
static const struct python_layout known[] = {
	[9] = {.thread_frame = 24,
	       .cframe_frame = PYTHON_NOWHERE,
	       .frame_previous = 24,
	       .frame_code = 32,
	       .frame_instruction = 104,
	       .frame_owner = PYTHON_NOWHERE,
	       .frame_is_entry = PYTHON_NOWHERE,
	       .code_first_line = 40,
	       .code_file = 104,
	       .code_name = 112,
	       .code_table = 120,
	       .code_traceable = PYTHON_NOWHERE,
	       .code_version = PYTHON_NOWHERE,
	       .code_bytes = PYTHON_NOWHERE,
	       .text_ascii = 48,
	       .text_compact = 72,
	       .instruction = PYTHON_INDEX_BYTES,
	       .lines = PYTHON_LNOTAB},
	[10] = {.thread_frame = 24,
		.cframe_frame = PYTHON_NOWHERE,
		.frame_previous = 24,
		.frame_code = 32,
		.frame_instruction = 96,
		.frame_owner = PYTHON_NOWHERE,
		.frame_is_entry = PYTHON_NOWHERE,
		.code_first_line = 40,
		.code_file = 104,
		.code_name = 112,
		.code_table = 120,
		.code_traceable = PYTHON_NOWHERE,
		.code_version = PYTHON_NOWHERE,
		.code_bytes = PYTHON_NOWHERE,
		.text_ascii = 48,
		.text_compact = 72,
		.instruction = PYTHON_INDEX_UNITS,
		.lines = PYTHON_LINE_TABLE},
	[11] = {.thread_frame = 56,
		.cframe_frame = 8,
		.frame_previous = 48,
		.frame_code = 32,
		.frame_instruction = 56,
		.frame_owner = 69,
		.frame_is_entry = 68,
		.code_first_line = 72,
		.code_file = 112,
		.code_name = 128,
		.code_table = 136,
		.code_traceable = 168,
		.code_version = PYTHON_NOWHERE,
		.code_bytes = 184,
		.text_ascii = 48,
		.text_compact = 72,
		.instruction = PYTHON_POINTER,
		.lines = PYTHON_LOCATIONS},
	[12] = {.thread_frame = 56,
		.cframe_frame = 0,
		.frame_previous = 8,
		.frame_code = 0,
		.frame_instruction = 56,
		.frame_owner = 70,
		.frame_is_entry = PYTHON_NOWHERE,
		.code_first_line = 68,
		.code_file = 112,
		.code_name = 128,
		.code_table = 136,
		.code_traceable = 176,
		.code_version = 92,
		.code_bytes = 192,
		.text_ascii = 40,
		.text_compact = 56,
		.native_owner = 3,
		.instruction = PYTHON_POINTER,
		.lines = PYTHON_LOCATIONS},
};

/* Where _Py_DebugOffsets has what we need, in words of 8 bytes. */
struct offsets {
	__u8 thread_frame;
	__u8 previous, executable, instruction, owner;		     /* of interpreter_frame */
	__u8 file, qualname, table, first_line, locals_names, bytes; /* of code_object */
	__u8 type, bytes_size, bytes_data, text_state, text_length, text_ascii;
	__u8 native_owner; /* not an offset, but as much the version's own */
};

static const struct offsets told[] = {
	[13] = {.thread_frame = 23,
		.previous = 29,
		.executable = 30,
		.instruction = 31,
		.owner = 33,
		.file = 35,
		.qualname = 37,
		.table = 38,
		.first_line = 39,
		.locals_names = 41,
		.bytes = 43,
		.type = 45,
		.bytes_size = 65,
		.bytes_data = 66,
		.text_state = 68,
		.text_length = 69,
		.text_ascii = 70,
		.native_owner = 3},
	[14] = {.thread_frame = 26,
		.previous = 32,
		.executable = 33,
		.instruction = 34,
		.owner = 36,
		.file = 40,
		.qualname = 42,
		.table = 43,
		.first_line = 44,
		.locals_names = 46,
		.bytes = 48,
		.type = 51,
		.bytes_size = 75,
		.bytes_data = 76,
		.text_state = 78,
		.text_length = 79,
		.text_ascii = 80,
		.native_owner = 3},
};

#define OFFSETS_VERSION 8
#define OFFSETS_FREE_THREADED 16
#define LARGEST_OFFSET 4000 /* of any field that we need */

/* A word of the offsets; `*bad` is set when it can be no offset. */
static __u16 offset_read(const char *runtime, __u8 word, bool *bad)
{
	__u64 offset = python_word(runtime, word * sizeof(__u64));

	*bad |= offset > LARGEST_OFFSET;
	return (__u16)offset;
}

/* What is no field of struct python_layout because it has never been elsewhere. */
static bool is_common(const char *runtime, const struct offsets *o)
{
	bool bad = false;

	return offset_read(runtime, o->type, &bad) == PYTHON_OBJECT_TYPE &&
	       offset_read(runtime, o->bytes_size, &bad) == PYTHON_OBJECT_SIZE &&
	       offset_read(runtime, o->bytes_data, &bad) == PYTHON_BYTES_DATA &&
	       offset_read(runtime, o->text_state, &bad) == PYTHON_TEXT_STATE &&
	       offset_read(runtime, o->text_length, &bad) == PYTHON_OBJECT_SIZE &&
	       offset_read(runtime, o->text_ascii, &bad) == 40;
}

static int layout_read(struct python_layout *ret, const char *runtime, const struct offsets *o)
{
	bool bad = false;
	struct python_layout l = {
		.thread_frame = offset_read(runtime, o->thread_frame, &bad),
		.cframe_frame = PYTHON_NOWHERE,
		.frame_previous = offset_read(runtime, o->previous, &bad),
		.frame_code = offset_read(runtime, o->executable, &bad),
		.frame_instruction = offset_read(runtime, o->instruction, &bad),
		.frame_owner = offset_read(runtime, o->owner, &bad),
		.frame_is_entry = PYTHON_NOWHERE,
		.code_first_line = offset_read(runtime, o->first_line, &bad),
		.code_file = offset_read(runtime, o->file, &bad),
		.code_name = offset_read(runtime, o->qualname, &bad),
		.code_table = offset_read(runtime, o->table, &bad),
		.code_bytes = offset_read(runtime, o->bytes, &bad),
		.text_ascii = 40,
		.text_compact = 56,
		.native_owner = o->native_owner,
		.instruction = PYTHON_POINTER,
		.lines = PYTHON_LOCATIONS,
	};

	/* Not told, but beside what is: before the names of locals, and before co_extra. */
	l.code_version = (__u16)(offset_read(runtime, o->locals_names, &bad) - sizeof(__u32));
	l.code_traceable = (__u16)(l.code_bytes - 2 * sizeof(__u64));
	if (bad || !is_common(runtime, o) || l.code_bytes < 128)
		return -EINVAL;
	*ret = l;
	return 0;
}

int cuprobe_python_layout(struct python_layout *ret, int minor, const char *runtime)
{
	if (minor >= 9 && minor <= 12) {
		*ret = known[minor];
		return 0;
	}
	if (minor < 13 || minor > 14)
		return -ENOTSUP;
	if (memcmp(runtime, "xdebugpy", 8) ||
	    python_word(runtime, OFFSETS_VERSION) >> 16 != (__u64)(0x300 | minor))
		return -EINVAL;
	if (python_word(runtime, OFFSETS_FREE_THREADED))
		return -EPERM;
	return layout_read(ret, runtime, &told[minor]);
}
