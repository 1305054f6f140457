/* SPDX-License-Identifier: Apache-2.0 */
/* A process at the other end of the direct channel, which is trusted in nothing. */
#ifndef CUPROBE_COLLECTOR_DIRECT_PEER_H
#define CUPROBE_COLLECTOR_DIRECT_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "cuprobe/direct.h"
#include "src/collector/ring.h"

struct source_handler;

struct peer {
	struct peer *next;
	int fd;
	pid_t pid;			      /* as the kernel says */
	uid_t uid;			      /* likewise */
	__u64 start_ns;			      /* as it says itself */
	bool ended;			      /* nothing more comes */
	struct cuprobe_direct_memory *memory; /* NULL until it has sent it */
	struct ring front, batches;
	struct cuprobe_loss told[CUPROBE_PROBE_COUNT]; /* by peer_losses */
};

/* Of a connection, which becomes the peer's if there is no error. */
int peer_open(struct peer **ret, int fd);
void peer_free(struct peer *p);

/*
 * What it has sent: first its memory, then what only wakes us. 0 as long as it may send more,
 * -EPIPE when it has ended, -EBADMSG of what no library sends.
 */
int peer_receive(struct peer *p);

/* Hands out its batches; 1: all, 0: the handler has had enough, -EBADMSG as above. */
int peer_read(struct peer *p, const struct source_handler *handler);

/* What a probe has lost since the last call; false: nothing. */
bool peer_losses(struct peer *p, __u32 probe, struct cuprobe_loss *ret);

#endif
