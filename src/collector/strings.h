/* SPDX-License-Identifier: Apache-2.0 */
/* The strings of one process, put together from pieces. */
#ifndef CUPROBE_COLLECTOR_STRINGS_H
#define CUPROBE_COLLECTOR_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "cuprobe/abi.h"
#include "src/collector/map.h"

#define STRING_LONGEST (1u << 20)
/* Of one process, all together: what a hostile one can make us hold. */
#define STRINGS_LARGEST ((size_t)256 << 20)

struct string {
	struct string *next; /* the one defined before */
	__u32 total_bytes;
	__u32 have_bytes;
	char *readable; /* demangled; may be `text` */
	char text[];	/* zero terminated */
};

/* Zeroed is empty. */
struct strings {
	struct map by_id;
	struct string *all;
	size_t bytes;
};

/*
 * Adds a piece, which the decoder has checked. A string that is complete stays as it is; a piece
 * that does not continue what is there waits for the replay.
 * 0, -ENOSPC beyond STRINGS_LARGEST, or -ENOMEM.
 */
int strings_add(struct strings *s, const struct cuprobe_string *piece);
/* NULL until wholly defined. */
struct string *strings_find(const struct strings *s, __u32 id);
/* The demangled text; the text itself where there is nothing to demangle, or no room for it. */
const char *strings_readable(struct strings *s, struct string *string);
/* Ids stand for nothing any more; texts handed out stay valid until strings_free. */
void strings_forget(struct strings *s);
void strings_free(struct strings *s);

#endif
