/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files come from the servers in DEBUGINFOD_URLS through elfutils, which would wait for a
 * minute and a half for each file of a server that does not answer. The command waits no longer
 * than this for all its files together; what is on the machine is used all the same.
 */
#ifndef CUPROBE_COLLECTOR_DEBUGINFOD_H
#define CUPROBE_COLLECTOR_DEBUGINFOD_H

#include <stdbool.h>

#define DEBUGINFOD_SECONDS_MOST 30

struct Dwfl;

/* Bounds what `dwfl` asks. One thread at a time. */
void debuginfod_bound(struct Dwfl *dwfl);
/* Files were not waited for. */
bool debuginfod_gave_up(void);

#endif
