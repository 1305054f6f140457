/* SPDX-License-Identifier: Apache-2.0 */
/* Each cubin is disassembled once, when one of its instructions is asked for. */
#include "src/collector/sass.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/cubin.h"
#include "src/collector/cubins.h"
#include "src/collector/map.h"

struct instruction {
	struct instruction *next; /* of the same function, the later ones first */
	__u64 pc;
	char text[];
};

struct function {
	struct function *next;
	struct instruction *instructions;
	char name[];
};

struct listing {
	struct listing *next;
	struct function *functions;
};

struct sass {
	const struct cubins *cubins;
	struct map by_crc;
	struct listing *listings;
};

int sass_open(struct sass **ret, const struct cubins *cubins)
{
	struct sass *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cubins = cubins;
	*ret = s;
	return 0;
}

static void function_free(struct function *f)
{
	struct instruction *next;

	for (struct instruction *i = f->instructions; i; i = next) {
		next = i->next;
		free(i);
	}
	free(f);
}

void sass_free(struct sass *s)
{
	struct listing *next_listing;
	struct function *next;

	if (!s)
		return;
	for (struct listing *l = s->listings; l; l = next_listing) {
		next_listing = l->next;
		for (struct function *f = l->functions; f; f = next) {
			next = f->next;
			function_free(f);
		}
		free(l);
	}
	map_clear(&s->by_crc, NULL);
	free(s);
}

static bool function_begin(struct listing *l, const char *line)
{
	static const char mark[] = ".section\t.text.";
	const char *name = strstr(line, mark);
	size_t bytes = name ? strcspn(name + sizeof(mark) - 1, ",\"") : 0;
	struct function *f = bytes ? calloc(1, sizeof(*f) + bytes + 1) : NULL;

	if (!f)
		return false;
	memcpy(f->name, name + sizeof(mark) - 1, bytes);
	f->next = l->functions;
	l->functions = f;
	return true;
}

/* A line of "\t/" "*0080*" "/  @!P0 LDG.E R2, [R4] ;". */
static void instruction_read(struct listing *l, const char *line)
{
	unsigned long long pc;
	struct instruction *i;
	size_t bytes;
	int at = 0;

	if (!l->functions || sscanf(line, " /*%llx*/ %n", &pc, &at) != 1 || !at)
		return;
	bytes = strcspn(line + at, ";\n");
	while (bytes && line[at + (int)bytes - 1] == ' ')
		bytes--;
	i = bytes ? calloc(1, sizeof(*i) + bytes + 1) : NULL;
	if (!i)
		return;
	i->pc = pc;
	memcpy(i->text, line + at, bytes);
	i->next = l->functions->instructions;
	l->functions->instructions = i;
}

/* nvdisasm is asked for by name alone: which one there is, is the caller's PATH. */
static void listing_read(struct listing *l, const char *path)
{
	char command[128], *line = NULL;
	size_t room = 0;
	FILE *out;

	snprintf(command, sizeof(command),
		 "PATH=\"$PATH:/usr/local/cuda/bin\" nvdisasm -c '%s' 2>/dev/null", path);
	out = popen(command, "re");
	if (!out)
		return;
	while (getline(&line, &room, out) > 0) {
		if (!function_begin(l, line))
			instruction_read(l, line);
	}
	free(line);
	pclose(out);
}

static void listing_make(struct listing *l, const struct cubin *cubin)
{
	char path[] = "/tmp/cuprobe-cubin-XXXXXX";
	size_t bytes;
	const void *image = cubin_image(cubin, &bytes);
	int fd = mkstemp(path);

	if (fd < 0)
		return;
	if (write(fd, image, bytes) == (ssize_t)bytes)
		listing_read(l, path);
	close(fd);
	unlink(path);
}

static struct listing *listing_get(struct sass *s, __u64 crc)
{
	const struct cubin *cubin = cubins_find(s->cubins, crc);
	struct listing *l = map_find(&s->by_crc, crc);

	if (l || !cubin)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l || map_insert(&s->by_crc, crc, l)) {
		free(l);
		return NULL;
	}
	l->next = s->listings;
	s->listings = l;
	listing_make(l, cubin);
	return l;
}

const char *sass_opcode(struct sass *s, __u64 crc, const char *function, __u64 pc)
{
	const struct listing *l = listing_get(s, crc);

	for (const struct function *f = l ? l->functions : NULL; f; f = f->next) {
		if (strcmp(f->name, function) != 0)
			continue;
		for (const struct instruction *i = f->instructions; i; i = i->next) {
			if (i->pc == pc)
				return i->text;
		}
	}
	return "";
}
