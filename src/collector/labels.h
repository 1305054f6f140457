/* SPDX-License-Identifier: Apache-2.0 */
/* The words on frames, each kept once. */
#ifndef CUPROBE_COLLECTOR_LABELS_H
#define CUPROBE_COLLECTOR_LABELS_H

#include "src/collector/map.h"

enum label_kind {
	LABEL_GROUP, /* what samples are grouped by, and what could not be told */
	LABEL_PYTHON,
	LABEL_NATIVE,
	LABEL_INLINED,
	LABEL_JIT,
	LABEL_API,
	LABEL_GPU,
	LABEL_KINDS
};

struct label {
	struct label *next; /* the one that came before */
	__u32 number;	    /* 0, 1, ... */
	enum label_kind kind;
	char *detail; /* of the first: where it is defined, or what is the matter; "" nothing */
	char text[];
};

/* Zeroed is empty. */
struct labels {
	struct map by_hash;
	struct label *all;
	__u32 count;
};

/* The label of this kind and text; `detail` may be NULL. 0 or -ENOMEM. */
int labels_get(struct labels *l, enum label_kind kind, const char *text, const char *detail,
	       const struct label **ret);
void labels_free(struct labels *l);

/* "python", ...: for style sheets. */
const char *label_kind_name(enum label_kind kind);
/* What folded files add to the text: "_[g]", or "". */
const char *label_suffix(enum label_kind kind);

#endif
