/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of GPU work: what all executions of a kernel or graph on one stream have in common, or all
 * copies of one direction.
 */
#ifndef CUPROBE_COLLECTOR_WORKS_H
#define CUPROBE_COLLECTOR_WORKS_H

#include <stdbool.h>

#include "cuprobe/abi.h"
#include "src/collector/map.h"

struct event;
struct process;

struct work {
	struct work *next; /* the one that came before */
	struct process *process;
	__u32 image; /* of the process */
	enum cuprobe_probe_id probe;
	__u64 key;     /* what tells it from others of its probe */
	__u32 name_id; /* string id; 0 when the name comes from the key */
	__u32 device, context, stream;
	char *name; /* never NULL after works_finish */
};

/* Zeroed is empty. */
struct works {
	bool mangled; /* names of kernels as they are in the binary */
	struct map by_hash;
	struct work *all;
};

/* The kind of what a kernel, graph, memcpy or memset record tells of. 0 or -ENOMEM. */
int works_get(struct works *w, const struct event *e, struct work **ret);
/* Work that no record tells of: `from` without a name, which is copied from `name`. 0 or -ENOMEM.
 */
int works_add(struct works *w, const struct work *from, const char *name, struct work **ret);
/* Names what is left without a name. 0 or -ENOMEM. */
int works_finish(struct works *w);
void works_free(struct works *w);

#endif
