/* SPDX-License-Identifier: Apache-2.0 */
/* The command that is traced: forked, held still before its exec, let go, waited for. */
#ifndef CUPROBE_COLLECTOR_CHILD_H
#define CUPROBE_COLLECTOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Raises our own limit of open files, of which each attached file or probe takes one; a command
 * gets the limit that we were started with.
 */
void limits_raise(void);

struct child {
	pid_t pid;   /* 0: there is none */
	int pidfd;   /* readable once it has ended */
	int go_fd;   /* closing it lets the child go; -1: it was */
	int exec_fd; /* gives the errno of a failed exec, or ends */
	bool ended;
	int status; /* as a shell gives it */
};

struct child_opts {
	char *const *argv;   /* NULL terminated */
	const char *library; /* goes into the two injection variables */
	const char *direct;  /* and this into CUPROBE_DIRECT, unless it is NULL */
	bool as_root;	     /* under sudo: does not become the user who called */
	bool native_stacks;  /* into CUPROBE_NATIVE_STACKS */
};

/* Who the child will be. */
struct user_ids {
	uid_t uid;
	gid_t gid;
};
struct user_ids child_user(const struct child_opts *opts);

/*
 * Forks; the child waits. -ENOENT, -EACCES: there is no such command, or it cannot be run; a line
 * is in `ret_why`.
 */
int child_fork(struct child *ret, const struct child_opts *opts, char *ret_why, size_t size);
/* Lets it run its program; what exec failed with, or 0. */
int child_go(struct child *c);
/* Notes the end, without waiting for it. */
void child_reap(struct child *c);
/* A child that was not let go ends without having run anything. */
void child_done(struct child *c);

#endif
