/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "src/inject/notice.h"
#include "src/inject/python_check.h"
#include "src/inject/python_code.h"
#include "src/inject/python_layout.h"
#include "src/inject/python_texts.h"
#include "src/inject/strings.h"

#define REMEDY "use CPython 3.9 to 3.14 with a GIL; native frames are shown without"
#define CHECKS 100 /* that fail before the layout is taken for wrong: threads run meanwhile */
#define HIDDEN 64  /* frames that do not show, in one walk */

enum state { ABSENT, FOUND, READY, UNREADABLE };

/* READY is set with release when what follows is complete; pairs with acquire in walk(). */
static atomic_int state;
static struct python_interpreter interpreter;
static struct python_layout layout;
struct python_piece cuprobe_python_evaluation[PYTHON_PIECES];

/* The looking thread's. */
static __u64 objects_seen;
static __u32 checks;
static bool loss_told;

static void state_set(enum state to)
{
	atomic_store_explicit(&state, to, memory_order_release);
}

static void give_up(int err, const char *why)
{
	const char *version = interpreter.version();

	state_set(UNREADABLE);
	cuprobe_notice_message(CUPROBE_WARNING, err, REMEDY,
			       "the frames of Python %.*s are left out: %s",
			       (int)strcspn(version, " "), version, why);
}

static void layout_choose(void)
{
	const char *version = interpreter.version();
	int minor = 0, err;

	if (sscanf(version, "3.%d.", &minor) != 1)
		err = -ENOTSUP;
	else if (strstr(version, "free-threading"))
		err = -EPERM;
	else
		err = cuprobe_python_layout(&layout, minor, interpreter.runtime);
	if (err == -EPERM)
		give_up(0, "it is a free-threading build");
	else if (err == -ENOTSUP)
		give_up(0, "the version is not known");
	else if (err)
		give_up(err, "its own offsets make no sense");
	else
		state_set(FOUND);
}

static void interpreter_look(void)
{
	__u64 objects = cuprobe_python_objects();

	if (objects == objects_seen)
		return;
	objects_seen = objects;
	if (!cuprobe_python_find(&interpreter))
		return;
	memcpy(cuprobe_python_evaluation, interpreter.evaluation, sizeof(interpreter.evaluation));
	layout_choose();
}

static void layout_try(void)
{
	int err = cuprobe_python_check(&interpreter, &layout);

	if (!err)
		state_set(READY);
	else if (err == -EINVAL || err == -EFAULT)
		checks++;
	else if (err != -EAGAIN)
		give_up(err, "process_vm_readv is refused");
	if (checks == CHECKS)
		give_up(err, "its structures are not those of its version");
}

static void loss_look(void)
{
	__u64 lost = cuprobe_python_texts_lost();

	if (!lost || loss_told)
		return;
	loss_told = true;
	cuprobe_notice_message(CUPROBE_WARNING, 0, NULL,
			       "more than %u names of Python functions and files: further ones are "
			       "not told",
			       PYTHON_TEXTS);
}

void cuprobe_python_look(void)
{
	if (atomic_load_explicit(&state, memory_order_relaxed) == ABSENT)
		interpreter_look();
	if (atomic_load_explicit(&state, memory_order_relaxed) == FOUND)
		layout_try();
	loss_look();
}

static const char *frame_first(const char *thread)
{
	const char *frame = python_pointer(thread, layout.thread_frame);

	if (layout.cframe_frame == PYTHON_NOWHERE || !python_pointer_is_sane(frame))
		return frame;
	return python_pointer(frame, layout.cframe_frame);
}

/* A frame that is just being set up: tracebacks do not show it either. */
static bool is_hidden(const char *frame, bool early)
{
	return early && frame[layout.frame_owner] != PYTHON_OWNER_GENERATOR;
}

/* Where the next frame at that address will most often be at the same place, too. */
static struct cuprobe_python_place *place_of(struct cuprobe_python_memory *memory,
					     const char *frame)
{
	__u64 hash = (__u64)frame * 0x9e3779b97f4a7c15ull;

	return &memory->places[(hash >> 32) % CUPROBE_PYTHON_PLACES];
}

/* What a frame is known by; without a version (before 3.12) it is by nothing. */
static struct cuprobe_python_place seen(const char *frame)
{
	struct cuprobe_python_place now = {.frame = frame,
					   .code = python_frame_code(&layout, frame)};

	now.instruction = python_word(frame, layout.frame_instruction);
	return now;
}

/* `known->code` was a code object, and `now` refers to it: so it is one. */
static bool is_known(const struct cuprobe_python_place *known,
		     const struct cuprobe_python_place *now)
{
	return known->version && known->frame == now->frame && known->code == now->code &&
	       known->instruction == now->instruction &&
	       known->version == (__u32)python_int(known->code, layout.code_version);
}

/* 0, or -EINVAL when it is no frame. */
static int place_read(struct cuprobe_python_place *place)
{
	const char *code = place->code;
	struct python_source source;
	__s64 at;

	if (!python_pointer_is_sane(code) ||
	    python_pointer(code, PYTHON_OBJECT_TYPE) != interpreter.code_type ||
	    !python_place(&layout, place->frame, code, code, &at))
		return -EINVAL;
	cuprobe_python_source(&interpreter, &layout, code, at, &source);
	place->function = source.function;
	place->file = source.file;
	place->line = source.line;
	place->early = source.early;
	if (layout.code_version != PYTHON_NOWHERE)
		place->version = (__u32)python_int(code, layout.code_version);
	return 0;
}

/* 1 when the frame was written, 0 when it does not show, -EINVAL when it is none. */
static int frame_read(struct cuprobe_python_memory *memory, struct cuprobe_python_frame *ret,
		      const char *frame)
{
	struct cuprobe_python_place *known = place_of(memory, frame), now = seen(frame);
	const struct cuprobe_python_place *place = known;

	if (!is_known(known, &now)) {
		if (place_read(&now))
			return -EINVAL;
		if (now.version)
			*known = now;
		place = &now;
	}
	if (is_hidden(frame, place->early))
		return 0;
	ret->function = place->function;
	ret->file = place->file;
	ret->line = place->line;
	return 1;
}

static __u32 frames_walk(struct cuprobe_python_memory *memory, struct cuprobe_python_frame *ret,
			 __u32 most, const char *frame)
{
	__u32 count = 0, evaluation = 0;

	for (__u32 i = 0; count < most && i < 2 * most + HIDDEN; i++) {
		bool native;
		int shown;

		if (!python_pointer_is_sane(frame))
			break;
		native = python_is_native(&layout, frame);
		shown = native ? 0 : frame_read(memory, &ret[count], frame);
		if (shown < 0)
			break;
		if (shown)
			ret[count++].evaluation = evaluation;
		if (native || python_is_entry(&layout, frame))
			evaluation++;
		frame = python_pointer(frame, layout.frame_previous);
	}
	return count;
}

__u32 cuprobe_python_walk(struct cuprobe_python_memory *memory, struct cuprobe_python_frame *ret,
			  __u32 most)
{
	const char *thread;

	if (atomic_load_explicit(&state, memory_order_acquire) != READY)
		return 0;
	/* Its threads' states are freed while it ends, of daemon threads before these end. */
	if (interpreter.is_finalizing())
		return 0;
	thread = interpreter.thread();
	return thread ? frames_walk(memory, ret, most, frame_first(thread)) : 0;
}

__u32 cuprobe_python_string(__u32 text)
{
	return text ? cuprobe_strings_id(cuprobe_python_text_get(text)) : 0;
}
