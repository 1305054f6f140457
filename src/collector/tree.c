/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/labels.h"

static int child_get(struct tree *t, struct tree_node *parent, const struct label *label,
		     struct tree_node **ret)
{
	__u64 key = parent->number << 32 | label->number;
	struct tree_node *n = map_find(&t->children, key);

	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n || map_insert(&t->children, key, n)) {
			free(n);
			return -ENOMEM;
		}
		n->label = label;
		n->parent = parent;

		n->number = ++t->count;
		n->next = parent->children;
		parent->children = n;
	}
	*ret = n;
	return 0;
}

static void node_add(struct tree_node *n, const struct tree_weight *weight)
{
	n->gpu_ns += weight->gpu_ns;
	n->other_ns += weight->other_ns;
	n->works += weight->works;
}

int tree_add(struct tree *t, const struct label *const *path, unsigned int count,
	     const struct tree_weight *weight)
{
	struct tree_node *n = &t->root;
	int err = 0;

	node_add(n, weight);
	for (unsigned int i = 0; i < count && !err; i++) {
		err = child_get(t, n, path[i], &n);
		if (!err)
			node_add(n, weight);
	}
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct tree_node *x = *(struct tree_node *const *)a;
	const struct tree_node *y = *(struct tree_node *const *)b;
	int order;

	if (x->gpu_ns != y->gpu_ns)
		return x->gpu_ns < y->gpu_ns ? 1 : -1;
	if (x->other_ns != y->other_ns)
		return x->other_ns < y->other_ns ? 1 : -1;
	order = strcmp(x->label->text, y->label->text);
	return order ? order : (int)x->label->kind - (int)y->label->kind;
}

/* `room` has place for all nodes of the tree. */
static void children_sort(struct tree_node *parent, struct tree_node **room)
{
	struct tree_node **end = &parent->children;
	size_t count = 0;

	for (struct tree_node *n = parent->children; n; n = n->next)
		room[count++] = n;
	qsort(room, count, sizeof(*room), by_time);
	for (size_t i = 0; i < count; i++) {
		*end = room[i];
		end = &room[i]->next;
	}
	*end = NULL;
}

struct sorting {
	struct tree_node **room;
};

static void node_sort(void *arg, void *value)
{
	struct sorting *s = arg;

	children_sort(value, s->room);
}

int tree_sort(struct tree *t)
{
	struct sorting s = {calloc(t->count + 1, sizeof(*s.room))};

	if (!s.room)
		return -ENOMEM;
	children_sort(&t->root, s.room);
	map_each(&t->children, node_sort, &s);
	free(s.room);
	return 0;
}

void tree_free(struct tree *t)
{
	map_clear(&t->children, free);
	*t = (struct tree){0};
}
