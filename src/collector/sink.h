/* SPDX-License-Identifier: Apache-2.0 */
/* An output: one file in src/collector/output/, one line in the table in sinks.c. */
#ifndef CUPROBE_COLLECTOR_SINK_H
#define CUPROBE_COLLECTOR_SINK_H

#include <stdbool.h>
#include <stdio.h>

#include "cuprobe/abi.h"

struct event;
struct model;
struct session_info;
struct sink;

struct sink_opts {
	const char *path;		 /* output file; "-" is stdout */
	const struct session_info *info; /* when and how the events were recorded */
	struct model *model;		 /* outlives the sink */
	bool mangled;			 /* names as they are in the binaries */
	FILE *remarks; /* what readers of the output should know, a line each; NULL: nowhere */
};

/*
 * open: writes to a temporary name beside `path`, so that nothing half-written is ever seen.
 * event: any order, any kind; a sink ignores what it has no use for.
 * flush: writes out what is buffered, for live outputs; NULL: only files are written.
 * close: with `commit` finishes the output and renames it into place, else removes it; frees.
 * All return 0 or a negative errno; every call but open takes NULL.
 */
struct sink_ops {
	const char *name;
	const char *help;
	const char *suffix; /* of the default output file name, ".json" */
	__u32 also;	    /* bit n: is given the events of probe n whatever --kinds says */
	int (*open)(struct sink **ret, const struct sink_opts *opts);
	int (*event)(struct sink *sink, const struct event *e);
	int (*flush)(struct sink *sink);
	int (*close)(struct sink *sink, bool commit);
};

extern const struct sink_ops sink_chrome;
extern const struct sink_ops sink_csv;
extern const struct sink_ops sink_folded;
extern const struct sink_ops sink_pprof;
extern const struct sink_ops sink_text;
extern const struct sink_ops sink_jsonl;

const struct sink_ops *sink_find(const char *name);
/* In the order of the table; NULL after the last. */
const struct sink_ops *sink_at(unsigned int index);

#endif
