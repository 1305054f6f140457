/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes have just mapped a library of ours, in the whole system. */
#ifndef CUPROBE_COLLECTOR_WATCH_H
#define CUPROBE_COLLECTOR_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct watch;

/* The kernel's records of executable mappings, one small buffer for each processor. */
int watch_open(struct watch **ret);
/*
 * Calls `each` for each new mapping of a file named like a library of ours, and returns at once.
 * True when records were lost, so that only a look at all processes is complete.
 */
bool watch_read(struct watch *w, void (*each)(void *arg, pid_t pid), void *arg);
void watch_free(struct watch *w);

#endif
