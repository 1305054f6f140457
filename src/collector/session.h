/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of chosen processes, live, through one of the sources.
 */
#ifndef CUPROBE_COLLECTOR_SESSION_H
#define CUPROBE_COLLECTOR_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "cuprobe/transport.h"

struct session;

enum via {
	VIA_AUTO, /* BPF; where that cannot be had, the direct channel for a command */
	VIA_BPF,
	VIA_DIRECT, /* for a command only */
};

/*
 * Exactly one of `pids`, `all` and `command` says which processes.
 * command: started stopped, attached together with its descendants, then let go.
 */
struct session_opts {
	enum via via;
	__u32 probes; /* bit n: attach probe n; string, info and status always are */
	const pid_t *pids;
	unsigned int pid_count;
	bool all;
	char *const *command; /* NULL terminated argv */
	bool as_root;	      /* under sudo: do not step down to the calling user */
	bool native_stacks;   /* of command: without Python frames */

	const char *library; /* libcuprobe.so for command; NULL: beside this executable */
	__u32 ring_bytes;    /* a power of two; 0: 16 MiB */
	unsigned int form;   /* of the BPF program: enum program_form; 0: the best there is */
	bool no_multi;	     /* see struct program_opts */
};

struct session_handler {
	int (*batch)(void *arg, const struct cuprobe_batch_header *h, const void *data);
	/*
	 * A process fired for the first time, or for the first time since it executed another
	 * program: describe it now, while it lives. Comes before the batch; may be NULL.
	 */
	int (*process)(void *arg, pid_t pid, __u64 start_ns);
	/* Something that the user should know, one line; may be NULL. */
	void (*message)(void *arg, const char *text);
	void *arg;
};

/*
 * On failure one clear line, with what to do, is in `ret_why` (size bytes). -ENOENT and -EACCES
 * with a command: there is no such command, or it cannot be run.
 */
int session_open(struct session **ret, const struct session_opts *opts,
		 const struct session_handler *handler, char *ret_why, size_t size);
/*
 * Waits up to `timeout_ms` (and never above 50 ms), delivers what has arrived. 1 when the command
 * has ended or none of the processes lives any more and all they sent is delivered; 0 otherwise; or
 * a negative errno.
 */
int session_poll(struct session *s, int timeout_ms);
/* Lets the command go, which session_open holds still. 0, or what its exec failed with. */
int session_start(struct session *s);
void session_signal(struct session *s, int signal); /* to the command */
/*
 * Stops collection: waits for what the processes hold now, detaches the data, waits for their last
 * ledgers, detaches the rest, and delivers all of it. Both waits together take up to `grace_ms`,
 * and none when nobody is left.
 */
int session_stop(struct session *s, int grace_ms);
/*
 * Calls `each` for what found no room on its way to us; absolute figures. pid 0 stands for the
 * processes that found no room in the BPF program's map, together.
 */
int session_losses(struct session *s,
		   int (*each)(void *arg, const struct cuprobe_loss_key *,
			       const struct cuprobe_loss *),
		   void *arg);
/* Exit status of the command as a shell gives it (128 + signal); 0 without a command. */
int session_exit_status(const struct session *s);
void session_free(struct session *s);

#endif
