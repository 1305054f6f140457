/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static __u64 text_hash(enum label_kind kind, const char *text)
{
	__u64 hash = 0xcbf29ce484222325ull + kind;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

struct wanted {
	enum label_kind kind;
	const char *text;
};

static bool label_is(const void *label, const void *wanted)
{
	const struct label *l = label;
	const struct wanted *w = wanted;

	return l->kind == w->kind && !strcmp(l->text, w->text);
}

static int label_new(struct labels *l, __u64 key, const struct wanted *w, const char *detail,
		     struct label **ret)
{
	size_t bytes = strlen(w->text) + 1;
	struct label *label = calloc(1, sizeof(*label) + bytes);

	if (!label)
		return -ENOMEM;
	label->detail = strdup(detail ? detail : "");
	if (!label->detail || map_insert(&l->by_hash, key, label)) {
		free(label->detail);
		free(label);
		return -ENOMEM;
	}
	memcpy(label->text, w->text, bytes);
	label->kind = w->kind;
	label->number = l->count++;
	label->next = l->all;
	l->all = label;
	*ret = label;
	return 0;
}

int labels_get(struct labels *l, enum label_kind kind, const char *text, const char *detail,
	       const struct label **ret)
{
	const struct wanted wanted = {kind, text};
	__u64 key = text_hash(kind, text);
	struct label *label = map_search(&l->by_hash, &key, label_is, &wanted);
	int err = label ? 0 : label_new(l, key, &wanted, detail, &label);

	if (!err)
		*ret = label;
	return err;
}

void labels_free(struct labels *l)
{
	struct label *next;

	for (struct label *label = l->all; label; label = next) {
		next = label->next;
		free(label->detail);
		free(label);
	}
	map_clear(&l->by_hash, NULL);
	*l = (struct labels){0};
}

const char *label_kind_name(enum label_kind kind)
{
	static const char *const names[LABEL_KINDS] = {
		[LABEL_GROUP] = "group",     [LABEL_PYTHON] = "python", [LABEL_NATIVE] = "native",
		[LABEL_INLINED] = "inlined", [LABEL_JIT] = "jit",	[LABEL_API] = "api",
		[LABEL_GPU] = "gpu",
	};

	return names[kind];
}

const char *label_suffix(enum label_kind kind)
{
	static const char *const suffixes[LABEL_KINDS] = {
		[LABEL_INLINED] = "_[i]",
		[LABEL_JIT] = "_[j]",
		[LABEL_GPU] = "_[g]",
	};

	return suffixes[kind] ? suffixes[kind] : "";
}
