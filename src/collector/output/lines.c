/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event a line: aligned text for people and grep, and JSON objects for programs. What `cuprobe
 * trace` prints.
 *
 * Text: seconds since the start, pid, where (g0:7 is stream 7 of GPU 0, t4711 a thread), kind,
 * duration, name, details. Names are escaped as in JSON, so that nothing in them gets to a
 * terminal.
 */
#include <errno.h>
#include <stdlib.h>

#include "src/collector/capture.h"
#include "src/collector/model.h"
#include "src/collector/nvtx_names.h"
#include "src/collector/output/fields.h"
#include "src/collector/output/file.h"
#include "src/collector/output/text.h"
#include "src/collector/sink.h"

#define OBJECT_MOST_BYTES 32 /* of a name that the application gave to something */

struct sink {
	struct sink_opts opts;
	struct output *out;
};

static int lines_open(struct sink **ret, const struct sink_opts *opts)
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
	*ret = s;
	return 0;
}

static int lines_flush(struct sink *s)
{
	return s ? output_flush(s->out) : 0;
}

static int lines_close(struct sink *s, bool commit)
{
	int err;

	if (!s)
		return 0;
	err = output_close(s->out, commit);
	free(s);
	return err;
}

static char *put_text(struct sink *s, char *p, const char *text, size_t bytes)
{
	return output_text(s->out, p, text, bytes, put_json);
}

static char *pad_to(char *p, const char *start, int width)
{
	while (p - start < width)
		*p++ = ' ';
	return p;
}

/* Moves what was written from `start` to the right edge of `width` columns. */
static char *pad_left(char *p, char *start, int width)
{
	ptrdiff_t bytes = p - start, gap = width - bytes;

	if (gap <= 0)
		return p;
	memmove(start + gap, start, (size_t)bytes);
	memset(start, ' ', (size_t)gap);
	return start + width;
}

/* Seconds with six decimals. */
static char *put_seconds(char *p, __s64 ns)
{
	__u64 us = (ns < 0 ? -(__u64)ns : (__u64)ns) / 1000;
	char *start = p;

	if (ns < 0)
		*p++ = '-';
	p = PUT(put_u64(p, us / 1000000), ".");
	return pad_left(put_digits(p, us % 1000000, 6), start, 13);
}

static char *put_duration(char *p, __u64 ns)
{
	static const char *const units[] = {" us", " ms", " s"};
	char *start = p;
	int unit = 0;

	if (ns < 1000) {
		p = PUT(put_u64(p, ns), " ns");
		return pad_left(p, start, 11);
	}
	while (unit < 2 && ns >= 1000000) {
		ns /= 1000;
		unit++;
	}
	p = put_us(p, ns);
	p = put_bytes(p, units[unit], strlen(units[unit]));
	return pad_left(p, start, 11);
}

static bool find_number(const struct event *e, const char *name, __u64 *ret)
{
	for (const struct field *f = probe_fields(e->probe); f->name; f++) {
		if (!strcmp(f->name, name))
			return field_number(f, e, ret);
	}
	return false;
}

/* What the application calls a thing, else its number. */
static char *put_object(char *p, const struct event *e, enum cuprobe_object object, __u64 number)
{
	__u64 context = CUPROBE_NO_ID;
	const char *name;

	if (object == CUPROBE_OBJECT_STREAM)
		find_number(e, "context", &context);
	name = process_object_name(e->process, object, (__u32)context, (__u32)number);
	return name ? put_json(p, name, strnlen(name, OBJECT_MOST_BYTES)) : put_u64(p, number);
}

static char *put_where(char *p, const struct event *e)
{
	char *start = p;
	__u64 number;

	if (find_number(e, "thread", &number)) {
		p = put_object(PUT(p, "t"), e, CUPROBE_OBJECT_THREAD, number);
	} else if (find_number(e, "device", &number)) {
		p = put_object(PUT(p, "g"), e, CUPROBE_OBJECT_DEVICE, number);
		if (find_number(e, "stream", &number))
			p = put_object(PUT(p, ":"), e, CUPROBE_OBJECT_STREAM, number);
	}
	return pad_to(p, start, 9);
}

static char *put_number(char *p, const struct field *f, __u64 value)
{
	if (f->type == FIELD_S32 || f->type == FIELD_PRIORITY)
		return put_s64(p, (__s64)value);
	return put_u64(p, value);
}

static char *put_xyz(char *p, const __u32 xyz[3], char between)
{
	for (int i = 0; i < 3; i++) {
		p = put_u64(p, xyz[i]);
		if (i < 2)
			*p++ = between;
	}
	return p;
}

static char *put_detail(struct sink *s, char *p, const struct field *f, const struct event *e)
{
	const char *text = f->type >= FIELD_NVTX_KIND ? field_text(f, e) : NULL;
	__u64 value;

	if (text) {
		p = put_bytes(PUT(p, " "), f->name, strlen(f->name));
		return put_text(s, PUT(p, "="), text, strlen(text));
	}
	if (f->type != FIELD_XYZ && (!field_number(f, e, &value) || !value))
		return p;
	*p++ = ' ';
	p = put_bytes(p, f->name, strlen(f->name));
	*p++ = '=';
	if (f->type == FIELD_XYZ)
		return put_xyz(p, field_xyz(f, e), 'x');
	return f->type == FIELD_ADDRESS ? put_hex(p, value) : put_number(p, f, value);
}

static char *put_kind(char *p, const struct event *e)
{
	const char *kind = probe_name(e->probe), *start = p;

	p = put_bytes(p, kind, strlen(kind));
	if (e->probe == CUPROBE_PROBE_nvtx) {
		kind = nvtx_kind_name(e->nvtx->kind);
		p = put_bytes(PUT(p, " "), kind, strlen(kind));
	}
	return pad_to(p, start, 14);
}

static int text_event(struct sink *s, const struct event *e)
{
	__u64 base_ns = s->opts.info ? s->opts.info->start_ns : 0;
	__u64 start_ns, end_ns;
	const struct field *f = probe_fields(e->probe);
	struct event_name name;
	char *p, *start;
	bool timed;

	if (!f->name)
		return 0;
	timed = event_times(e, &start_ns, &end_ns);
	if (!timed)
		start_ns = e->fired_ns;
	event_name(&name, e, s->opts.mangled);
	p = put_seconds(output_room(s->out, OUTPUT_ROW), (__s64)(start_ns - base_ns));
	*p++ = ' ';
	start = p;
	p = pad_left(put_u64(p, e->process->pid), start, 7);
	p = put_where(PUT(p, "  "), e);
	*p++ = ' ';
	p = put_kind(p, e);
	p = timed ? put_duration(p, end_ns - start_ns) : PUT(p, "          -");
	p = put_text(s, PUT(p, "  "), name.text, name.bytes);
	for (; f->name; f++)
		p = f->brief ? put_detail(s, p, f, e) : p;
	output_done(s->out, PUT(p, "\n"));
	return s->out->err;
}

static char *put_key(char *p, const char *name)
{
	*p++ = ',';
	*p++ = '"';
	p = put_bytes(p, name, strlen(name));
	return PUT(p, "\":");
}

static char *put_member(struct sink *s, char *p, const struct field *f, const struct event *e)
{
	const char *text = f->type == FIELD_XYZ ? NULL : field_text(f, e);
	__u64 value;

	if (f->type == FIELD_XYZ) {
		p = put_xyz(PUT(put_key(p, f->name), "["), field_xyz(f, e), ',');
		return PUT(p, "]");
	}
	if (text) {
		p = put_text(s, PUT(put_key(p, f->name), "\""), text, strlen(text));
		return PUT(p, "\"");
	}
	if (f->type == FIELD_TEXT || !field_number(f, e, &value))
		return p;
	if (f->type == FIELD_ADDRESS) /* above 2^53, where JSON's numbers end */
		return PUT(put_hex(PUT(put_key(p, f->name), "\""), value), "\"");
	return put_number(put_key(p, f->name), f, value);
}

static int json_event(struct sink *s, const struct event *e)
{
	const struct field *f = probe_fields(e->probe);
	const char *kind = probe_name(e->probe);
	__u64 start_ns, end_ns;
	struct event_name name;
	char *p;

	if (!f->name)
		return 0;
	event_name(&name, e, s->opts.mangled);
	p = PUT(output_room(s->out, OUTPUT_ROW), "{\"kind\":\"");
	p = put_bytes(p, kind, strlen(kind));
	p = put_u64(PUT(p, "\",\"pid\":"), e->process->pid);
	if (event_times(e, &start_ns, &end_ns)) {
		p = put_u64(PUT(p, ",\"start_ns\":"), start_ns);
		p = put_u64(PUT(p, ",\"end_ns\":"), end_ns);
	}
	p = put_text(s, PUT(p, ",\"name\":\""), name.text, name.bytes);
	*p++ = '"';
	for (; f->name; f++)
		p = put_member(s, p, f, e);
	output_done(s->out, PUT(p, "}\n"));
	return s->out->err;
}

const struct sink_ops sink_text = {
	.name = "text",
	.help = "one aligned line an event",
	.suffix = ".txt",
	.open = lines_open,
	.event = text_event,
	.flush = lines_flush,
	.close = lines_close,
};

const struct sink_ops sink_jsonl = {
	.name = "jsonl",
	.help = "one JSON object an event and line; times in ns of CLOCK_MONOTONIC",
	.suffix = ".jsonl",
	.open = lines_open,
	.event = json_event,
	.flush = lines_flush,
	.close = lines_close,
};
