/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/nvtx_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/map.h"
#include "src/collector/model.h"
#include "src/collector/nvtx_names.h"
#include "src/collector/nvtx_ranges.h"
#include "src/collector/spread.h"
#include "src/collector/summary.h"
#include "src/collector/table.h"

#define ROWS_MOST (1u << 18)

struct row {
	struct row *next;
	struct process *process;
	__u32 message, domain;
	__u32 kind; /* enum cuprobe_nvtx_kind: PUSH, START, MARK, ACQUIRE or RELEASE */
	const char *name, *domain_name;
	struct spread times;
	__u64 gpu_ns, kernel_ns, kernels, graphs, copies;
	__u64 gpu_unknown; /* ranges whose GPU work was not counted */
};

struct nvtx_report {
	struct nvtx_ranges *ranges;
	struct map rows; /* by hash; rows of one hash are told apart */
	struct row *all;
	size_t count;
	__u64 dropped; /* ranges that would have needed more rows */
	struct row **sorted;
};

static __u64 row_key(const struct process *p, const struct cuprobe_nvtx *n)
{
	__u64 key = (__u64)p->number << 32 | n->message;

	return (key * 0x9e3779b97f4a7c15ull ^ (__u64)n->domain << 8 ^ n->kind) *
	       0x9e3779b97f4a7c15ull;
}

/* NULL in `*ret` when there are too many. */
static int row_get(struct nvtx_report *r, struct process *p, const struct cuprobe_nvtx *n,
		   struct row **ret)
{
	__u64 key = row_key(p, n);
	struct row *row = map_find(&r->rows, key);

	*ret = row;
	if (row)
		return 0;
	if (r->count == ROWS_MOST) {
		r->dropped++;
		return 0;
	}
	row = calloc(1, sizeof(*row));
	if (!row || map_insert(&r->rows, key, row)) {
		free(row);
		return -ENOMEM;
	}
	row->process = p;
	row->message = n->message;
	row->domain = n->domain;
	row->kind = n->kind;
	row->next = r->all;
	r->all = row;
	r->count++;
	*ret = row;
	return 0;
}

static int report_range(void *arg, const struct nvtx_range *range)
{
	struct nvtx_report *r = arg;
	struct row *row;
	int err = row_get(r, range->process, &range->start, &row);

	if (err || !row)
		return err;
	row->gpu_unknown += !range->gpu_known;
	for (const struct nvtx_gpu *g = range->gpu; g; g = g->next) {
		row->gpu_ns += g->gpu_ns;
		row->kernel_ns += g->kernel_ns;
		row->kernels += g->kernels;
		row->graphs += g->graphs;
		row->copies += g->copies + g->memsets;
	}
	return spread_add(&row->times, range->end_ns - range->start.time_ns);
}

static int report_mark(void *arg, struct process *p, const struct cuprobe_nvtx *mark)
{
	struct row *row;
	int err = row_get(arg, p, mark, &row);

	return err || !row ? err : spread_add(&row->times, 0);
}

int nvtx_report_open(struct nvtx_report **ret)
{
	struct nvtx_report *r = calloc(1, sizeof(*r));
	const struct nvtx_ranges_handler handler = {
		.range = report_range, .mark = report_mark, .arg = r};
	int err;

	if (!r)
		return -ENOMEM;
	err = nvtx_ranges_open(&r->ranges, &handler);
	if (err) {
		free(r);
		return err;
	}
	*ret = r;
	return 0;
}

void nvtx_report_free(struct nvtx_report *r)
{
	struct row *next;

	if (!r)
		return;
	nvtx_ranges_free(r->ranges);
	map_clear(&r->rows, NULL);
	for (struct row *row = r->all; row; row = next) {
		next = row->next;
		spread_free(&row->times);
		free(row);
	}
	free(r->sorted);
	free(r);
}

int nvtx_report_event(void *report, const struct event *e)
{
	struct nvtx_report *r = report;

	return nvtx_ranges_event(r->ranges, e);
}

static void row_name(struct row *row)
{
	row->name = row->message ? process_name(row->process, row->message, true) : "(no name)";
	if (row->message && !process_string(row->process, row->message, NULL))
		row->name = "(a name that was not received)";
	row->domain_name = row->domain ? process_nvtx_domain(row->process, row->domain) : "";
	if (!row->domain_name)
		row->domain_name = "?";
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->domain_name, y->domain_name);
	return order ? order : (int)x->kind - (int)y->kind;
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	if (x->times.sum != y->times.sum)
		return x->times.sum < y->times.sum ? 1 : -1;
	return by_name(a, b);
}

static int row_merge(struct row *into, const struct row *from)
{
	into->gpu_ns += from->gpu_ns;
	into->kernel_ns += from->kernel_ns;
	into->kernels += from->kernels;
	into->graphs += from->graphs;
	into->copies += from->copies;
	into->gpu_unknown += from->gpu_unknown;
	return spread_merge(&into->times, &from->times);
}

/* Several processes, or several string ids, have rows of one name. */
static int rows_join(struct nvtx_report *r)
{
	size_t last = 0;

	for (size_t i = 1; i < r->count; i++) {
		if (by_name(&r->sorted[last], &r->sorted[i])) {
			r->sorted[++last] = r->sorted[i];
			continue;
		}
		if (row_merge(r->sorted[last], r->sorted[i]))
			return -ENOMEM;
	}
	r->count = r->count ? last + 1 : 0;
	return 0;
}

int nvtx_report_finish(struct nvtx_report *r, __u64 end_ns)
{
	int err = nvtx_ranges_finish(r->ranges, end_ns);
	size_t at = 0;

	if (err)
		return err;
	r->sorted = calloc(r->count + 1, sizeof(*r->sorted));
	if (!r->sorted)
		return -ENOMEM;
	for (struct row *row = r->all; row; row = row->next) {
		row_name(row);
		r->sorted[at++] = row;
	}
	qsort(r->sorted, r->count, sizeof(*r->sorted), by_name);
	err = rows_join(r);
	qsort(r->sorted, r->count, sizeof(*r->sorted), by_time);
	return err;
}

static const char *kind_words(__u32 kind)
{
	if (kind == CUPROBE_NVTX_PUSH)
		return "push/pop";
	return kind == CUPROBE_NVTX_START ? "start/end" : nvtx_kind_name(kind);
}

static void row_print(struct table *t, const struct row *row)
{
	table_number(t, row->times.count);
	table_number(t, row->times.sum);
	table_real(t, row->times.mean);
	table_number(t, spread_median(&row->times));
	table_number(t, row->times.greatest);
	table_number(t, row->gpu_ns);
	table_number(t, row->kernel_ns);
	table_number(t, row->kernels);
	table_number(t, row->graphs);
	table_number(t, row->copies);
	table_text(t, kind_words(row->kind));
	table_text(t, row->domain_name);
	table_text(t, row->name);
}

static void print_note(const struct summary_opts *opts, const char *key, __u64 count,
		       const char *words)
{
	if (opts->json)
		fprintf(opts->out, ",\n\"%s\":%llu", key, count);
	else if (count)
		fprintf(opts->out, "%llu %s\n", count, words);
}

static void print_notes(const struct nvtx_report *r, const struct summary_opts *opts)
{
	struct nvtx_counts c = nvtx_ranges_counts(r->ranges);
	__u64 unknown = 0;

	for (size_t i = 0; i < r->count; i++)
		unknown += r->sorted[i]->gpu_unknown;
	print_note(opts, "nvtx_unfinished", c.unfinished,
		   "ranges were open when their thread or the recording ended");
	print_note(opts, "nvtx_pops_without_push", c.pops_without_push,
		   "pops had no push in the recording");
	print_note(opts, "nvtx_ends_without_start", c.ends_without_start,
		   "ends had no start in the recording");
	print_note(opts, "nvtx_gpu_unknown", unknown,
		   "start/end ranges were too many at one time, or came too late, to count their "
		   "GPU work");
	print_note(opts, "nvtx_too_many", c.too_many + r->dropped, "ranges were too many to keep");
	print_note(opts, "nvtx_strays", c.strays,
		   "GPU activities belong to no range, because their launch was not recorded");
}

int nvtx_report_print(struct nvtx_report *r, const struct summary_opts *opts)
{
	static const struct table_column columns[] = {
		{"Calls", "calls", TABLE_COUNT},
		{"CPU time", "cpu_ns", TABLE_DURATION},
		{"Avg", "avg_ns", TABLE_DURATION},
		{"Median", "median_ns", TABLE_DURATION},
		{"Max", "max_ns", TABLE_DURATION},
		{"GPU time", "gpu_ns", TABLE_DURATION},
		{"of kernels", "kernel_ns", TABLE_DURATION},
		{"Kernels", "kernels", TABLE_COUNT},
		{"Graphs", "graphs", TABLE_COUNT},
		{"Copies", "copies", TABLE_COUNT},
		{"Kind", "kind", TABLE_TEXT},
		{"Domain", "domain", TABLE_TEXT},
		{"Range", "name", TABLE_TEXT},
		{NULL, NULL, TABLE_TEXT},
	};
	struct table *t = table_new("NVTX ranges (GPU: work launched inside)", "nvtx", columns);
	int err;

	for (size_t i = 0; i < r->count; i++)
		row_print(t, r->sorted[i]);
	err = summary_print_table(t, opts, r->count);
	if (!err)
		print_notes(r, opts);
	return err;
}
