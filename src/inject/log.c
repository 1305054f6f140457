/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/inject/env.h"

static int log_fd = -1;

void cuprobe_log_init(void)
{
	if (!cuprobe_env.log)
		return;
	if (!strcmp(cuprobe_env.log, "stderr"))
		log_fd = STDERR_FILENO;
	else
		log_fd = open(cuprobe_env.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
			      0600);
}

void cuprobe_log(enum cuprobe_severity severity, const char *format, ...)
{
	static const char *const names[] = {"", "error", "warning", "note", "debug"};
	struct timespec now;
	char line[512];
	va_list args;
	int used;

	if (log_fd < 0 || (unsigned int)severity > cuprobe_env.log_level)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	used = snprintf(line, sizeof(line), "cuprobe[%d] %lld.%06ld %s: ", (int)getpid(),
			(long long)now.tv_sec, now.tv_nsec / 1000, names[severity]);
	va_start(args, format);
	used += vsnprintf(line + used, sizeof(line) - (size_t)used, format, args);
	va_end(args);
	if ((size_t)used > sizeof(line) - 1)
		used = sizeof(line) - 1;
	line[used++] = '\n';
	if (write(log_fd, line, (size_t)used) < 0)
		log_fd = -1;
}
