/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/gone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/labels.h"
#include "src/collector/table.h"
#include "src/collector/tree.h"

#define NAMED 3 /* the largest; of others there is only the number */
#define NAME_LONGEST 48

struct gone {
	const struct label *label;
	__u64 ns;
};

/* The frames nearest to the root that have no time any more. */
static void gone_collect(const struct tree_node *parent, struct gone *gone, size_t *count)
{
	for (const struct tree_node *n = parent->children; n; n = n->next) {
		if (n->gpu_ns)
			gone_collect(n, gone, count);
		else if (n->other_ns)
			gone[(*count)++] = (struct gone){n->label, n->other_ns};
	}
}

static int by_label(const void *a, const void *b)
{
	const struct gone *x = a, *y = b;

	return x->label->number < y->label->number ? -1 : x->label->number > y->label->number;
}

static int by_time(const void *a, const void *b)
{
	const struct gone *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return by_label(a, b);
}

/* One for each label; their number. */
static size_t gone_merge(struct gone *gone, size_t count)
{
	size_t merged = 0;

	qsort(gone, count, sizeof(*gone), by_label);
	for (size_t i = 0; i < count; i++) {
		if (merged && gone[merged - 1].label == gone[i].label)
			gone[merged - 1].ns += gone[i].ns;
		else
			gone[merged++] = gone[i];
	}
	qsort(gone, merged, sizeof(*gone), by_time);
	return merged;
}

static void gone_print(const struct gone *gone, size_t count, const char *other, FILE *out)
{
	char time[32];
	__u64 all = 0;

	for (size_t i = 0; i < count; i++)
		all += gone[i].ns;
	fprintf(out, "%s only in %s, not drawn: ", format_duration(time, (double)all), other);
	for (size_t i = 0; i < count && i < NAMED; i++) {
		const char *text = gone[i].label->text;

		fputs(i ? ", " : "", out);
		print_clean(out, text, strnlen(text, NAME_LONGEST));
		fprintf(out, "%s %s", text[strnlen(text, NAME_LONGEST)] ? "..." : "",
			format_duration(time, (double)gone[i].ns));
	}
	if (count > NAMED)
		fprintf(out, ", %zu more", count - NAMED);
}

char *gone_describe(const struct tree *t, const char *other)
{
	struct gone *gone = calloc(t->count + 1, sizeof(*gone));
	size_t count = 0, bytes;
	char *text = NULL;
	FILE *out = gone ? open_memstream(&text, &bytes) : NULL;

	if (out) {
		gone_collect(&t->root, gone, &count);
		count = gone_merge(gone, count);
		if (count)
			gone_print(gone, count, other, out);
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	free(gone);
	return text;
}
