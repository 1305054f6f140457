/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph: one file that needs no other, an SVG image or an HTML page. */
#ifndef CUPROBE_COLLECTOR_OUTPUT_FLAME_H
#define CUPROBE_COLLECTOR_OUTPUT_FLAME_H

#include <stdbool.h>

struct tree;

struct flame_opts {
	const char *path;  /* "-": the standard output */
	const char *title; /* in one line each */
	const char *subtitle;
	const char *gone; /* what only the other recording has, in a line; "": nothing */
	bool html;	  /* else SVG */
	bool diff;	  /* colours tell how much more or less than in the other recording it is */
};

/* 0 or a negative errno. */
int flame_write(const struct tree *tree, const struct flame_opts *opts);

#endif
