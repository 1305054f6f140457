/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection of the direct channel: whether the collector is there, who it is, what it wants.
 * Nothing here waits.
 */
#ifndef CUPROBE_INJECT_DIRECT_LINK_H
#define CUPROBE_INJECT_DIRECT_LINK_H

#include <stddef.h>

#include <linux/types.h>

struct cuprobe_direct_link {
	int fd; /* -1: none */
	/* A program may close descriptors that are not its own, and get the number again. */
	__u64 device, inode;
};

/*
 * Connects to the socket at `path` of a collector of our own user, or root's. -ENOENT,
 * -ECONNREFUSED: nobody is there. What is wrong is in `ret_why`, one line.
 */
int cuprobe_direct_link_open(struct cuprobe_direct_link *ret, const char *path, char *ret_why,
			     size_t size);
/* Sends the hello, and the memory, which stays the caller's. */
int cuprobe_direct_link_greet(const struct cuprobe_direct_link *link, int memory_fd,
			      __u64 process_start_ns);
void cuprobe_direct_link_close(struct cuprobe_direct_link *link);

/* 0 while the collector is there; -EPIPE once it is gone, -EPROTO when it sends what none would. */
int cuprobe_direct_link_check(const struct cuprobe_direct_link *link);
void cuprobe_direct_link_wake(const struct cuprobe_direct_link *link);

/*
 * What the collector at `path` wants: bit n is probe n. It is `before`, what it wanted then, where
 * the program has no descriptor left, or has become another user or changed its root meanwhile.
 */
__u32 cuprobe_direct_link_wanted(const char *path, __u32 before);

#endif
