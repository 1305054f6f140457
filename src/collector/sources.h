/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files, where the files are still there. */
#ifndef CUPROBE_COLLECTOR_SOURCES_H
#define CUPROBE_COLLECTOR_SOURCES_H

#include <linux/types.h>

struct sources_file;

/* Zeroed is empty. */
struct sources {
	struct sources_file *files;
};

void sources_free(struct sources *s);
/*
 * The text of a line, from 1 on, without its end; NULL when there is no such file or line. Where
 * the file is not where it was when it was compiled, one of the same name here is taken.
 */
const char *sources_line(struct sources *s, const char *file, __u32 line);
/* How many lines the file has; 0 when it cannot be read. */
__u32 sources_lines(struct sources *s, const char *file);

#endif
