/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/stalls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/cubins.h"
#include "src/collector/demangle.h"
#include "src/collector/event.h"
#include "src/collector/map.h"
#include "src/collector/model.h"

#define TEXTS_LARGEST ((size_t)256 << 20) /* of names */
#define CELLS_MOST (1u << 22)		  /* of 48 bytes each */
#define WORDS 3				  /* reasons that are named */

/* How often one instruction waited for one thing. */
struct cell {
	struct stalls_kernel *kernel;
	__u64 pc, samples, not_issued;
	__u32 reason;
};

struct text {
	struct text *next;
	char text[];
};

struct stalls {
	bool mangled;
	struct map kernels; /* by hash of name and checksum */
	struct map cells;   /* by hash of kernel, instruction and reason */
	struct cell **all;  /* in the order of kernel and instruction, once finished */
	size_t cell_count, cell_room;
	char *reasons[STALLS_REASONS];
	unsigned int reason_count;
	struct text *texts;
	size_t text_bytes;
	struct stalls_kernel *first;
	struct stalls_view view;
};

int stalls_open(struct stalls **ret, bool mangled)
{
	struct stalls *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->mangled = mangled;
	*ret = s;
	return 0;
}

void stalls_free(struct stalls *s)
{
	struct stalls_kernel *next_kernel;
	struct text *next;

	if (!s)
		return;
	for (size_t i = 0; i < s->cell_count; i++)
		free(s->all[i]);
	for (struct stalls_kernel *k = s->first; k; k = next_kernel) {
		next_kernel = k->next;
		free(k);
	}
	for (struct text *t = s->texts; t; t = next) {
		next = t->next;
		free(t);
	}
	for (unsigned int i = 0; i < s->reason_count; i++)
		free(s->reasons[i]);
	map_clear(&s->kernels, NULL);
	map_clear(&s->cells, NULL);
	free(s->all);
	free(s->view.kernels);
	free(s->view.lines);
	free(s);
}

/* A copy that lives as long as we do; NULL without memory. */
static const char *text_keep(struct stalls *s, const char *text)
{
	size_t bytes = strlen(text) + 1;
	struct text *t = malloc(sizeof(*t) + bytes);

	if (!t)
		return NULL;
	memcpy(t->text, text, bytes);
	t->next = s->texts;
	s->texts = t;
	s->text_bytes += bytes;
	return t->text;
}

static const char *readable(struct stalls *s, const char *name)
{
	char *demangled = s->mangled || s->text_bytes > TEXTS_LARGEST ? NULL : demangle(name);
	const char *kept = demangled ? text_keep(s, demangled) : NULL;

	free(demangled);
	return kept ? kept : name;
}

static int kernel_add(struct stalls *s, const char *name, __u64 crc, __u64 key,
		      struct stalls_kernel **ret)
{
	struct stalls_kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->name = text_keep(s, name);
	if (!k->name || map_insert(&s->kernels, key, k)) {
		free(k);
		return -ENOMEM;
	}
	k->readable = readable(s, k->name);
	k->crc = crc;
	k->next = s->first;
	s->first = k;
	s->view.kernel_count++;
	*ret = k;
	return 0;
}

static bool kernel_is(const void *kernel, const void *wanted)
{
	const struct stalls_kernel *k = kernel, *w = wanted;

	return k->crc == w->crc && !strcmp(k->name, w->name);
}

static int kernel_get(struct stalls *s, const char *name, __u64 crc, struct stalls_kernel **ret)
{
	const struct stalls_kernel wanted = {.name = name, .crc = crc};
	__u64 key = map_mix(crc, 1);

	for (const char *c = name; *c; c++)
		key = map_mix(key, (unsigned char)*c);
	*ret = map_search(&s->kernels, &key, kernel_is, &wanted);
	return *ret ? 0 : kernel_add(s, name, crc, key, ret);
}

static unsigned int reason_get(struct stalls *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < s->reason_count; i++) {
		if (!strcmp(s->reasons[i], name))
			return i;
	}
	if (i == STALLS_REASONS)
		return i - 1;
	s->reasons[i] = strdup(name);
	if (s->reasons[i])
		s->reason_count++;
	return s->reasons[i] ? i : 0;
}

static bool cell_is(const void *cell, const void *wanted)
{
	const struct cell *c = cell, *w = wanted;

	return c->kernel == w->kernel && c->pc == w->pc && c->reason == w->reason;
}

static int cell_new(struct stalls *s, __u64 key, const struct cell *wanted, struct cell **ret)
{
	struct cell **larger;
	struct cell *cell;

	if (s->cell_count == s->cell_room) {
		larger = reallocarray(s->all, s->cell_room + 4096, sizeof(struct cell *));
		if (!larger)
			return -ENOMEM;
		s->all = larger;
		s->cell_room += 4096;
	}
	cell = malloc(sizeof(*cell));
	if (!cell || map_insert(&s->cells, key, cell)) {
		free(cell);
		return -ENOMEM;
	}
	*cell = *wanted;
	s->all[s->cell_count++] = cell;
	*ret = cell;
	return 0;
}

/* NULL in `*ret` when there are too many. */
static int cell_get(struct stalls *s, struct stalls_kernel *kernel, __u64 pc, __u32 reason,
		    struct cell **ret)
{
	const struct cell wanted = {.kernel = kernel, .pc = pc, .reason = reason};
	__u64 key = map_mix(map_mix(map_mix(0, (__u64)kernel), pc), reason);

	*ret = map_search(&s->cells, &key, cell_is, &wanted);
	if (*ret || s->cell_count == CELLS_MOST)
		return 0;
	return cell_new(s, key, &wanted, ret);
}

static int sample_add(struct stalls *s, const struct event *e)
{
	const struct cuprobe_pc_sample *p = e->pc_sample;
	const char *stall = process_stall_reason(e->process, p->device, p->stall);
	struct stalls_kernel *kernel;
	struct cell *cell;
	int err = kernel_get(s, process_name(e->process, p->function, true), p->crc, &kernel);

	if (!err && !kernel->process) {
		kernel->process = e->process;
		kernel->device = p->device;
		kernel->context = p->context;
	}
	if (!err)
		err = cell_get(s, kernel, p->pc_offset, reason_get(s, stall ? stall : "unknown"),
			       &cell);
	if (err)
		return err;
	if (!cell) {
		s->view.missed += p->samples;
		return 0;
	}
	cell->samples += p->samples;
	cell->not_issued += p->not_issued;
	return 0;
}

int stalls_event(struct stalls *s, const struct event *e)
{
	if (e->probe != CUPROBE_PROBE_pc_sample)
		return 0;
	switch (e->pc_sample->kind) {
	case CUPROBE_PC_SAMPLES:
		return sample_add(s, e);
	case CUPROBE_PC_NON_USER:
		s->view.rest.non_user += e->pc_sample->samples;
		return 0;
	case CUPROBE_PC_DROPPED:
		s->view.rest.dropped += e->pc_sample->samples;
		return 0;
	default:
		s->view.rest.other += e->pc_sample->samples;
		return 0;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct cell *x = *(struct cell *const *)a, *y = *(struct cell *const *)b;
	int order = strcmp(x->kernel->name, y->kernel->name);

	if (order)
		return order;
	if (x->kernel->crc != y->kernel->crc)
		return x->kernel->crc < y->kernel->crc ? -1 : 1;
	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->reason < y->reason ? -1 : 1;
}

static int by_samples(const void *a, const void *b)
{
	const struct stalls_kernel *x = *(struct stalls_kernel *const *)a;
	const struct stalls_kernel *y = *(struct stalls_kernel *const *)b;

	if (x->tally.samples != y->tally.samples)
		return x->tally.samples < y->tally.samples ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int line_order(const struct stalls_line *x, const struct stalls_line *y)
{
	int order;

	if (!x->file || !y->file) {
		if (x->file || y->file)
			return x->file ? -1 : 1;
		order = strcmp(x->kernel->name, y->kernel->name);
		return order ? order : (x->pc > y->pc) - (x->pc < y->pc);
	}
	order = strcmp(x->file, y->file);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_line(const void *a, const void *b)
{
	return line_order(a, b);
}

static int by_line_samples(const void *a, const void *b)
{
	const struct stalls_line *x = a, *y = b;

	if (x->tally.samples != y->tally.samples)
		return x->tally.samples < y->tally.samples ? 1 : -1;
	return line_order(x, y);
}

static void tally_add(struct stalls_tally *into, const struct stalls_tally *from)
{
	into->samples += from->samples;
	into->not_issued += from->not_issued;
	for (unsigned int i = 0; i < STALLS_REASONS; i++)
		into->reasons[i] += from->reasons[i];
}

static void cell_add(struct stalls_tally *into, const struct cell *cell)
{
	into->samples += cell->samples;
	into->not_issued += cell->not_issued;
	into->reasons[cell->reason] += cell->samples;
}

/* One line for each instruction, from its cells, of which `*at` is the first and then the next. */
static void line_read(struct stalls *s, const struct cubins *cubins, size_t *at,
		      struct stalls_line *line)
{
	const struct cell *first = s->all[*at];
	struct cubin_frame frames[CUBIN_FRAMES];
	const struct cubin *cubin = cubins_find(cubins, first->kernel->crc);
	unsigned int count;

	*line = (struct stalls_line){.pc = first->pc, .kernel = first->kernel};
	for (; *at < s->cell_count && s->all[*at]->kernel == first->kernel &&
	       s->all[*at]->pc == first->pc;
	     ++*at)
		cell_add(&line->tally, s->all[*at]);
	line->pc_samples = line->tally.samples;
	count = cubin_frames(cubin, first->kernel->name, first->pc, frames);
	first->kernel->has_cubin = cubin != NULL;
	line->function = first->kernel->readable;
	if (count && frames[0].file) {
		line->file = frames[0].file;
		line->line = frames[0].line;
	}
	if (count && strcmp(frames[0].function, first->kernel->name) != 0)
		line->function = readable(s, frames[0].function);
	tally_add(&first->kernel->tally, &line->tally);
	s->view.samples += line->tally.samples;
}

/* Instructions of one line become one. */
static void lines_join(struct stalls_view *v)
{
	size_t last = 0;

	for (size_t i = 1; i < v->line_count; i++) {
		struct stalls_line *into = &v->lines[last], *from = &v->lines[i];

		if (!from->file || line_order(into, from)) {
			v->lines[++last] = *from;
			continue;
		}
		if (from->pc_samples > into->pc_samples) {
			into->pc = from->pc;
			into->pc_samples = from->pc_samples;
			into->kernel = from->kernel;
			into->function = from->function;
		}
		tally_add(&into->tally, &from->tally);
	}
	v->line_count = v->line_count ? last + 1 : 0;
}

static int lines_make(struct stalls *s, const struct cubins *cubins)
{
	struct stalls_view *v = &s->view;
	size_t at = 0, room = 0;

	for (size_t i = 0; i < s->cell_count; i++)
		room += !i || s->all[i]->kernel != s->all[i - 1]->kernel ||
			s->all[i]->pc != s->all[i - 1]->pc;
	v->lines = calloc(room + 1, sizeof(*v->lines));
	if (!v->lines)
		return -ENOMEM;
	while (at < s->cell_count)
		line_read(s, cubins, &at, &v->lines[v->line_count++]);
	qsort(v->lines, v->line_count, sizeof(*v->lines), by_line);
	lines_join(v);
	qsort(v->lines, v->line_count, sizeof(*v->lines), by_line_samples);
	for (size_t i = 0; i < v->line_count; i++) {
		if (v->lines[i].file && !v->lines[i].kernel->hottest)
			v->lines[i].kernel->hottest = &v->lines[i];
	}
	return 0;
}

int stalls_finish(struct stalls *s, const struct cubins *cubins)
{
	struct stalls_view *v = &s->view;
	size_t at = 0;
	int err;

	if (s->cell_count)
		qsort(s->all, s->cell_count, sizeof(struct cell *), by_place);
	err = lines_make(s, cubins);
	v->kernels = calloc(v->kernel_count + 1, sizeof(struct stalls_kernel *));
	if (err || !v->kernels)
		return -ENOMEM;
	for (struct stalls_kernel *k = s->first; k; k = k->next)
		v->kernels[at++] = k;
	qsort(v->kernels, v->kernel_count, sizeof(struct stalls_kernel *), by_samples);
	return 0;
}

const struct stalls_view *stalls_view(const struct stalls *s)
{
	return &s->view;
}

const char *stalls_reason(const struct stalls *s, unsigned int reason)
{
	return reason < s->reason_count ? s->reasons[reason] : "unknown";
}

void stalls_each_kernel(const struct stalls *s,
			void (*each)(void *arg, const struct stalls_kernel *kernel), void *arg)
{
	for (const struct stalls_kernel *k = s->first; k; k = k->next)
		each(arg, k);
}

void stalls_each(const struct stalls *s, const struct cubins *cubins,
		 void (*each)(void *arg, const struct stalls_kernel *kernel,
			      const struct cubin_frame *frames, unsigned int frame_count,
			      unsigned int reason, __u64 samples),
		 void *arg)
{
	for (size_t i = 0; i < s->cell_count; i++) {
		const struct cell *cell = s->all[i];
		const struct cubin *cubin = cubins_find(cubins, cell->kernel->crc);
		struct cubin_frame frames[CUBIN_FRAMES];
		unsigned int count = cubin_frames(cubin, cell->kernel->name, cell->pc, frames);

		each(arg, cell->kernel, frames, count, cell->reason, cell->samples);
	}
}

static unsigned int next_reason(const struct stalls_tally *tally, const bool *told)
{
	unsigned int best = STALLS_REASONS;

	for (unsigned int i = 0; i < STALLS_REASONS; i++) {
		if (tally->reasons[i] && !told[i] &&
		    (best == STALLS_REASONS || tally->reasons[i] > tally->reasons[best]))
			best = i;
	}
	return best;
}

void stalls_words(const struct stalls *s, const struct stalls_tally *tally, char *text,
		  size_t bytes)
{
	bool told[STALLS_REASONS] = {false};
	size_t used = 0;

	*text = '\0';
	for (int i = 0; i < WORDS && used < bytes; i++) {
		unsigned int reason = next_reason(tally, told);
		int n;

		if (reason == STALLS_REASONS)
			return;
		told[reason] = true;
		n = snprintf(text + used, bytes - used, "%s%s %.0f %%", used ? ", " : "",
			     stalls_reason(s, reason),
			     100.0 * (double)tally->reasons[reason] / (double)tally->samples);
		used += n < 0 ? 0 : (size_t)n;
	}
}
