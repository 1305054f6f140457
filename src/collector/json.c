/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No tree is built: a value is a stretch of text, and is looked through when asked. Texts come from
 * capture files, so every step is bounded by the end of the text, and nesting by JSON_DEEPEST.
 */
#include "src/collector/json.h"

#include <stdlib.h>
#include <string.h>

#include "src/collector/utf8.h"

#define JSON_DEEPEST 16

static void json_write_char(FILE *out, unsigned char c)
{
	if (c == '"' || c == '\\')
		fprintf(out, "\\%c", c);
	else if (c == '\n')
		fputs("\\n", out);
	else if (c == '\t')
		fputs("\\t", out);
	else if (c < 0x20 || c == 0x7f)
		fprintf(out, "\\u%04x", c);
	else
		fputc(c, out);
}

void json_write_string(FILE *out, const char *text, size_t bytes)
{
	fputc('"', out);
	for (size_t i = 0, step; i < bytes; i += step) {
		step = utf8_bytes(text + i, bytes - i);
		if (step == 1)
			json_write_char(out, (unsigned char)text[i]);
		else if (step)
			fwrite(text + i, 1, step, out);
		else
			fputs("\\ufffd", out);
		step += !step;
	}
	fputc('"', out);
}

struct json json_open(const char *text, size_t bytes)
{
	return (struct json){text, text + bytes};
}

static void skip_space(struct json *j)
{
	while (j->at < j->end && strchr(" \t\r\n", *j->at) && *j->at)
		j->at++;
}

/* Takes `c` if it is next. */
static bool take(struct json *j, char c)
{
	skip_space(j);
	if (j->at == j->end || *j->at != c)
		return false;
	j->at++;
	return true;
}

/* Moves behind a string; `j` is at its quote. */
static bool skip_string(struct json *j)
{
	for (j->at++; j->at < j->end; j->at++) {
		if (*j->at == '\\')
			j->at++;
		else if (*j->at == '"')
			return j->at++, true;
	}
	j->at = j->end;
	return false;
}

/* Moves behind the next value; false, and at the end, when there is none. */
static bool skip_value(struct json *j)
{
	int depth = 0;

	skip_space(j);
	while (j->at < j->end) {
		if (*j->at == '"') {
			if (!skip_string(j))
				return false;
		} else if (*j->at == '{' || *j->at == '[') {
			j->at++;
			depth++;
		} else if (*j->at == '}' || *j->at == ']') {
			if (!depth)
				return true;
			j->at++;
			depth--;
		} else if (*j->at == ',' && !depth) {
			return true;
		} else {
			j->at++;
			continue; /* a number or word goes on, or a separator inside */
		}
		if (depth > JSON_DEEPEST)
			break;
		if (!depth)
			return true;
	}
	return depth == 0;
}

static bool take_value(struct json *rest, struct json *ret)
{
	skip_space(rest);
	ret->at = rest->at;
	if (!skip_value(rest) || rest->at == ret->at)
		return false;
	ret->end = rest->at;
	return true;
}

static bool string_is(struct json value, const char *text)
{
	size_t bytes = strlen(text);

	return (size_t)(value.end - value.at) == bytes + 2 && !memcmp(value.at + 1, text, bytes);
}

struct json json_member(struct json object, const char *name)
{
	struct json rest = object, key, value;

	if (!object.at || !take(&rest, '{'))
		return (struct json){0};
	do {
		skip_space(&rest);
		key.at = rest.at;
		if (rest.at == rest.end || *rest.at != '"' || !skip_string(&rest))
			break;
		key.end = rest.at;
		if (!take(&rest, ':') || !take_value(&rest, &value))
			break;
		if (string_is(key, name))
			return value;
	} while (take(&rest, ','));
	return (struct json){0};
}

bool json_next(struct json *rest, struct json *ret_element)
{
	if (!rest->at || (!take(rest, '[') && !take(rest, ',')))
		return false;
	return take_value(rest, ret_element);
}

__u64 json_number(struct json value)
{
	__u64 number = 0;

	for (; value.at && value.at < value.end && *value.at >= '0' && *value.at <= '9'; value.at++)
		number = number * 10 + (__u64)(*value.at - '0');
	return number;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *digit = c ? strchr(digits, c | ((c >= 'A' && c <= 'F') ? 0x20 : 0)) : NULL;

	return digit ? (int)(digit - digits) : -1;
}

/* The code of \uXXXX behind `value->at`, moved behind it; '?' when it is none. */
static unsigned int take_code(struct json *value)
{
	unsigned int code = 0;

	for (int i = 0; i < 4; i++) {
		int digit = value->at < value->end ? hex_digit(*value->at) : -1;

		if (digit < 0)
			return '?';
		code = code * 16 + (unsigned int)digit;
		value->at++;
	}
	return code;
}

static size_t utf8_write(char *out, unsigned int code)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3f));
	out[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

static size_t take_escape(struct json *value, char *out)
{
	char c = value->at < value->end ? *value->at++ : '?';

	switch (c) {
	case 'n':
		c = '\n';
		break;
	case 't':
		c = '\t';
		break;
	case 'r':
		c = '\r';
		break;
	case 'b':
		c = '\b';
		break;
	case 'f':
		c = '\f';
		break;
	case 'u':
		return utf8_write(out, take_code(value));
	}
	*out = c;
	return 1;
}

void json_string(struct json value, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	if (!value.at || value.end - value.at < 2 || *value.at != '"')
		return;
	value.at++;
	value.end--;
	while (value.at < value.end && used + 4 < size) {
		if (*value.at == '\\') {
			value.at++;
			used += take_escape(&value, buffer + used);
		} else {
			buffer[used++] = *value.at++;
		}
	}
	buffer[used] = '\0';
}
