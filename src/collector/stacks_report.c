/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/stacks_report.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/json.h"
#include "src/collector/profile.h"
#include "src/collector/summary.h"
#include "src/collector/table.h"
#include "src/collector/tree.h"
#include "src/collector/unfold.h"

#define MOST_STACKS 20 /* in text; JSON has all */

/* The end of a stack: its frames are the parents. */
struct leaf {
	const struct tree_node *node;
	__u64 gpu_ns, works; /* without what goes on from there */
};

struct stacks_report {
	struct profile *profile;
	struct unfold unfold;
	struct tree tree;
	struct leaf *leaves;
	size_t count;
};

int stacks_report_open(struct stacks_report **ret, const struct profile_opts *opts)
{
	struct stacks_report *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	err = profile_open(&r->profile, opts);
	if (err) {
		free(r);
		return err;
	}
	*ret = r;
	return 0;
}

void stacks_report_free(struct stacks_report *r)
{
	if (!r)
		return;
	free(r->leaves);
	tree_free(&r->tree);
	unfold_free(&r->unfold);
	profile_free(r->profile);
	free(r);
}

int stacks_report_event(struct stacks_report *r, const struct event *e)
{
	return profile_event(r->profile, e);
}

static int report_unfold(struct stacks_report *r)
{
	int err = profile_finish(r->profile);

	for (const struct sample *s = profile_samples(r->profile); s && !err; s = s->next) {
		const struct tree_weight weight = {.gpu_ns = s->gpu_ns, .works = s->works};

		err = unfold_sample(&r->unfold, r->profile, s, UNFOLD_BY_KERNEL, false);
		if (!err)
			err = tree_add(&r->tree, r->unfold.path, r->unfold.count, &weight);
	}
	if (err)
		return err;
	r->leaves = calloc(r->tree.count + 1, sizeof(*r->leaves));
	return r->leaves ? tree_sort(&r->tree) : -ENOMEM;
}

static void report_leaves(struct stacks_report *r, const struct tree_node *node)
{
	struct leaf leaf = {node, node->gpu_ns, node->works};

	for (const struct tree_node *n = node->children; n; n = n->next) {
		leaf.gpu_ns -= n->gpu_ns;
		leaf.works -= n->works;
		report_leaves(r, n);
	}
	if (leaf.works)
		r->leaves[r->count++] = leaf;
}

static int by_time(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->gpu_ns != y->gpu_ns)
		return x->gpu_ns < y->gpu_ns ? 1 : -1;
	return x->node->number < y->node->number ? -1 : x->node->number > y->node->number;
}

#define INDENT 10

static void print_frame(const struct label *label, const struct summary_opts *opts)
{
	size_t bytes = strlen(label->text),
	       room = opts->width > 2 * INDENT ? opts->width : SIZE_MAX;

	fprintf(opts->out, "%*s", INDENT, "");
	print_clean(opts->out, label->text, bytes < room - 2 * INDENT ? bytes : room - 2 * INDENT);
	fprintf(opts->out, "%s\n", label_suffix(label->kind));
}

static void print_leaf(const struct stacks_report *r, const struct leaf *leaf,
		       const struct summary_opts *opts)
{
	char time[32];

	fprintf(opts->out, "\n%6.2f %%  %s, %llu %s\n",
		100 * share(leaf->gpu_ns, r->tree.root.gpu_ns),
		format_duration(time, (double)leaf->gpu_ns), leaf->works,
		leaf->works == 1 ? "time" : "times");
	for (const struct tree_node *n = leaf->node; n->label; n = n->parent)
		print_frame(n->label, opts);
}

static void print_text(const struct stacks_report *r, const struct summary_opts *opts)
{
	struct profile_totals t = profile_totals(r->profile);
	char text[PROFILE_TOTALS_TEXT];

	fprintf(opts->out, "\nGPU time by CPU stack: %s\n", profile_totals_text(text, &t));
	for (size_t i = 0; i < r->count && i < MOST_STACKS; i++)
		print_leaf(r, &r->leaves[i], opts);
	if (r->count > MOST_STACKS)
		fprintf(opts->out,
			"\n%zu more: see --json, `cuprobe flame`, or `cuprobe export -f folded`\n",
			r->count - MOST_STACKS);
}

static void print_json_leaf(const struct leaf *leaf, FILE *out)
{
	const char *separator = "";

	fprintf(out, "{\"gpu_ns\":%llu,\"works\":%llu,\"frames\":[", leaf->gpu_ns, leaf->works);
	for (const struct tree_node *n = leaf->node; n->label; n = n->parent) {
		fprintf(out, "%s{\"kind\":\"%s\",\"name\":", separator,
			label_kind_name(n->label->kind));
		json_write_string(out, n->label->text, strlen(n->label->text));
		fputc('}', out);
		separator = ",";
	}
	fputs("]}", out);
}

static void print_json(const struct stacks_report *r, FILE *out)
{
	struct profile_totals t = profile_totals(r->profile);

	fprintf(out, ",\n\"stacks_gpu_ns\":%llu,\"stacks_unlaunched_ns\":%llu,", t.gpu_ns,
		t.unlaunched_ns);
	fprintf(out, "\"stacks_unstacked_ns\":%llu,\n\"stacks\":[", t.unstacked_ns);
	for (size_t i = 0; i < r->count; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_json_leaf(&r->leaves[i], out);
	}
	fputs("\n]", out);
}

int stacks_report_print(struct stacks_report *r, const struct summary_opts *opts)
{
	int err = report_unfold(r);

	if (err)
		return err;
	report_leaves(r, &r->tree.root);
	qsort(r->leaves, r->count, sizeof(*r->leaves), by_time);
	if (opts->json)
		print_json(r, opts->out);
	else
		print_text(r, opts);
	return 0;
}
