/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of all verbs: one meaning for each flag, and help made from the same table. */
#ifndef CUPROBE_COLLECTOR_OPTIONS_H
#define CUPROBE_COLLECTOR_OPTIONS_H

#include <stdbool.h>

#include <linux/types.h>
#include <sys/types.h>

#include "src/collector/session.h"

/* What a verb takes, and what its help says. */
struct verb_options {
	const char *usage;    /* "record [OPTION...] [--] [CMD...]" */
	const char *about;    /* one paragraph */
	const char *examples; /* one a line, indented by four */
	const char *accepts;  /* letters of the options, from the table in options.c */
	bool command;	      /* what follows the options is a command, with options of its own */
};

enum stacks {
	STACKS_DEFAULT,
	STACKS_OFF,
	STACKS_NATIVE,
	STACKS_PYTHON,
};

struct options {
	pid_t *pids; /* -p */
	unsigned int pid_count;
	bool all;	     /* -a */
	bool as_root;	     /* --as-root */
	const char *library; /* --library */
	enum via via;	     /* --via */
	__u32 probes;	     /* --kinds and --graphs: bit n is probe n; string, info and status
			      * always are in it */
	enum stacks stacks;  /* --stacks, which is in `probes` too */
	int by;		     /* --by: enum unfold_by */
	bool reverse;	     /* --reverse */
	const char *diff;    /* --diff; NULL */
	bool graph_stacks_capture; /* --graph-stacks=capture */

	__u64 duration_ns;  /* -d; 0: no limit */
	const char *output; /* -o; NULL */
	const char *format; /* -f; NULL */
	bool json;	    /* --json */
	bool nvtx;	    /* --nvtx */
	bool by_stack;	    /* report --stacks */
	bool stalls;	    /* --stalls */
	bool lines;	    /* --lines */
	bool html;	    /* --html */
	const char *source; /* --source; NULL */
	bool mangled;	    /* --mangled */
	bool quiet;	    /* -q */
	char **args;	    /* what is left, NULL terminated */
	unsigned int arg_count;
};

/*
 * False when the verb has to return `ret_status` at once: help was printed, or the command line
 * is wrong, which fail_usage has been told.
 */
bool options_parse(struct options *o, const struct verb_options *verb, int argc, char **argv,
		   int *ret_status);
void options_free(struct options *o);

/* Exactly one of -p, -a and a command; 0, or what fail_usage returned. */
int options_check_target(const struct options *o, const char *verb);

#endif
