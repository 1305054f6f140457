/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
	__u64 start, bytes;
	const char *name;
};

struct perf_map {
	char *text;
	struct entry *entries; /* as in the file: the newest last */
	size_t count, room;
};

/* "7f0000001000 40 name with spaces", in hexadecimal. */
static int perf_map_line(struct perf_map *m, char *line)
{
	struct entry entry, *larger;
	char *at;

	entry.start = strtoull(line, &at, 16);
	entry.bytes = strtoull(at, &at, 16);
	entry.name = at + strspn(at, " ");
	if (!entry.bytes || !*entry.name)
		return 0;
	if (m->count == m->room) {
		m->room = m->room ? 2 * m->room : 1024;
		larger = realloc(m->entries, m->room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		m->entries = larger;
	}
	m->entries[m->count++] = entry;
	return 0;
}

static int perf_map_load(struct perf_map *m, int fd)
{
	struct stat st;
	size_t have = 0;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0 || (size_t)st.st_size > PERF_MAP_LARGEST)
		return -EFBIG;
	m->text = malloc((size_t)st.st_size + 1);
	if (!m->text)
		return -ENOMEM;
	while (have < (size_t)st.st_size &&
	       (n = pread(fd, m->text + have, (size_t)st.st_size - have, (off_t)have)) > 0)
		have += (size_t)n;
	m->text[have] = '\0';
	return 0;
}

int perf_map_read(struct perf_map **ret, int fd)
{
	struct perf_map *m = calloc(1, sizeof(*m));
	char *rest = NULL;
	int err;

	if (!m)
		return -ENOMEM;
	err = perf_map_load(m, fd);
	for (char *line = err ? NULL : strtok_r(m->text, "\n", &rest); line && !err;
	     line = strtok_r(NULL, "\n", &rest))
		err = perf_map_line(m, line);
	if (err) {
		perf_map_free(m);
		return err;
	}
	*ret = m;
	return 0;
}

const char *perf_map_find(const struct perf_map *m, __u64 address)
{
	for (size_t i = m->count; i > 0; i--) {
		const struct entry *e = &m->entries[i - 1];

		if (address - e->start < e->bytes)
			return e->name;
	}
	return NULL;
}

void perf_map_free(struct perf_map *m)
{
	if (!m)
		return;
	free(m->entries);
	free(m->text);
	free(m);
}
