/* SPDX-License-Identifier: Apache-2.0 */
/* Where tables go: the standard output, or a file that is there only once it is whole. */
#ifndef CUPROBE_COLLECTOR_DESTINATION_H
#define CUPROBE_COLLECTOR_DESTINATION_H

#include <stdbool.h>
#include <stdio.h>

struct output;

struct destination {
	FILE *file;
	struct output *out; /* NULL: the standard output */
};

/* `path` is as in output_open, or NULL for the standard output. 0 or a negative errno. */
int destination_open(struct destination *d, const char *path);
/* With `commit` gives the file its name, else removes it. 0 or the first write error. */
int destination_close(struct destination *d, bool commit);

#endif
