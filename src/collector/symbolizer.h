/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives names to the addresses in stacks while a recording runs. Which file an address lies in is
 * found out when its stack arrives, since the process may be gone a moment later; the names, which
 * take long, on a thread of its own: when a process has ended, and at the end.
 */
#ifndef CUPROBE_COLLECTOR_SYMBOLIZER_H
#define CUPROBE_COLLECTOR_SYMBOLIZER_H

#include <stddef.h>

struct model;
struct symbolizer;

/* Takes a text as in symbols.h; an error ends the work. */
struct symbolizer_handler {
	int (*symbols)(void *arg, const char *json, size_t bytes);
	void *arg;
};

/* The model outlives it. 0 or a negative errno, as all of them. */
int symbolizer_open(struct symbolizer **ret, struct model *model,
		    const struct symbolizer_handler *handler);
/* What procinfo_read said of a process, in case that it is gone before its stacks are looked at. */
int symbolizer_process(struct symbolizer *s, const char *json, size_t bytes);
/* Some times a second, and when a process begins: looks at new stacks, tells what is ready. */
int symbolizer_look(struct symbolizer *s);
/* Waits for all that there is, and tells it. */
int symbolizer_finish(struct symbolizer *s);
void symbolizer_free(struct symbolizer *s);

#endif
