/* SPDX-License-Identifier: Apache-2.0 */
/* The little JSON that captures and tables need: writing text, and reading objects field by field.
 */
#ifndef CUPROBE_COLLECTOR_JSON_H
#define CUPROBE_COLLECTOR_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <linux/types.h>

/*
 * Writes a quoted string. What is not UTF-8 becomes U+FFFD, so that every reader takes it;
 * control characters are escaped.
 */
void json_write_string(FILE *out, const char *text, size_t bytes);

/* A value inside a text that its holder keeps; zeroed is none. */
struct json {
	const char *at, *end;
};

/* The whole of a text; checks nothing yet. */
struct json json_open(const char *text, size_t bytes);
/* The value of a member of an object; none when there is no such member, or no sound object. */
struct json json_member(struct json object, const char *name);
/* Takes the next element of an array from `rest`, which begins as the array; false at its end. */
bool json_next(struct json *rest, struct json *ret_element);
/* 0 when it is not an unsigned number. */
__u64 json_number(struct json value);
/* Unescapes into `buffer`, always terminated, cut when it is too long; "" when no string. */
void json_string(struct json value, char *buffer, size_t size);

#endif
