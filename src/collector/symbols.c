/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/demangle.h"
#include "src/collector/json.h"
#include "src/collector/model.h"
#include "src/collector/process.h"

#define TEXT_LONGEST 16384
#define LINES_MOST 128 /* functions inlined into each other */

const struct symbol *symbols_find(const struct symbols *s, __u64 pc)
{
	return map_find(&s->by_pc, pc);
}

static int symbols_reserve(struct symbols *s, size_t bytes)
{
	if (s->bytes + bytes > SYMBOLS_LARGEST)
		return -ENOSPC;
	s->bytes += bytes;
	return 0;
}

static char *text_read(struct symbols *s, struct json object, const char *name)
{
	char text[TEXT_LONGEST];

	json_string(json_member(object, name), text, sizeof(text));
	return symbols_reserve(s, strlen(text) + 1) ? NULL : strdup(text);
}

static void module_free(struct symbol_module *m)
{
	if (!m)
		return;
	free(m->path);
	free(m->build_id);
	free(m);
}

static int module_add(struct symbols *s, struct json object)
{
	struct symbol_module *m;
	int err = symbols_reserve(s, sizeof(*m));

	if (err)
		return err;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->start = json_number(json_member(object, "start"));
	m->end = json_number(json_member(object, "end"));
	m->offset = json_number(json_member(object, "offset"));
	m->jit = json_number(json_member(object, "jit"));
	m->path = text_read(s, object, "path");
	m->build_id = text_read(s, object, "build_id");
	if (!m->path || !m->build_id) {
		module_free(m);
		return -ENOMEM;
	}
	m->next = s->modules;
	s->modules = m;
	return 0;
}

static int line_read(struct symbols *s, struct json object, struct symbol_line *line)
{
	line->function = text_read(s, object, "function");
	line->file = text_read(s, object, "file");
	line->line = (__u32)json_number(json_member(object, "line"));
	if (!line->function || !line->file)
		return -ENOMEM;
	line->readable = demangle(line->function);
	if (!line->readable)
		line->readable = line->function;
	return symbols_reserve(s, strlen(line->readable));
}

static void symbol_free(struct symbol *symbol)
{
	for (__u32 i = 0; i < symbol->count; i++) {
		if (symbol->lines[i].readable != symbol->lines[i].function)
			free(symbol->lines[i].readable);
		free(symbol->lines[i].function);
		free(symbol->lines[i].file);
	}
	free(symbol);
}

static __u32 elements(struct json array)
{
	struct json element;
	__u32 count = 0;

	while (count < LINES_MOST && json_next(&array, &element))
		count++;
	return count;
}

/* The modules of one text, which its symbols name by number. */
struct numbered {
	const struct symbol_module **module;
	__u32 count;
};

static int numbered_make(struct numbered *ret, const struct symbols *s, __u32 count)
{
	const struct symbol_module *m = s->modules; /* the first last */

	ret->module = calloc(count + 1u, sizeof(*ret->module));
	if (!ret->module)
		return -ENOMEM;
	ret->count = count;
	for (; count; m = m->next)
		ret->module[--count] = m;
	return 0;
}

static const struct symbol_module *module_at(const struct numbered *modules, struct json index)
{
	__u64 i = index.at ? json_number(index) : modules->count;

	return i < modules->count ? modules->module[i] : NULL;
}

static int symbol_read(struct symbols *s, struct json object, const struct numbered *modules,
		       struct symbol **ret)
{
	struct json lines = json_member(object, "lines"), line;
	__u32 count = elements(lines);
	struct symbol *symbol;
	int err = symbols_reserve(s, sizeof(*symbol) + count * sizeof(symbol->lines[0]));

	if (err)
		return err;
	symbol = calloc(1, sizeof(*symbol) + count * sizeof(symbol->lines[0]));
	if (!symbol)
		return -ENOMEM;
	symbol->count = count;
	symbol->module = module_at(modules, json_member(object, "module"));
	for (__u32 i = 0; i < count && !err && json_next(&lines, &line); i++)
		err = line_read(s, line, &symbol->lines[i]);
	if (err) {
		symbol_free(symbol);
		return err;
	}
	*ret = symbol;
	return 0;
}

/* What was said of an address first holds. */
static int symbol_add(struct symbols *s, struct json object, const struct numbered *modules)
{
	__u64 pc = json_number(json_member(object, "pc"));
	struct symbol *symbol;
	int err;

	if (!pc || map_find(&s->by_pc, pc))
		return 0;
	err = symbol_read(s, object, modules, &symbol);
	if (err)
		return err;
	err = map_insert(&s->by_pc, pc, symbol);
	if (err) {
		symbol_free(symbol);
		return err;
	}
	symbol->next = s->all;
	s->all = symbol;
	return 0;
}

int symbols_add(struct symbols *s, const char *json, size_t bytes)
{
	struct json object = json_open(json, bytes), element;
	struct json modules = json_member(object, "modules");
	struct json symbols = json_member(object, "symbols");
	struct numbered numbered = {0};
	__u32 count = 0;
	int err = 0;

	for (; !err && json_next(&modules, &element); count++)
		err = module_add(s, element);
	if (!err)
		err = numbered_make(&numbered, s, count);
	while (!err && json_next(&symbols, &element))
		err = symbol_add(s, element, &numbered);
	free(numbered.module);
	return err;
}

void symbols_forget(struct symbols *s)
{
	map_clear(&s->by_pc, NULL);
}

void symbols_free(struct symbols *s)
{
	struct symbol_module *next_module;
	struct symbol *next;

	for (struct symbol *symbol = s->all; symbol; symbol = next) {
		next = symbol->next;
		symbol_free(symbol);
	}
	for (struct symbol_module *m = s->modules; m; m = next_module) {
		next_module = m->next;
		module_free(m);
	}
	map_clear(&s->by_pc, NULL);
	*s = (struct symbols){0};
}

__u32 symbols_pid(const char *json, size_t bytes)
{
	return (__u32)json_number(json_member(json_open(json, bytes), "pid"));
}

int symbols_apply(struct model *m, const char *json, size_t bytes)
{
	struct json object = json_open(json, bytes);
	__u32 pid = symbols_pid(json, bytes);
	struct process *p;
	int err;

	if (!pid)
		return 0;
	p = model_process(m, pid, json_number(json_member(object, "start_ns")));
	if (!p)
		return -ENOMEM;
	if (json_number(json_member(object, "image")) != p->image)
		return 0;
	err = symbols_add(&p->private->symbols, json, bytes);
	return err == -ENOSPC ? 0 : err;
}
