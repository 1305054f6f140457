/* SPDX-License-Identifier: Apache-2.0 */
/* A table that is printed for people, with units and aligned, or as JSON, with plain numbers. */
#ifndef CUPROBE_COLLECTOR_TABLE_H
#define CUPROBE_COLLECTOR_TABLE_H

#include <stdio.h>

#include <linux/types.h>

enum table_kind {
	TABLE_TEXT,
	TABLE_COUNT,
	TABLE_BYTES,
	TABLE_DURATION, /* nanoseconds */
	TABLE_SHARE,	/* 0 ... 1 */
	TABLE_RATE,	/* bytes a second */
};

struct table_column {
	const char *heading; /* for people */
	const char *key;     /* in JSON; NULL: not there */
	enum table_kind kind;
};

struct table;

/* `columns` ends with a heading of NULL and is kept by the caller, like the title and key. */
struct table *table_new(const char *title, const char *key, const struct table_column *columns);
void table_free(struct table *t);
/*
 * Cells from left to right, row after row. A failure (no memory) is kept and told at the end.
 * Texts are copied.
 */
void table_text(struct table *t, const char *text);
void table_number(struct table *t, __u64 number);
void table_real(struct table *t, double number); /* TABLE_SHARE, TABLE_RATE, TABLE_DURATION */

/* `width`: of the terminal, to which long lines are cut; 0 for no limit. 0 or -ENOMEM. */
int table_print(const struct table *t, FILE *out, unsigned int width);
/* As a member of an object: "key":[{...},...] */
int table_print_json(const struct table *t, FILE *out);

/* As TABLE_SHARE wants it; of nothing it is 0. */
double share(__u64 part, __u64 all);
/* "1.234 ms", "12.5 MB", right for people; `buffer` has room for 32 bytes. */
const char *format_duration(char *buffer, double ns);
const char *format_bytes(char *buffer, double bytes);
/* Printable: control bytes and broken UTF-8 become '?', so that no name can drive a terminal. */
void print_clean(FILE *out, const char *text, size_t bytes);

#endif
