/* SPDX-License-Identifier: Apache-2.0 */
/* Cells are kept as they were given and become text only when they are printed. */
#include "src/collector/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/json.h"
#include "src/collector/utf8.h"

#define COLUMNS_MOST 16
#define CELL_BYTES 32
#define LAST_COLUMN_LEAST 24 /* characters of a long last column that stay on a narrow terminal */

struct cell {
	union {
		char *text;
		__u64 number;
		double real;
	};
	bool is_real;
};

struct table {
	const char *title, *key;
	const struct table_column *columns;
	size_t column_count;
	struct cell *cells;
	size_t count, room;
	int err;
};

struct table *table_new(const char *title, const char *key, const struct table_column *columns)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->title = title;
	t->key = key;
	t->columns = columns;
	while (columns[t->column_count].heading && t->column_count < COLUMNS_MOST)
		t->column_count++;
	return t;
}

static const struct table_column *column_of(const struct table *t, size_t cell)
{
	return &t->columns[cell % t->column_count];
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		if (column_of(t, i)->kind == TABLE_TEXT)
			free(t->cells[i].text);
	}
	free(t->cells);
	free(t);
}

static struct cell *table_cell(struct table *t)
{
	if (!t || t->err)
		return NULL;
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		struct cell *larger = realloc(t->cells, room * sizeof(*larger));

		if (!larger) {
			t->err = -ENOMEM;
			return NULL;
		}
		t->cells = larger;
		t->room = room;
	}
	t->cells[t->count] = (struct cell){0};
	return &t->cells[t->count++];
}

void table_text(struct table *t, const char *text)
{
	struct cell *c = table_cell(t);

	if (!c)
		return;
	c->text = strdup(text);
	if (!c->text)
		t->err = -ENOMEM;
}

void table_number(struct table *t, __u64 number)
{
	struct cell *c = table_cell(t);

	if (c)
		c->number = number;
}

void table_real(struct table *t, double number)
{
	struct cell *c = table_cell(t);

	if (!c)
		return;
	c->real = number;
	c->is_real = true;
}

static const char *format_scaled(char *buffer, double value, double step, const char *const *units)
{
	while (value >= step && units[1]) {
		value /= step;
		units++;
	}
	snprintf(buffer, CELL_BYTES,
		 value < 10    ? "%.3f %s"
		 : value < 100 ? "%.2f %s"
			       : "%.1f %s",
		 value, *units);
	return buffer;
}

double share(__u64 part, __u64 all)
{
	return all ? (double)part / (double)all : 0;
}

const char *format_duration(char *buffer, double ns)
{
	static const char *const units[] = {"us", "ms", "s", NULL};

	if (ns < 1000) {
		snprintf(buffer, CELL_BYTES, "%.0f ns", ns);
		return buffer;
	}
	return format_scaled(buffer, ns / 1000, 1000, units);
}

const char *format_bytes(char *buffer, double bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", NULL};

	if (bytes < 1000) {
		snprintf(buffer, CELL_BYTES, "%.0f B", bytes);
		return buffer;
	}
	return format_scaled(buffer, bytes / 1000, 1000, units);
}

/* A cell as people read it; a text cell is its own. */
static const char *cell_format(const struct cell *c, enum table_kind kind, char *buffer)
{
	double value = c->is_real ? c->real : (double)c->number;

	switch (kind) {
	case TABLE_TEXT:
		return c->text;
	case TABLE_COUNT:
		snprintf(buffer, CELL_BYTES, "%llu", c->number);
		return buffer;
	case TABLE_BYTES:
		return format_bytes(buffer, value);
	case TABLE_DURATION:
		return format_duration(buffer, value);
	case TABLE_SHARE:
		snprintf(buffer, CELL_BYTES, "%.1f %%", 100 * value);
		return buffer;
	case TABLE_RATE:
		if (value <= 0)
			return "-";
		format_bytes(buffer, value);
		strcat(buffer, "/s");
		return buffer;
	}
	return "";
}

void print_clean(FILE *out, const char *text, size_t bytes)
{
	for (size_t i = 0, step; i < bytes; i += step) {
		unsigned char c = (unsigned char)text[i];

		step = utf8_bytes(text + i, bytes - i);
		/* U+0080 ... U+009F are control characters too. */
		if (!step || c < 0x20 || c == 0x7f ||
		    (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0)) {
			fputc('?', out);
			step += !step;
		} else {
			fwrite(text + i, 1, step, out);
		}
	}
}

static void table_widths(const struct table *t, size_t *widths)
{
	char buffer[CELL_BYTES];

	for (size_t i = 0; i < t->column_count; i++)
		widths[i] = strlen(t->columns[i].heading);
	for (size_t i = 0; i < t->count; i++) {
		size_t *width = &widths[i % t->column_count];
		size_t bytes = strlen(cell_format(&t->cells[i], column_of(t, i)->kind, buffer));

		if (bytes > *width)
			*width = bytes;
	}
}

/* Numbers to the right, texts to the left, nothing behind the last text. */
static void print_cell(FILE *out, const char *text, size_t width, bool right, bool last)
{
	size_t bytes = strlen(text), cut = bytes > width ? width - 3 : bytes;
	int gap = bytes < width ? (int)(width - bytes) : 0;

	fprintf(out, "%*s", right ? gap : 0, "");
	print_clean(out, text, cut);
	fprintf(out, "%s%*s", cut < bytes ? "..." : "", right || last ? 0 : gap, "");
	fputs(last ? "\n" : "  ", out);
}

/* Leaves the last column what the others do not need. */
static void fit_last_column(const struct table *t, size_t *widths, unsigned int width)
{
	size_t last = t->column_count - 1, others = 0;

	for (size_t i = 0; i < last; i++)
		others += widths[i] + 2;
	if (!width || others + widths[last] <= width)
		return;
	widths[last] = width > others + LAST_COLUMN_LEAST ? width - others : LAST_COLUMN_LEAST;
}

int table_print(const struct table *t, FILE *out, unsigned int width)
{
	size_t widths[COLUMNS_MOST], last = t->column_count - 1;
	char buffer[CELL_BYTES];

	if (t->err)
		return t->err;
	table_widths(t, widths);
	fit_last_column(t, widths, width);
	fprintf(out, "%s\n", t->title);
	for (size_t i = 0; i < t->column_count; i++)
		print_cell(out, t->columns[i].heading, widths[i], t->columns[i].kind != TABLE_TEXT,
			   i == last);
	for (size_t i = 0; i < t->count; i++) {
		const struct table_column *column = column_of(t, i);

		print_cell(out, cell_format(&t->cells[i], column->kind, buffer),
			   widths[i % t->column_count], column->kind != TABLE_TEXT,
			   i % t->column_count == last);
	}
	return 0;
}

static void print_json_cell(const struct cell *c, enum table_kind kind, FILE *out)
{
	if (kind == TABLE_TEXT)
		json_write_string(out, c->text, strlen(c->text));
	else if (c->is_real)
		fprintf(out, "%.*f", kind == TABLE_SHARE ? 6 : 1, c->real);
	else
		fprintf(out, "%llu", c->number);
}

int table_print_json(const struct table *t, FILE *out)
{
	bool first = true;

	if (t->err)
		return t->err;
	fprintf(out, "\"%s\":[", t->key);
	for (size_t i = 0; i < t->count; i++) {
		if (i % t->column_count == 0) {
			fputs(i ? ",\n{" : "\n{", out);
			first = true;
		}
		if (column_of(t, i)->key) {
			fprintf(out, "%s\"%s\":", first ? "" : ",", column_of(t, i)->key);
			print_json_cell(&t->cells[i], column_of(t, i)->kind, out);
			first = false;
		}
		if (i % t->column_count == t->column_count - 1)
			fputc('}', out);
	}
	fputs("\n]", out);
	return 0;
}
