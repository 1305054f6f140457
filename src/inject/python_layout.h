/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields lie that lead from a thread of CPython to its frames, and from a frame to its
 * function, file and line. They are no part of Python's API: 3.9 to 3.12 are in a table, checked by
 * version; from 3.13 on the interpreter tells its offsets in _PyRuntime.
 */
#ifndef CUPROBE_INJECT_PYTHON_LAYOUT_H
#define CUPROBE_INJECT_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <linux/types.h>

#include "src/inject/python_lines.h"

#define PYTHON_NOWHERE 0xffff /* the version has no such field */

/* What 3.9 to 3.14 have in common on 64-bit machines. */
#define PYTHON_OBJECT_TYPE 8
#define PYTHON_OBJECT_SIZE 16 /* ob_size; the length of a str */
#define PYTHON_TEXT_HASH 24
#define PYTHON_TEXT_STATE 32
#define PYTHON_BYTES_DATA 32
#define PYTHON_THREAD_NEXT 8
#define PYTHON_OWNER_GENERATOR 1 /* in a frame: it is part of a generator */

/* Where the next instruction is noted in a frame, counted in bytes of the code. */
enum python_instruction {
	PYTHON_INDEX_BYTES,
	PYTHON_INDEX_UNITS, /* of two bytes */
	PYTHON_POINTER,
};

struct python_layout {
	__u16 thread_frame;   /* of PyThreadState: the innermost frame, or a C frame that has it */
	__u16 cframe_frame;   /* of that C frame */
	__u16 frame_previous; /* of PyFrameObject up to 3.10, of _PyInterpreterFrame from 3.11 on */
	__u16 frame_code;
	__u16 frame_instruction;
	__u16 frame_owner;
	__u16 frame_is_entry; /* 3.11 only */
	__u16 code_first_line, code_file, code_name, code_table;
	__u16 code_traceable;	       /* index of the first instruction that shows in tracebacks */
	__u16 code_version;	       /* a number of its own among an interpreter's code objects */
	__u16 code_bytes;	       /* the instructions */
	__u8 text_ascii, text_compact; /* sizes of the two kinds of head of a str */
	__u8 native_owner;	       /* from here on a frame is C's own; 0: there are none */
	__u8 instruction;	       /* enum python_instruction */
	__u8 lines;		       /* enum python_lines */
};

static inline const char *python_pointer(const char *object, __u16 offset)
{
	const char *value;

	memcpy(&value, object + offset, sizeof(value));
	return value;
}

static inline __s32 python_int(const char *object, __u16 offset)
{
	__s32 value;

	memcpy(&value, object + offset, sizeof(value));
	return value;
}

static inline __u64 python_word(const char *object, size_t offset)
{
	__u64 value;

	memcpy(&value, object + offset, sizeof(value));
	return value;
}

/* Can be followed, as far as the value itself tells. */
static inline bool python_pointer_is_sane(const char *pointer)
{
	__u64 value = (__u64)pointer;

	return value >= 4096 && value < 1ull << 47 && !(value & 7);
}

/*
 * The layout of CPython 3.`minor`; `runtime` is where its _PyRuntime lies. 0; -ENOTSUP for a
 * version that is not known; -EINVAL when the interpreter's own offsets are not there or make no
 * sense; -EPERM for a free-threading build.
 */
int cuprobe_python_layout(struct python_layout *ret, int minor, const char *runtime);

/*
 * The code of a frame and where in it the frame is, in bytes: negative before the first
 * instruction. `code` is where the code object lies and `code_copy` where it can be read, which is
 * the same except in a check of the layout. False when this is no place in the code.
 */
static inline bool python_place(const struct python_layout *l, const char *frame, const char *code,
				const char *code_copy, __s64 *ret_place)
{
	__s64 place;

	switch (l->instruction) {
	case PYTHON_POINTER:
		place = python_pointer(frame, l->frame_instruction) - (code + l->code_bytes);
		if (place >= 2 * (__s64)python_word(code_copy, PYTHON_OBJECT_SIZE))
			return false;
		break;
	case PYTHON_INDEX_UNITS:
		place = 2 * (__s64)python_int(frame, l->frame_instruction);
		break;
	default:
		place = python_int(frame, l->frame_instruction);
	}
	*ret_place = place;
	return place >= -4 && place < 1 << 30;
}

static inline const char *python_frame_code(const struct python_layout *l, const char *frame)
{
	/* From 3.14 on the lowest bits are a tag. */
	return (const char *)((__u64)python_pointer(frame, l->frame_code) & ~3ull);
}

/* A frame of C's own, between the Python frames of two evaluations. */
static inline bool python_is_native(const struct python_layout *l, const char *frame)
{
	return l->native_owner && (__u8)frame[l->frame_owner] >= l->native_owner;
}

/* The outermost frame of its evaluation loop, and nothing but a frame tells so. */
static inline bool python_is_entry(const struct python_layout *l, const char *frame)
{
	return l->frame_is_entry == PYTHON_NOWHERE ? !l->native_owner : frame[l->frame_is_entry];
}

#endif
