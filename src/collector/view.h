/* SPDX-License-Identifier: Apache-2.0 */
/* A capture played into a model and a sink: what every verb that reads one has in common. */
#ifndef CUPROBE_COLLECTOR_VIEW_H
#define CUPROBE_COLLECTOR_VIEW_H

#include "src/collector/capture.h"
#include "src/collector/decode.h"
#include "src/collector/progress.h"

struct model;
struct options;

struct view {
	const char *path;
	const struct options *options; /* -p and --kinds choose what the sink sees */
	struct model *model;
	struct session_info info; /* complete after view_play */
	struct capture_reader *reader;
	struct event_sink sink;
	__u32 also;   /* bit n: the sink sees events of probe n whatever --kinds says */
	int sink_err; /* what the sink ended view_play with; error.h was not told of it */
	struct progress progress;
};

/*
 * Opens the capture that the command line names. All but `options` is set here; the sink is to be
 * set before view_play. Both return 0, or the exit status, having told error.h what failed.
 */
int view_open(struct view *v, const struct options *options);
int view_play(struct view *v);
void view_close(struct view *v);
/* How the capture is incomplete; NULL when it is whole. */
const char *view_ends_early(const struct view *v);
/* Whether `path`, which may be NULL, may be written: not when it is the capture. The exit status.
 */
int view_check_output(const struct view *v, const char *path);

#endif
