/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/log.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/inject/env.h"

static int log_fd = -1;
static dev_t log_device; /* what log_fd was opened as; of stderr it is the program's affair */
static ino_t log_inode;

void cuprobe_log_init(void)
{
	struct stat st;

	if (!cuprobe_env.log)
		return;
	if (!strcmp(cuprobe_env.log, "stderr")) {
		log_fd = STDERR_FILENO;
		return;
	}
	log_fd = open(cuprobe_env.log,
		      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (log_fd < 0 || fstat(log_fd, &st))
		return;
	log_device = st.st_dev;
	log_inode = st.st_ino;
}

/* The program may have closed the descriptor, and opened something of its own under that number. */
static bool log_is_ours(const struct stat *st)
{
	return log_fd == STDERR_FILENO || (st->st_dev == log_device && st->st_ino == log_inode);
}

/*
 * Whether a line can be written without waiting for whoever reads the other end, and without a
 * signal: SIGPIPE when nobody does, SIGXFSZ at the limit of file sizes.
 */
static bool log_has_room(size_t bytes)
{
	struct pollfd ready = {.fd = log_fd, .events = POLLOUT};
	struct rlimit limit;
	struct stat st;

	if (fstat(log_fd, &st) || !log_is_ours(&st)) {
		log_fd = -1;
		return false;
	}
	if (S_ISREG(st.st_mode))
		return !getrlimit(RLIMIT_FSIZE, &limit) &&
		       (rlim_t)st.st_size + bytes <= limit.rlim_cur;
	return poll(&ready, 1, 0) == 1 && ready.revents == POLLOUT;
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
	if (log_has_room((size_t)used) && write(log_fd, line, (size_t)used) < 0)
		log_fd = -1;
}
