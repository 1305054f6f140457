/* SPDX-License-Identifier: Apache-2.0 */
/* The summary: what `stat` and `report` print, and `record` at its end. */
#ifndef CUPROBE_COLLECTOR_SUMMARY_H
#define CUPROBE_COLLECTOR_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/types.h>
#include <sys/types.h>

struct model;
struct nvtx_report;
struct session_info;
struct stats;

struct summary_opts {
	FILE *out;
	bool json;
	unsigned int width;		 /* of the terminal; 0: lines are not cut */
	const struct session_info *info; /* end_ns 0: until the last event */
	const char *ends_early;		 /* how the capture is incomplete; NULL: it is whole */
	__u32 probes;			 /* bit n: show the tables that probe n fills */
	const pid_t *pids;		 /* of these only; NULL: of all */
	unsigned int pid_count;
	struct nvtx_report *nvtx; /* NULL: no table of NVTX ranges */
	/* Prints tables of its own before the ledger; NULL: there are none. */
	int (*more)(void *arg, const struct summary_opts *opts);
	void *arg;
};

/* After stats_finish. 0 or a negative errno. */
int summary_print(struct stats *s, struct model *m, const struct summary_opts *opts);

/* Parts, each in a file of its own; all print to opts->out. */
int summary_print_ledger(struct model *m, const struct summary_opts *opts);
bool summary_wants(const struct summary_opts *opts, pid_t pid);
struct table;
/* Prints if it has rows, or in JSON always; frees. NULL is without memory. */
int summary_print_table(struct table *t, const struct summary_opts *opts, size_t rows);

#endif
