/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the final error line until main.c prints it. */
#include "src/collector/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/collector/verbs.h"

static char line[2048];

static void error_keep(const char *format, va_list args)
{
	if (!line[0])
		vsnprintf(line, sizeof(line), format, args);
}

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_keep(format, args);
	va_end(args);
	return STATUS_FAILED;
}

int fail_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_keep(format, args);
	va_end(args);
	return STATUS_USAGE;
}

const char *error_text(void)
{
	return line[0] ? line : NULL;
}

void error_clear(void)
{
	line[0] = '\0';
}
