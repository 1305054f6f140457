/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/stalls_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/sass.h"
#include "src/collector/sources.h"
#include "src/collector/stalls.h"
#include "src/collector/summary.h"
#include "src/collector/table.h"

#define WORDS_BYTES 160
#define PLACE_BYTES 512
#define ROWS 100 /* of lines, for people */

/* "file.cu:24", short enough for a table. */
static const char *place_short(const struct stalls_line *line, char *text)
{
	const char *name = line && line->file ? strrchr(line->file, '/') : NULL;

	if (!line || !line->file)
		return "";
	snprintf(text, PLACE_BYTES, "%s:%u", name ? name + 1 : line->file, line->line);
	return text;
}

static void print_rest(const struct summary_opts *opts, const char *key, __u64 samples, __u64 all,
		       const char *words)
{
	if (opts->json)
		fprintf(opts->out, ",\n\"%s\":%llu", key, samples);
	else if (samples)
		fprintf(opts->out, "%llu samples (%.1f %% of all) %s\n", samples,
			100 * share(samples, all), words);
}

static void print_rests(const struct stalls_view *v, const struct summary_opts *opts)
{
	__u64 all = v->samples + v->rest.non_user + v->rest.dropped + v->rest.other + v->missed;

	print_rest(opts, "samples_non_user", v->rest.non_user, all,
		   "are of code that CUPTI does not attribute: of CUDA graphs from before sampling "
		   "began; record the program from its start (cuprobe record -- CMD)");
	print_rest(opts, "samples_dropped", v->rest.dropped, all,
		   "were dropped by the GPU: ask for fewer (CUPROBE_PC_RATE)");
	print_rest(opts, "samples_other", v->rest.other, all, "have no stall reason");
	print_rest(opts, "samples_missed", v->missed, all, "were too many to keep");
}

static void kernel_row(const struct stalls *s, struct table *t, const struct stalls_kernel *k)
{
	const struct stalls_view *v = stalls_view(s);
	char words[WORDS_BYTES], place[PLACE_BYTES];

	stalls_words(s, &k->tally, words, sizeof(words));
	table_real(t, share(k->tally.samples, v->samples));
	table_number(t, k->tally.samples);
	table_real(t, share(k->tally.not_issued, k->tally.samples));
	table_text(t, words);
	table_text(t, place_short(k->hottest, place));
	table_text(t, k->readable);
}

int stalls_print_kernels(const struct stalls *s, const struct summary_opts *opts)
{
	static const struct table_column columns[] = {
		{"Share", "share", TABLE_SHARE},
		{"Samples", "samples", TABLE_COUNT},
		{"Not issued", "not_issued_share", TABLE_SHARE},
		{"Stalls", "stalls", TABLE_TEXT},
		{"Hottest line", "hottest_line", TABLE_TEXT},
		{"Kernel", "name", TABLE_TEXT},
		{NULL, NULL, TABLE_TEXT},
	};
	const struct stalls_view *v = stalls_view(s);
	struct table *t = table_new("Kernels by PC samples", "stalls", columns);
	int err;

	for (size_t i = 0; i < v->kernel_count; i++)
		kernel_row(s, t, v->kernels[i]);
	err = summary_print_table(t, opts, v->kernel_count);
	if (!err)
		print_rests(v, opts);
	return err;
}

static const char *line_text(const struct stalls_line *line, struct sources *sources,
			     struct sass *sass)
{
	const char *text;

	if (!line->file)
		return sass_opcode(sass, line->kernel->crc, line->kernel->name, line->pc);
	text = sources_line(sources, line->file, line->line);
	return text ? text + strspn(text, " \t") : "";
}

static const char *line_place(const struct stalls_line *line, char *text)
{
	if (line->file)
		return place_short(line, text);
	snprintf(text, PLACE_BYTES, "+0x%llx", line->pc);
	return text;
}

static void line_row(const struct stalls *s, struct table *t, const struct stalls_line *line,
		     struct sources *sources, struct sass *sass)
{
	const struct stalls_view *v = stalls_view(s);
	char words[WORDS_BYTES], place[PLACE_BYTES];

	stalls_words(s, &line->tally, words, sizeof(words));
	table_real(t, share(line->tally.samples, v->samples));
	table_number(t, line->tally.samples);
	table_text(t, words);
	table_text(t, line_place(line, place));
	table_text(t, line_text(line, sources, sass));
	table_text(t, line->function);
	table_text(t, line->kernel->readable);
	table_text(t, line->file ? line->file : "");
	table_number(t, line->file ? line->line : 0);
	table_number(t, line->pc);
}

int stalls_print_lines(const struct stalls *s, struct sources *sources, struct sass *sass,
		       const struct summary_opts *opts)
{
	static const struct table_column columns[] = {
		{"Share", "share", TABLE_SHARE},
		{"Samples", "samples", TABLE_COUNT},
		{"Stalls", "stalls", TABLE_TEXT},
		{"Line", NULL, TABLE_TEXT},
		{"Source", "source", TABLE_TEXT},
		{"Function", "function", TABLE_TEXT},
		{"in kernel", "kernel", TABLE_TEXT},
		{"File", "file", TABLE_TEXT},
		{"", "line", TABLE_COUNT},
		{"PC", "pc", TABLE_COUNT},
		{NULL, NULL, TABLE_TEXT},
	};
	const struct stalls_view *v = stalls_view(s);
	struct table *t = table_new("Source lines by PC samples", "lines", columns);
	size_t rows = opts->json || v->line_count < ROWS ? v->line_count : ROWS;
	int err;

	for (size_t i = 0; i < rows; i++)
		line_row(s, t, &v->lines[i], sources, sass);
	err = summary_print_table(t, opts, rows);
	if (!err && rows < v->line_count)
		fprintf(opts->out, "%zu more lines: --json shows all\n", v->line_count - rows);
	return err;
}

/* `path` is the file, or ends in a slash and it. */
static bool path_ends_in(const char *path, const char *file)
{
	size_t path_bytes = strlen(path), bytes = strlen(file);

	return path_bytes >= bytes && !strcmp(path + path_bytes - bytes, file) &&
	       (path_bytes == bytes || path[path_bytes - bytes - 1] == '/');
}

static const struct stalls_line *line_find(const struct stalls_view *v, const char *file,
					   __u32 line)
{
	for (size_t i = 0; i < v->line_count; i++) {
		if (v->lines[i].file && v->lines[i].line == line && !strcmp(v->lines[i].file, file))
			return &v->lines[i];
	}
	return NULL;
}

/* The first one behind `after`; NULL: there is none. */
static const struct stalls_line *line_next(const struct stalls_view *v, const char *file,
					   __u32 after)
{
	const struct stalls_line *next = NULL;

	for (size_t i = 0; i < v->line_count; i++) {
		const struct stalls_line *line = &v->lines[i];

		if (line->file && line->line > after && (!next || line->line < next->line) &&
		    !strcmp(line->file, file))
			next = line;
	}
	return next;
}

static void put_expanded(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t bytes = strcspn(text, "\t");

		print_clean(out, text, bytes);
		column += bytes;
		text += bytes;
		for (; *text == '\t'; text++) {
			fprintf(out, "%*s", (int)(8 - column % 8), "");
			column += 8 - column % 8;
		}
	}
	fputc('\n', out);
}

static void source_line(const struct stalls *s, const struct stalls_line *line, __u32 number,
			const char *text, FILE *out)
{
	char words[WORDS_BYTES] = "";

	if (line) {
		stalls_words(s, &line->tally, words, sizeof(words));
		fprintf(out, "%5.1f %% %9llu  %-42.42s %5u  ",
			100 * share(line->tally.samples, stalls_view(s)->samples),
			line->tally.samples, words, number);
	} else {
		fprintf(out, "%17s  %-42s %5u  ", "", "", number);
	}
	put_expanded(out, text);
}

static void source_file(const struct stalls *s, struct sources *sources, const char *path,
			FILE *out)
{
	const struct stalls_view *v = stalls_view(s);
	__u32 count = sources_lines(sources, path);
	const struct stalls_line *line;

	fputc('\n', out);
	print_clean(out, path, strlen(path));
	fprintf(out, "%s\n", count ? "" : ": cannot be read: only the lines with samples");
	fprintf(out, "%7s %9s  %-42s %5s\n", "Share", "Samples", "Stalls", "Line");
	for (__u32 number = 1; number <= count; number++)
		source_line(s, line_find(v, path, number), number,
			    sources_line(sources, path, number), out);
	for (line = line_next(v, path, count); line; line = line_next(v, path, line->line))
		source_line(s, line, line->line, "", out);
}

int stalls_print_source(const struct stalls *s, struct sources *sources, const char *file,
			FILE *out)
{
	const struct stalls_view *v = stalls_view(s);
	const char *done[16];
	size_t count = 0, known;

	for (size_t i = 0; i < v->line_count && count < 16; i++) {
		const char *path = v->lines[i].file;

		if (!path || !path_ends_in(path, file))
			continue;
		for (known = 0; known < count && strcmp(done[known], path) != 0; known++)
			;
		if (known < count)
			continue;
		done[count++] = path;
		source_file(s, sources, path, out);
	}
	return count ? 0 : -ENOENT;
}
