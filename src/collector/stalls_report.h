/* SPDX-License-Identifier: Apache-2.0 */
/* What `report` shows of PC samples. */
#ifndef CUPROBE_COLLECTOR_STALLS_REPORT_H
#define CUPROBE_COLLECTOR_STALLS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

struct sass;
struct session_info;
struct sources;
struct stalls;
struct summary_opts;

/* All after stalls_finish; 0 or a negative errno. */

/* By kernel, and what could not be attributed. */
int stalls_print_kernels(const struct stalls *s, const struct summary_opts *opts);
/* By source line, the hottest first; instructions where no line is known. */
int stalls_print_lines(const struct stalls *s, struct sources *sources, struct sass *sass,
		       const struct summary_opts *opts);
/*
 * The text of the file whose name ends in `file`, with samples beside its lines. -ENOENT when no
 * sample is in such a file.
 */
int stalls_print_source(const struct stalls *s, struct sources *sources, const char *file,
			FILE *out);
/* All of that as one page. */
int stalls_print_html(const struct stalls *s, struct sources *sources, struct sass *sass,
		      const char *title, FILE *out);

#endif
