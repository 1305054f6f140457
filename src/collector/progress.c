/* SPDX-License-Identifier: Apache-2.0 */
/* Progress goes to stderr, so that the standard output can be piped. */
#include "src/collector/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

__u64 monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ull + (__u64)t.tv_nsec;
}

unsigned int terminal_width(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

void progress_init(struct progress *p, bool quiet)
{
	p->shown = !quiet && isatty(STDERR_FILENO);
	p->last_ns = monotonic_ns();
}

bool progress_due(struct progress *p, unsigned int interval_ms)
{
	__u64 now_ns;

	if (!p->shown)
		return false;
	now_ns = monotonic_ns();
	if (now_ns - p->last_ns < interval_ms * 1000000ull)
		return false;
	p->last_ns = now_ns;
	return true;
}

void progress_line(const struct progress *p, const char *format, ...)
{
	va_list args;

	if (!p->shown)
		return;
	va_start(args, format);
	fputs("\r\033[K", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fflush(stderr);
}

void progress_done(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
