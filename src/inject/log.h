/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own log: off unless CUPROBE_LOG names a file, and never through stdio. */
#ifndef CUPROBE_INJECT_LOG_H
#define CUPROBE_INJECT_LOG_H

enum cuprobe_severity {
	CUPROBE_ERROR = 1, /* the numbers are those of struct cuprobe_status_message */
	CUPROBE_WARNING = 2,
	CUPROBE_NOTE = 3,
	CUPROBE_DEBUG = 4, /* goes to the log only */
};

/* Opens the log that cuprobe_env asks for; without effect when it cannot be opened. */
void cuprobe_log_init(void);

/*
 * One line, cut after some 500 bytes; none where it would have to wait, or bring a signal. Called
 * by helper threads, and where the process begins and ends.
 */
void cuprobe_log(enum cuprobe_severity severity, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
