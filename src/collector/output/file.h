/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that a sink writes: buffered, compressed when its name ends in ".gz", and seen under its
 * name only when it is whole. Until then it has no name at all where the file system can do that
 * (O_TMPFILE), so that not even SIGKILL leaves a part behind, and else a temporary one.
 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_FILE_H
#define CUPROBE_COLLECTOR_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#define OUTPUT_ROOM 32768 /* most that output_room can be asked for */

/* Fields up to `end` are for the inline functions below; the rest is file.c's. */
struct output {
	char *at, *end; /* free part of the buffer */
	int err;	/* the first write error; what is written after it goes nowhere */
	struct output_private *private;
};

/*
 * `path` "-" is stdout, written as it comes; what exists and is no regular file (a device, a pipe)
 * is written to directly too. `head_bytes`, at most OUTPUT_ROOM, are kept free in front, to be
 * written by output_head at the end, where the output can be gone back in; see output_has_head.
 */
int output_open(struct output **ret, const char *path, size_t head_bytes);
bool output_has_head(const struct output *o);
/* Called once, before the close; the rest of the head is filled with spaces and a newline. */
void output_head(struct output *o, const char *text, size_t bytes);
/* With `commit` gives the file its name, else it is gone; frees. 0 or the first error. */
int output_close(struct output *o, bool commit);

/* Writes out what is buffered; returns err. */
int output_flush(struct output *o);
/* Makes all of the buffer free; what was in it need not be written yet. */
void output_spill(struct output *o);

/* Room for `bytes` bytes; say with output_done where writing ended. */
static inline char *output_room(struct output *o, size_t bytes)
{
	if ((size_t)(o->end - o->at) < bytes)
		output_spill(o);
	return o->at;
}

static inline void output_done(struct output *o, char *at)
{
	o->at = at;
}

/* Any number of bytes. */
void output_put(struct output *o, const char *text, size_t bytes);
/*
 * Text of any length from `p` on, as `put` writes it: put_json or put_csv. Returns where to go on,
 * with OUTPUT_ROW bytes of room.
 */
#define OUTPUT_ROW 4096 /* for a row without its texts */
char *output_text(struct output *o, char *p, const char *text, size_t bytes,
		  char *(*put)(char *p, const char *text, size_t bytes));

#endif
