/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one final error of a command. Whoever knows best what failed says it here; main.c prints it
 * once, as `cuprobe: what failed: 'name': reason`, when the verb returns.
 */
#ifndef CUPROBE_COLLECTOR_ERROR_H
#define CUPROBE_COLLECTOR_ERROR_H

/* Keeps the line, unless there is one already: the first cause is the true one. Returns 1. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a wrong use of the command. Returns 2. */
int fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* NULL when nothing failed. */
const char *error_text(void);
void error_clear(void);

#endif
