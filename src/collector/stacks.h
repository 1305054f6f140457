/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of one process, put together from pieces; each distinct frame is kept once. */
#ifndef CUPROBE_COLLECTOR_STACKS_H
#define CUPROBE_COLLECTOR_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "cuprobe/abi.h"
#include "src/collector/map.h"

#define STACK_LONGEST 4096 /* frames; the library gives half of that */
/* Of one process, all together: what a hostile one can make us hold. */
#define STACKS_LARGEST ((size_t)256 << 20)

struct strings;
struct symbol;
struct symbols;

struct frame {
	struct frame *next; /* the one that came before */
	struct cuprobe_frame raw;
	/* After stacks_settle, where they are known: */
	const struct symbol *symbol; /* native */
	const char *function, *file; /* Python */
};

/* Leaf first. Defined when `have` is `frames`, which is not 0 then. */
struct stack {
	struct stack *next; /* the one that came before */
	__u32 id;
	__u16 frames, have;
	struct frame **frame;
};

/* False for NULL. */
static inline bool stack_is_defined(const struct stack *s)
{
	return s && s->frames && s->have == s->frames;
}

/* Zeroed is empty. */
struct stacks {
	struct map by_id, by_hash;
	struct stack *all;
	struct frame *frames;	    /* of all images, the newest first */
	const struct frame *before; /* the newest of those of earlier images */
	size_t bytes;
};

/*
 * Adds a piece, which the decoder has checked. A stack that is complete stays as it is; a piece
 * that does not continue what is there waits for the replay. 0, -ENOSPC beyond STACKS_LARGEST, or
 * -ENOMEM.
 */
int stacks_add(struct stacks *s, const struct cuprobe_stack *piece);
/* The stack of an id, which may be defined later. 0, -ENOSPC or -ENOMEM. */
int stacks_get(struct stacks *s, __u32 id, struct stack **ret);
/* Gives the frames what their numbers stand for now. */
void stacks_settle(struct stacks *s, const struct strings *strings, const struct symbols *symbols);
/* Ids stand for nothing any more; stacks handed out stay valid until stacks_free. */
void stacks_forget(struct stacks *s);
void stacks_free(struct stacks *s);

#endif
