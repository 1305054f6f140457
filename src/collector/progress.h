/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the terminal that is rewritten while work goes on; nothing where there is no tty. */
#ifndef CUPROBE_COLLECTOR_PROGRESS_H
#define CUPROBE_COLLECTOR_PROGRESS_H

#include <stdbool.h>

#include <linux/types.h>

struct progress {
	bool shown; /* stderr is a terminal, and not --quiet */
	__u64 last_ns;
};

void progress_init(struct progress *p, bool quiet);
/* True once in `interval_ms`, when it is time to call progress_line. */
bool progress_due(struct progress *p, unsigned int interval_ms);
void progress_line(const struct progress *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Takes the line away. */
void progress_done(struct progress *p);

__u64 monotonic_ns(void);
/* Columns of the terminal that `fd` is; 0 when it is none. */
unsigned int terminal_width(int fd);

#endif
