/* SPDX-License-Identifier: Apache-2.0 */
/* Strings cross from a process once, as definitions; everything else carries their ids. */
#include "src/collector/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/demangle.h"

static int strings_begin(struct strings *s, const struct cuprobe_string *piece, struct string **ret)
{
	struct string *string;
	int err;

	if (s->bytes + piece->total_bytes + sizeof(*string) > STRINGS_LARGEST)
		return -ENOSPC;
	string = calloc(1, sizeof(*string) + piece->total_bytes + 1);
	if (!string)
		return -ENOMEM;
	err = map_insert(&s->by_id, piece->id, string);
	if (err) {
		free(string);
		return err;
	}
	string->total_bytes = piece->total_bytes;
	string->next = s->all;
	s->all = string;
	s->bytes += piece->total_bytes + sizeof(*string);
	*ret = string;
	return 0;
}

int strings_add(struct strings *s, const struct cuprobe_string *piece)
{
	struct string *string = map_find(&s->by_id, piece->id);

	if (!string) {
		int err = piece->offset ? 0 : strings_begin(s, piece, &string);

		if (err || !string)
			return err;
	}
	if (string->total_bytes != piece->total_bytes || string->have_bytes != piece->offset)
		return 0;
	memcpy(string->text + piece->offset, piece->text, piece->bytes);
	string->have_bytes += piece->bytes;
	return 0;
}

struct string *strings_find(const struct strings *s, __u32 id)
{
	struct string *string = map_find(&s->by_id, id);

	return string && string->have_bytes == string->total_bytes ? string : NULL;
}

const char *strings_readable(struct strings *s, struct string *string)
{
	if (string->readable)
		return string->readable;
	if (s->bytes < STRINGS_LARGEST)
		string->readable = demangle(string->text);
	if (string->readable)
		s->bytes += strlen(string->readable);
	else
		string->readable = string->text;
	return string->readable;
}

void strings_forget(struct strings *s)
{
	map_clear(&s->by_id, NULL);
}

void strings_free(struct strings *s)
{
	struct string *next;

	for (struct string *string = s->all; string; string = next) {
		next = string->next;
		if (string->readable != string->text)
			free(string->readable);
		free(string);
	}
	map_clear(&s->by_id, NULL);
	*s = (struct strings){0};
}
