/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every event as a row (RFC 4180). The first columns are those that most kinds have:
 *
 *	kind,pid,start_ns,end_ns,duration_ns,name,device,context,stream,...
 *
 * Then every field of every kind follows once, under its name in abi.h; what a kind does not have,
 * and what is not known, is empty. Times are CLOCK_MONOTONIC, as in eBPF programs.
 */
#include "src/collector/sink.h"

#include <errno.h>
#include <stdlib.h>

#include "src/collector/model.h"
#include "src/collector/output/fields.h"
#include "src/collector/output/file.h"
#include "src/collector/output/text.h"

#define MOST_COLUMNS 96

struct column {
	const char *name;
	const struct field *of[CUPROBE_PROBE_COUNT];
	bool xyz; /* three columns */
};

/* A field of a row, and the commas that stand before it. */
struct step {
	const struct field *field; /* NULL ends the row */
	unsigned int commas;
};

struct sink {
	struct sink_opts opts;
	struct output *out;
	unsigned int column_count;
	struct column columns[MOST_COLUMNS];
	struct step rows[CUPROBE_PROBE_COUNT][MOST_COLUMNS + 1];
};

static struct column *find_column(struct sink *s, const struct field *f)
{
	struct column *c = s->columns;

	while (c < s->columns + s->column_count && strcmp(c->name, f->name) != 0)
		c++;
	if (c == s->columns + s->column_count) {
		s->column_count++;
		c->name = f->name;
		c->xyz = f->type == FIELD_XYZ;
	}
	return c;
}

static void make_columns(struct sink *s)
{
	static const struct field first[] = {{.name = "device"},      {.name = "context"},
					     {.name = "stream"},      {.name = "thread"},
					     {.name = "correlation"}, {.name = "bytes"}};

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		find_column(s, &first[i]);
	for (unsigned int probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		for (const struct field *f = probe_fields(probe); f->name; f++)
			find_column(s, f)->of[probe] = f;
	}
}

/* Most columns are not of a kind: go from one that is to the next. */
static void make_row(struct sink *s, unsigned int probe)
{
	struct step *step = s->rows[probe];

	for (const struct column *c = s->columns; c < s->columns + s->column_count; c++) {
		step->commas++;
		if (c->of[probe])
			(step++)->field = c->of[probe];
		else if (c->xyz)
			step->commas += 2;
	}
}

static char *put_heading(char *p, const char *name, const char *end)
{
	*p++ = ',';
	p = put_bytes(p, name, strlen(name));
	return put_bytes(p, end, strlen(end));
}

static void put_header(struct sink *s)
{
	char *p = output_room(s->out, OUTPUT_ROOM);

	p = PUT(p, "kind,pid,start_ns,end_ns,duration_ns,name");
	for (unsigned int i = 0; i < s->column_count; i++) {
		const char *name = s->columns[i].name;

		p = put_heading(p, name, s->columns[i].xyz ? "_x" : "");
		if (s->columns[i].xyz) {
			p = put_heading(p, name, "_y");
			p = put_heading(p, name, "_z");
		}
	}
	output_done(s->out, PUT(p, "\r\n"));
}

static int csv_open(struct sink **ret, const struct sink_opts *opts)
{
	struct sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	err = output_open(&s->out, opts->path, 0);
	if (err) {
		free(s);
		return err;
	}
	make_columns(s);
	for (unsigned int probe = 0; probe < CUPROBE_PROBE_COUNT; probe++)
		make_row(s, probe);
	put_header(s);
	*ret = s;
	return 0;
}

static char *put_text(struct sink *s, char *p, const char *text, size_t bytes)
{
	*p++ = '"';
	p = output_text(s->out, p, text, bytes, put_csv);
	*p++ = '"';
	return p;
}

static char *put_xyz(char *p, const struct field *f, const struct event *e)
{
	for (int i = 0; i < 3; i++) {
		if (i)
			*p++ = ',';
		p = put_u64(p, field_xyz(f, e)[i]);
	}
	return p;
}

/* Words of our own need no quotes; what comes from the process may hold anything, at any length. */
static bool text_is_foreign(const struct field *f)
{
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_NVTX_DOMAIN:
	case FIELD_NVTX_CATEGORY:
	case FIELD_NVTX_PAYLOAD:
	case FIELD_STALL:
		return true;
	default:
		return false;
	}
}

static char *put_field(struct sink *s, char *p, const struct field *f, const struct event *e)
{
	const char *text;
	__u64 value;

	if (f->type == FIELD_XYZ)
		return put_xyz(p, f, e);
	text = field_text(f, e);
	if (text)
		return text_is_foreign(f) ? put_text(s, p, text, strlen(text))
					  : put_bytes(p, text, strlen(text));
	if (f->type == FIELD_TEXT || !field_number(f, e, &value))
		return p;
	if (f->type == FIELD_ADDRESS)
		return put_hex(p, value);
	if (f->type == FIELD_S32 || f->type == FIELD_PRIORITY)
		return put_s64(p, (__s64)value);
	return put_u64(p, value);
}

static char *put_times(char *p, const struct event *e)
{
	__u64 start_ns, end_ns;

	if (!event_times(e, &start_ns, &end_ns))
		return PUT(p, ",,,");
	p = put_u64(p, start_ns);
	*p++ = ',';
	p = put_u64(p, end_ns);
	*p++ = ',';
	p = put_u64(p, end_ns - start_ns);
	*p++ = ',';
	return p;
}

static int csv_event(struct sink *s, const struct event *e)
{
	const char *kind = probe_name(e->probe);
	struct event_name name;
	char *p;

	if (!probe_fields(e->probe)->name)
		return 0;
	event_name(&name, e, s->opts.mangled);
	p = output_room(s->out, OUTPUT_ROW);
	p = put_bytes(p, kind, strlen(kind));
	*p++ = ',';
	p = put_u64(p, e->process->pid);
	*p++ = ',';
	p = put_times(p, e);
	p = put_text(s, p, name.text, name.bytes);
	for (const struct step *step = s->rows[e->probe];; step++) {
		memset(p, ',', step->commas);
		p += step->commas;
		if (!step->field)
			break;
		p = put_field(s, p, step->field, e);
	}
	output_done(s->out, PUT(p, "\r\n"));
	return s->out->err;
}

static int csv_close(struct sink *s, bool commit)
{
	int err;

	if (!s)
		return 0;
	err = output_close(s->out, commit);
	free(s);
	return err;
}

const struct sink_ops sink_csv = {
	.name = "csv",
	.help = "one row an event, with every field; times in ns of CLOCK_MONOTONIC",
	.suffix = ".csv",
	.open = csv_open,
	.event = csv_event,
	.close = csv_close,
};
