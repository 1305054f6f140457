/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_check.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#define THREADS 64     /* looked at, at most */
#define FRAMES 100000  /* longest chain */
#define HEAD_BYTES 256 /* of an object: what the layout refers to */

/* 0 or -errno: -EFAULT when that is no memory. Ours is found by a thread that lives, which is this
 * one. */
static int memory_read(void *to, const char *from, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
	ssize_t got = process_vm_readv(gettid(), &local, 1, &remote, 1, 0);

	if (got < 0)
		return -errno;
	return (size_t)got == bytes ? 0 : -EFAULT;
}

static int pointer_read(const char **ret, const char *from)
{
	return memory_read(ret, from, sizeof(*ret));
}

/* An object of the type, with a plausible size. */
static int object_check(const char *object, const char *type)
{
	char head[PYTHON_OBJECT_SIZE + 8];
	int err = memory_read(head, object, sizeof(head));

	if (err)
		return err;
	if (python_pointer(head, PYTHON_OBJECT_TYPE) != type ||
	    python_word(head, PYTHON_OBJECT_SIZE) > 1u << 30)
		return -EINVAL;
	return 0;
}

static int code_check(const struct python_interpreter *p, const struct python_layout *l,
		      const char *frame, const char *code)
{
	char copy[HEAD_BYTES];
	__s64 place;
	int err = memory_read(copy, code, sizeof(copy));

	if (err)
		return err;
	if (python_pointer(copy, PYTHON_OBJECT_TYPE) != p->code_type ||
	    !python_place(l, frame, code, copy, &place) || python_int(copy, l->code_first_line) < 0)
		return -EINVAL;
	err = object_check(python_pointer(copy, l->code_file), p->text_type);
	if (!err)
		err = object_check(python_pointer(copy, l->code_name), p->text_type);
	if (!err)
		err = object_check(python_pointer(copy, l->code_table), p->bytes_type);
	return err;
}

/* From the innermost frame to the last. */
static int frames_check(const struct python_interpreter *p, const struct python_layout *l,
			const char *frame)
{
	char copy[HEAD_BYTES / 2];
	int err;

	for (__u32 i = 0; frame; i++) {
		err = memory_read(copy, frame, sizeof(copy));
		if (!err && !python_is_native(l, copy))
			err = code_check(p, l, copy, python_frame_code(l, copy));
		if (!err && i == FRAMES)
			err = -EINVAL;
		if (err)
			return err;
		frame = python_pointer(copy, l->frame_previous);
	}
	return 0;
}

static int thread_check(const struct python_interpreter *p, const struct python_layout *l,
			const char *thread)
{
	const char *frame;
	int err = pointer_read(&frame, thread + l->thread_frame);

	if (!err && l->cframe_frame != PYTHON_NOWHERE)
		err = pointer_read(&frame, frame + l->cframe_frame);
	if (err)
		return err;
	return frame ? frames_check(p, l, frame) : -EAGAIN;
}

int cuprobe_python_check(const struct python_interpreter *p, const struct python_layout *l)
{
	const char *thread = p->thread(), *interpreter;
	int result = -EAGAIN, err;

	if (thread)
		return thread_check(p, l, thread);
	/* Asked for in this order: it is freed long after it has begun to end. */
	interpreter = p->main_interpreter();
	if (!interpreter || p->is_finalizing())
		return -EAGAIN;
	thread = p->threads(interpreter);
	for (__u32 i = 0; thread && i < THREADS; i++) {
		err = thread_check(p, l, thread);
		if (!err)
			return 0;
		if (err != -EAGAIN)
			result = err;
		if (pointer_read(&thread, thread + PYTHON_THREAD_NEXT))
			break;
	}
	return result;
}
