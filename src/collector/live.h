/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording under way: a session, run as the command line says, until ^C, the time, or the end
 * of what is traced. What record, stat and trace have in common.
 */
#ifndef CUPROBE_COLLECTOR_LIVE_H
#define CUPROBE_COLLECTOR_LIVE_H

#include <stddef.h>

#include "cuprobe/transport.h"

struct live;
struct model;
struct options;
struct session_info;

/* What it is told to; each may be NULL, and ends the recording by a negative errno. */
struct live_handler {
	int (*batch)(void *arg, const struct cuprobe_batch_header *h, const void *data);
	/* A process, as in procinfo.h; the model has been told. */
	int (*process)(void *arg, const char *json, size_t bytes);
	/* At the end, after the last batch; the model has been told. */
	int (*losses)(void *arg, const struct cuprobe_loss_key *key,
		      const struct cuprobe_loss *loss);
	/* Some times a second. */
	int (*tick)(void *arg);
	void *arg;
};

/*
 * Attaches to what `o` names; a command waits. All three return 0 or the exit status, having told
 * error.h what failed. The model and the options outlive it.
 */
int live_open(struct live **ret, const struct options *o, struct model *model);
/* Lets the command go, and delivers until it is over; only then `handler` was given all. */
int live_run(struct live *l, const struct live_handler *handler);
/* Waits for a command that was let go and goes on; its exit status, or 0 without one. */
int live_wait(struct live *l);
void live_free(struct live *l);

/* Start is known after live_open, the end after live_run. */
const struct session_info *live_info(const struct live *l);

#endif
