/* SPDX-License-Identifier: Apache-2.0 */
/* What in names from other processes is UTF-8, and what is not. */
#ifndef CUPROBE_COLLECTOR_UTF8_H
#define CUPROBE_COLLECTOR_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at `text`; 0 when it is none (overlong, surrogate, cut). */
size_t utf8_bytes(const char *text, size_t left);

/* A copy in which each byte that is not part of UTF-8 is U+FFFD; to be freed, NULL without memory.
 */
char *utf8_copy(const char *text);

#endif
