/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: one line each, frames from the root, separated by semicolons, a space, and the
 * nanoseconds of GPU time. What flamegraph.pl, inferno and speedscope read. Frames on the GPU end
 * in
 * "_[g]", inlined ones in "_[i]", those of code made at run time in "_[j]".
 */
#include "src/collector/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/output/file.h"
#include "src/collector/output/text.h"
#include "src/collector/profile.h"
#include "src/collector/unfold.h"
#include "src/collector/utf8.h"

struct sink {
	struct profile *profile;
	struct output *out;
	struct unfold unfold;
};

/* A line of the file, to be sorted and put together with equal ones. */
struct line {
	char *text;
	__u64 gpu_ns;
};

static int folded_open(struct sink **ret, const struct sink_opts *opts)
{
	struct sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	err = profile_open_for_sink(&s->profile, opts);
	if (!err)
		err = output_open(&s->out, opts->path, 0);
	if (err) {
		profile_free(s->profile);
		free(s);
		return err;
	}
	*ret = s;
	return 0;
}

static int folded_event(struct sink *s, const struct event *e)
{
	return profile_event(s->profile, e);
}

/* Semicolons, backslashes and control characters as in C; what is not UTF-8 becomes U+FFFD. */
static void write_escaped(FILE *out, const char *text)
{
	size_t left = strlen(text), bytes;

	for (; left; text += bytes, left -= bytes) {
		unsigned char c = (unsigned char)*text;

		bytes = utf8_bytes(text, left);
		if (c == ';' || c == '\\' || c < 0x20 || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else if (bytes)
			fwrite(text, 1, bytes, out);
		else
			fputs("\xef\xbf\xbd", out);
		bytes = bytes ? bytes : 1;
	}
}

static int line_make(struct sink *s, const struct sample *sample, struct line *ret)
{
	int err = unfold_sample(&s->unfold, s->profile, sample, UNFOLD_BY_KERNEL, false);
	size_t bytes;
	FILE *out = err ? NULL : open_memstream(&ret->text, &bytes);

	if (!out)
		return err ? err : -ENOMEM;
	for (unsigned int i = 0; i < s->unfold.count; i++) {
		const struct label *label = s->unfold.path[i];

		if (i)
			fputc(';', out);
		write_escaped(out, label->text);
		fputs(label_suffix(label->kind), out);
	}
	ret->gpu_ns = sample->gpu_ns;
	return fclose(out) ? -ENOMEM : 0;
}

static int by_text(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static void write_line(struct output *out, const struct line *line)
{
	char *p;

	output_put(out, line->text, strlen(line->text));
	p = output_room(out, PUT_U64_BYTES + 2);
	p = put_u64(PUT(p, " "), line->gpu_ns);
	output_done(out, PUT(p, "\n"));
}

static void write_lines(struct output *out, struct line *lines, size_t count)
{
	qsort(lines, count, sizeof(*lines), by_text);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && !strcmp(lines[i].text, lines[i + 1].text))
			lines[i + 1].gpu_ns += lines[i].gpu_ns;
		else
			write_line(out, &lines[i]);
	}
}

static int folded_write(struct sink *s)
{
	const struct sample *first = profile_samples(s->profile);
	struct line *lines;
	size_t count = 0, at = 0;
	int err = 0;

	for (const struct sample *i = first; i; i = i->next)
		count++;
	lines = calloc(count + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	for (const struct sample *i = first; i && !err; i = i->next)
		err = line_make(s, i, &lines[at++]);
	if (!err)
		write_lines(s->out, lines, count);
	for (size_t i = 0; i < count; i++)
		free(lines[i].text);
	free(lines);
	return err;
}

static int folded_close(struct sink *s, bool commit)
{
	int err = 0, close_err;

	if (!s)
		return 0;
	if (commit)
		err = profile_finish(s->profile);
	if (commit && !err)
		err = folded_write(s);
	close_err = output_close(s->out, commit && !err);
	unfold_free(&s->unfold);
	profile_free(s->profile);
	free(s);
	return err ? err : close_err;
}

const struct sink_ops sink_folded = {
	.name = "folded",
	.help = "folded stacks weighted by GPU time, for flame graph tools",
	.suffix = ".folded",
	.also = PROFILE_CAUSES,
	.open = folded_open,
	.event = folded_event,
	.close = folded_close,
};
