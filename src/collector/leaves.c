/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/leaves.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/demangle.h"
#include "src/collector/map.h"
#include "src/collector/stalls.h"

struct kernel {
	struct kernel *next;
	const char *name; /* mangled, the stalls' */
	struct kernel_leaf *leaves;
	struct map by_hash; /* of the leaves */
	__u64 samples;
};

struct leaves {
	const struct stalls *stalls;
	bool mangled;
	struct kernel *kernels;
	int err;
};

static void leaf_free(struct kernel_leaf *leaf)
{
	for (unsigned int i = 0; i < leaf->function_count; i++)
		free((char *)leaf->functions[i]);
	free(leaf->functions);
	free((char *)leaf->place);
	free(leaf);
}

void leaves_free(struct leaves *l)
{
	struct kernel *next_kernel;
	struct kernel_leaf *next;

	if (!l)
		return;
	for (struct kernel *k = l->kernels; k; k = next_kernel) {
		next_kernel = k->next;
		for (struct kernel_leaf *leaf = k->leaves; leaf; leaf = next) {
			next = leaf->next;
			leaf_free(leaf);
		}
		map_clear(&k->by_hash, NULL);
		free(k);
	}
	free(l);
}

static struct kernel *kernel_find(const struct leaves *l, const char *name)
{
	struct kernel *k = l->kernels;

	while (k && strcmp(k->name, name) != 0)
		k = k->next;
	return k;
}

/* Samples come kernel by kernel, so that the newest is the one that is looked for. */
static struct kernel *kernel_get(struct leaves *l, const char *name)
{
	struct kernel *k = kernel_find(l, name);

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->name = name;
	k->next = l->kernels;
	l->kernels = k;
	return k;
}

static char *function_name(const struct leaves *l, const char *function)
{
	char *readable = l->mangled ? NULL : demangle(function);

	return readable ? readable : strdup(function);
}

static int leaf_fill(const struct leaves *l, struct kernel_leaf *leaf, const char *kernel,
		     const struct cubin_frame *frames, unsigned int count)
{
	const char *slash;
	char *place = NULL;

	leaf->functions = calloc(count + 1, sizeof(char *));
	if (!leaf->functions)
		return -ENOMEM;
	for (unsigned int i = count; i > 0; i--) {
		if (i == count && !strcmp(frames[i - 1].function, kernel))
			continue; /* the kernel itself */
		leaf->functions[leaf->function_count] = function_name(l, frames[i - 1].function);
		if (!leaf->functions[leaf->function_count])
			return -ENOMEM;
		leaf->function_count++;
	}
	if (!count || !frames[0].file)
		return 0;
	slash = strrchr(frames[0].file, '/');
	leaf->path = frames[0].file;
	if (asprintf(&place, "%s:%u", slash ? slash + 1 : frames[0].file, frames[0].line) < 0)
		return -ENOMEM;
	leaf->place = place;
	return 0;
}

static bool texts_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static __u64 text_mix(__u64 hash, const char *text)
{
	for (; text && *text; text++)
		hash = map_mix(hash, (unsigned char)*text);
	return map_mix(hash, 256);
}

static __u64 leaf_hash(const struct kernel_leaf *leaf)
{
	__u64 hash = text_mix(map_mix(0, (uintptr_t)leaf->reason), leaf->place);

	for (unsigned int i = 0; i < leaf->function_count; i++)
		hash = text_mix(hash, leaf->functions[i]);
	return hash;
}

static bool leaf_is(const void *leaf, const void *wanted)
{
	const struct kernel_leaf *a = leaf, *b = wanted;

	if (a->function_count != b->function_count || !texts_equal(a->place, b->place) ||
	    !texts_equal(a->path, b->path) || a->reason != b->reason)
		return false;
	for (unsigned int i = 0; i < a->function_count; i++) {
		if (strcmp(a->functions[i], b->functions[i]) != 0)
			return false;
	}
	return true;
}

static void leaves_add(void *arg, const struct stalls_kernel *kernel,
		       const struct cubin_frame *frames, unsigned int count, unsigned int reason,
		       __u64 samples)
{
	struct leaves *l = arg;
	struct kernel *k = kernel_get(l, kernel->name);
	struct kernel_leaf *leaf = k ? calloc(1, sizeof(*leaf)) : NULL, *same;
	__u64 key;

	if (!leaf || leaf_fill(l, leaf, kernel->name, frames, count)) {
		l->err = -ENOMEM;
		if (leaf)
			leaf_free(leaf);
		return;
	}
	leaf->reason = stalls_reason(l->stalls, reason);
	k->samples += samples;
	key = leaf_hash(leaf);
	same = map_search(&k->by_hash, &key, leaf_is, leaf);
	if (same || map_insert(&k->by_hash, key, leaf)) {
		if (same)
			same->samples += samples;
		else
			l->err = -ENOMEM;
		leaf_free(leaf);
		return;
	}
	leaf->samples = samples;
	leaf->next = k->leaves;
	k->leaves = leaf;
}

int leaves_open(struct leaves **ret, const struct stalls *stalls, const struct cubins *cubins,
		bool mangled)
{
	struct leaves *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->stalls = stalls;
	l->mangled = mangled;
	stalls_each(stalls, cubins, leaves_add, l);
	err = l->err;
	if (err)
		leaves_free(l);
	else
		*ret = l;
	return err;
}

const struct kernel_leaf *leaves_of(const struct leaves *l, const char *kernel, __u64 *ret_samples)
{
	const struct kernel *k = l ? kernel_find(l, kernel) : NULL;

	if (!k)
		return NULL;
	*ret_samples = k->samples;
	return k->leaves;
}
