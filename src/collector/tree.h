/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as a tree: what a flame graph draws, and `report --stacks` prints. */
#ifndef CUPROBE_COLLECTOR_TREE_H
#define CUPROBE_COLLECTOR_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/collector/map.h"

struct label;

/* A frame and those under it. */
struct tree_node {
	const struct label *label;	   /* NULL: the root */
	struct tree_node *children, *next; /* siblings: after tree_sort the largest first */
	const struct tree_node *parent;

	__u64 number;
	__u64 gpu_ns;	/* with all under it */
	__u64 other_ns; /* the same of the recording that it is compared with */
	__u64 works;
};

/* Zeroed is empty. */
struct tree {
	struct tree_node root;
	struct map children; /* by number of the parent and of the label */
	__u64 count;
};

struct tree_weight {
	__u64 gpu_ns, other_ns, works;
};

/* Adds a stack, from the root. 0 or -ENOMEM. */
int tree_add(struct tree *t, const struct label *const *path, unsigned int count,
	     const struct tree_weight *weight);
/* By time, then by name. 0 or -ENOMEM. */
int tree_sort(struct tree *t);
void tree_free(struct tree *t);

#endif
