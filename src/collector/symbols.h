/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What addresses of one process mean, as its capture tells. The JSON of a SYMBOLS chunk:
 *
 *	{"pid":1, "start_ns":2, "image":0,
 *	 "modules":[{"start":1,"end":2,"offset":0,"path":"/...","build_id":"hex","jit":0},...],
 *	 "symbols":[{"pc":1,"module":0,
 *		     "lines":[{"function":"...","file":"/...","line":3},...]},...]}
 *
 * `pc` is as in stacks; `module` an index, missing where no module is known; `lines` has the
 * functions that were inlined there first, the one that is a function of its own last, and none
 * where no name is known. `image` is how many programs the process had executed before, with the
 * library: what is told of an earlier one is void.
 */
#ifndef CUPROBE_COLLECTOR_SYMBOLS_H
#define CUPROBE_COLLECTOR_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/collector/map.h"

struct model;
struct process;

/* Of one process, all together: what a damaged file can make us hold. */
#define SYMBOLS_LARGEST ((size_t)256 << 20)

/* An executable mapping of a file. */
struct symbol_module {
	struct symbol_module *next; /* the one that came before */
	__u64 start, end, offset;
	bool jit; /* code made at run time; path is the file that names it */
	char *path;
	char *build_id; /* hexadecimal; "" none */
};

struct symbol_line {
	char *function; /* as in the binary */
	char *readable; /* demangled; may be `function` */
	char *file;	/* "" not known */
	__u32 line;	/* 0 not known */
};

struct symbol {
	struct symbol *next;		    /* the one that came before */
	const struct symbol_module *module; /* NULL not known */
	__u32 count;
	struct symbol_line lines[];
};

/* Zeroed is empty. */
struct symbols {
	struct map by_pc;
	struct symbol *all;
	struct symbol_module *modules;
	size_t bytes;
};

/* NULL when nothing is known. */
const struct symbol *symbols_find(const struct symbols *s, __u64 pc);
/* Adds what a JSON object as above tells. 0, -ENOSPC beyond SYMBOLS_LARGEST, or -ENOMEM. */
int symbols_add(struct symbols *s, const char *json, size_t bytes);
/* Addresses stand for nothing any more; symbols handed out stay valid until symbols_free. */
void symbols_forget(struct symbols *s);
void symbols_free(struct symbols *s);

/* Whose text it is; 0 when it is none. Adds it to the process. 0 or -ENOMEM. */
__u32 symbols_pid(const char *json, size_t bytes);
int symbols_apply(struct model *m, const char *json, size_t bytes);

#endif
