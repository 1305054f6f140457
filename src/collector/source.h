/* SPDX-License-Identifier: Apache-2.0 */
/* A way in which batches come to us: from the probes by BPF, or through the direct channel. */
#ifndef CUPROBE_COLLECTOR_SOURCE_H
#define CUPROBE_COLLECTOR_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cuprobe/transport.h"

struct child_opts;
struct session_opts;
struct source;

/* Probes that speak of the process itself; they are detached after all others. */
#define PROBES_ALWAYS                                                                              \
	(1U << CUPROBE_PROBE_string | 1U << CUPROBE_PROBE_info | 1U << CUPROBE_PROBE_status)

struct source_handler {
	/*
	 * `bytes` bytes as they lay in a ring: a struct cuprobe_ring_batch and its records,
	 * whatever it says. They are gone afterwards. Non-zero: no more for now.
	 */
	int (*sample)(void *arg, const void *data, size_t bytes);
	/* Something that the user should know, one line. */
	void (*message)(void *arg, const char *text);
	void *arg;
};

/* Of those that can fail, all but `losses` put one line into `ret_why` then. */
struct source_ops {
	int (*open)(struct source **ret, const struct session_opts *opts,
		    const struct source_handler *handler, char *ret_why, size_t size);
	/* Follows a command that is yet to be forked, and its descendants: completes `child`. */
	int (*add_command)(struct source *s, struct child_opts *child, char *ret_why, size_t size);
	/* These two may be NULL: one process; all of them, for which `refresh` is called often. */
	int (*add_process)(struct source *s, pid_t pid, char *ret_why, size_t size);
	int (*add_all)(struct source *s, char *ret_why, size_t size);
	void (*refresh)(struct source *s);
	/* Hands out what is there now, until the handler has had enough. */
	void (*consume)(struct source *s);
	/* Asks for no more data, or for nothing at all. On a thread of its own, beside `consume`.
	 */
	void (*detach)(struct source *s, bool all);
	/* See session_losses(). */
	int (*losses)(struct source *s,
		      int (*each)(void *arg, const struct cuprobe_loss_key *,
				  const struct cuprobe_loss *),
		      void *arg);
	void (*free)(struct source *s);
};

/* What each begins with; `ops` and `handler` are set by open. */
struct source {
	const struct source_ops *ops;
	struct source_handler handler;
	int fd; /* readable when there may be much to consume */
};

extern const struct source_ops source_bpf, source_direct;

#endif
