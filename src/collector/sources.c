/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LARGEST (16l << 20)

struct sources_file {
	struct sources_file *next;
	char *path, *text; /* text: NULL when it cannot be read */
	char **lines;
	__u32 count;
};

void sources_free(struct sources *s)
{
	struct sources_file *next;

	for (struct sources_file *f = s->files; f; f = next) {
		next = f->next;
		free(f->lines);
		free(f->text);
		free(f->path);
		free(f);
	}
	s->files = NULL;
}

/* To be freed. Plain files only: a path in a capture may name anything. */
static char *file_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	struct stat st;
	ssize_t bytes;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_LARGEST)
		text = malloc((size_t)st.st_size + 1);
	bytes = text ? read(fd, text, (size_t)st.st_size) : -1;
	close(fd);
	if (bytes < 0) {
		free(text);
		return NULL;
	}
	text[bytes] = '\0';
	return text;
}

static void file_split(struct sources_file *f)
{
	__u32 room = 1;

	for (const char *c = f->text; *c; c++)
		room += *c == '\n';
	f->lines = calloc(room, sizeof(*f->lines));
	if (!f->lines)
		return;
	for (char *at = f->text; at && f->count < room;) {
		char *end = strchr(at, '\n');

		f->lines[f->count] = at;
		f->count += end || *at;
		if (end)
			*end = '\0';
		at = end ? end + 1 : NULL;
	}
}

static struct sources_file *file_get(struct sources *s, const char *path)
{
	const char *name = strrchr(path, '/');
	struct sources_file *f;

	for (f = s->files; f; f = f->next) {
		if (!strcmp(f->path, path))
			return f;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->path = strdup(path);
	if (!f->path) {
		free(f);
		return NULL;
	}
	f->text = file_read(path);
	if (!f->text && name)
		f->text = file_read(name + 1);
	if (f->text)
		file_split(f);
	f->next = s->files;
	s->files = f;
	return f;
}

const char *sources_line(struct sources *s, const char *file, __u32 line)
{
	struct sources_file *f = file_get(s, file);

	return f && line && line <= f->count ? f->lines[line - 1] : NULL;
}

__u32 sources_lines(struct sources *s, const char *file)
{
	struct sources_file *f = file_get(s, file);

	return f ? f->count : 0;
}
