/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangling through libiberty. Names come from other processes: the recursion limit stays on, and
 * a short name that stands for gigabytes is given up while it is being printed.
 */
#include "src/collector/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define DEMANGLE_LONGEST_RESULT (256u << 10)

struct text {
	char *text;
	size_t bytes, room;
	jmp_buf give_up; /* the printer cannot be told to stop; it holds no memory of the heap */
};

static void text_append(const char *piece, size_t bytes, void *arg)
{
	struct text *t = arg;

	if (bytes > DEMANGLE_LONGEST_RESULT - t->bytes)
		longjmp(t->give_up, 1);
	if (t->bytes + bytes + 1 > t->room) {
		size_t room = 2 * (t->bytes + bytes + 1);
		char *larger = realloc(t->text, room);

		if (!larger)
			longjmp(t->give_up, 1);
		t->text = larger;
		t->room = room;
	}
	memcpy(t->text + t->bytes, piece, bytes);
	t->bytes += bytes;
	t->text[t->bytes] = '\0';
}

/* DMGL_PARAMS alone gives what __cxa_demangle gives, and with it Kineto. */
static void text_demangle(struct text *t, const char *name)
{
	/* Rust first: its older names are C++ names with a hash at the end. */
	if (rust_demangle_callback(name, DMGL_PARAMS, text_append, t))
		return;
	t->bytes = 0;
	if (!cplus_demangle_v3_callback(name, DMGL_PARAMS, text_append, t))
		longjmp(t->give_up, 1);
}

char *demangle(const char *name)
{
	struct text *t;
	char *text = NULL;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, DEMANGLE_LONGEST + 1) > DEMANGLE_LONGEST)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	if (!setjmp(t->give_up)) {
		text_demangle(t, name);
		text = t->text;
	} else {
		free(t->text);
	}
	free(t);
	return text;
}
