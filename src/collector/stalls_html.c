/* SPDX-License-Identifier: Apache-2.0 */
/* PC samples as one HTML page that needs nothing else: kernels, and files with heat beside lines.
 */
#include "src/collector/stalls_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/sass.h"
#include "src/collector/sources.h"
#include "src/collector/stalls.h"
#include "src/collector/table.h"

#define WORDS_BYTES 160
#define INSTRUCTIONS 200 /* without a line that are shown */
#define CONTEXT 4	 /* lines without samples that are shown around those with */

static const char head[] =
	"<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>%s</title>\n<style>\n"
	"body{font:14px sans-serif;margin:1.5em}\n"
	"table{border-collapse:collapse}td,th{padding:1px 8px;text-align:left}\n"
	"td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	"td.c{font-family:monospace;white-space:pre}\n"
	"tr.gap td{color:#888;border-top:1px dotted #bbb}\n"
	"th{border-bottom:1px solid #888}\n</style></head><body>\n";

static void put_text(FILE *out, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '<')
			fputs("&lt;", out);
		else if (*c == '>')
			fputs("&gt;", out);
		else if (*c == '&')
			fputs("&amp;", out);
		else if (*c == '"')
			fputs("&quot;", out);
		else if (*c >= ' ' || *c == '\t')
			fputc(*c, out);
		else
			fputc('?', out);
	}
}

/* Numbers of one row, on a ground as warm as its share. */
static void put_numbers(FILE *out, const struct stalls *s, const struct stalls_tally *tally)
{
	double part = share(tally->samples, stalls_view(s)->samples);
	char words[WORDS_BYTES];

	stalls_words(s, tally, words, sizeof(words));
	fprintf(out,
		"<tr style=\"background:rgba(255,80,0,%.3f)\"><td class=\"n\">%.1f %%</td>"
		"<td class=\"n\">%llu</td><td>",
		0.6 * part, 100 * part, tally->samples);
	put_text(out, words);
	fputs("</td>", out);
}

static void put_kernels(FILE *out, const struct stalls *s)
{
	const struct stalls_view *v = stalls_view(s);

	fputs("<h2>Kernels</h2>\n<table><tr><th>Share<th>Samples<th>Stalls<th>Kernel</tr>\n", out);
	for (size_t i = 0; i < v->kernel_count; i++) {
		put_numbers(out, s, &v->kernels[i]->tally);
		fputs("<td class=\"c\">", out);
		put_text(out, v->kernels[i]->readable);
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
	if (v->rest.non_user)
		fprintf(out,
			"<p>%llu more samples are of code that CUPTI does not attribute: record "
			"the program from its start.</p>\n",
			v->rest.non_user);
	if (v->rest.dropped)
		fprintf(out, "<p>%llu more samples were dropped by the GPU.</p>\n",
			v->rest.dropped);
}

static int by_place(const void *a, const void *b)
{
	const struct stalls_line *x = *(struct stalls_line *const *)a;
	const struct stalls_line *y = *(struct stalls_line *const *)b;
	int order = strcmp(x->file, y->file);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void put_plain(FILE *out, struct sources *sources, const char *file, __u32 from, __u32 to)
{
	for (__u32 number = from; number < to; number++) {
		const char *text = sources_line(sources, file, number);

		if (!text)
			continue;
		fprintf(out, "<tr><td><td><td><td class=\"n\">%u</td><td class=\"c\">", number);
		put_text(out, text);
		fputs("</td></tr>\n", out);
	}
}

/* The lines around those with samples: all of a short gap, its two ends of a long one. */
static void put_between(FILE *out, struct sources *sources, const char *file, __u32 from, __u32 to)
{
	if (to <= from + 2 * CONTEXT) {
		put_plain(out, sources, file, from, to);
		return;
	}
	put_plain(out, sources, file, from, from == 1 ? from : from + CONTEXT);
	fputs("<tr class=\"gap\"><td colspan=\"5\">&hellip;</td></tr>\n", out);
	put_plain(out, sources, file, to - CONTEXT, to);
}

/* The file of `lines[0]`; returns how many lines are of it. */
static size_t put_file(FILE *out, const struct stalls *s, struct sources *sources,
		       struct stalls_line *const *lines, size_t count)
{
	const char *file = lines[0]->file;
	__u32 next = 1;
	size_t i;

	fputs("<h2>", out);
	put_text(out, file);
	fputs("</h2>\n<table><tr><th>Share<th>Samples<th>Stalls<th>Line<th>Source</tr>\n", out);
	for (i = 0; i < count && !strcmp(lines[i]->file, file); i++) {
		const char *text = sources_line(sources, file, lines[i]->line);

		put_between(out, sources, file, next, lines[i]->line);
		put_numbers(out, s, &lines[i]->tally);
		fprintf(out, "<td class=\"n\">%u</td><td class=\"c\" title=\"", lines[i]->line);
		put_text(out, lines[i]->function);
		fputs("\">", out);
		put_text(out, text ? text : lines[i]->function);
		fputs("</td></tr>\n", out);
		next = lines[i]->line + 1;
	}
	put_between(out, sources, file, next, next + CONTEXT);
	fputs("</table>\n", out);
	return i;
}

static void put_instructions(FILE *out, const struct stalls *s, struct sass *sass)
{
	const struct stalls_view *v = stalls_view(s);
	unsigned int any = 0;

	for (size_t i = 0; i < v->line_count && any < INSTRUCTIONS; i++) {
		const struct stalls_line *line = &v->lines[i];

		if (line->file)
			continue;
		if (!any)
			fputs("<h2>Instructions without a known line</h2>\n<table><tr><th>Share<th>"
			      "Samples<th>Stalls<th>Offset<th>Instruction<th>Kernel</tr>\n",
			      out);
		any++;
		put_numbers(out, s, &line->tally);
		fprintf(out, "<td class=\"n\">0x%llx</td><td class=\"c\">", line->pc);
		put_text(out, sass_opcode(sass, line->kernel->crc, line->kernel->name, line->pc));
		fputs("</td><td class=\"c\">", out);
		put_text(out, line->kernel->readable);
		fputs("</td></tr>\n", out);
	}
	if (any)
		fputs("</table>\n", out);
}

int stalls_print_html(const struct stalls *s, struct sources *sources, struct sass *sass,
		      const char *title, FILE *out)
{
	const struct stalls_view *v = stalls_view(s);
	struct stalls_line **lines = calloc(v->line_count + 1, sizeof(*lines));
	size_t count = 0;

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < v->line_count; i++) {
		if (v->lines[i].file)
			lines[count++] = &v->lines[i];
	}
	qsort(lines, count, sizeof(*lines), by_place);
	fprintf(out, head, "PC samples");
	fputs("<h1>", out);
	put_text(out, title);
	fputs("</h1>\n", out);
	put_kernels(out, s);
	for (size_t i = 0; i < count;)
		i += put_file(out, s, sources, &lines[i], count - i);
	put_instructions(out, s, sass);
	fputs("</body></html>\n", out);
	free(lines);
	return 0;
}
