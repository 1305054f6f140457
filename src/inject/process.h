/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to know about this process as a whole: its `info` record, and whether it still
 * lives. */
#ifndef CUPROBE_INJECT_PROCESS_H
#define CUPROBE_INJECT_PROCESS_H

#include <stdbool.h>

#include <linux/types.h>

/* Looks up CUDA's versions, which can wait for the loader's lock. Control thread. */
void cuprobe_process_look(void);

/* Publishes the process's record if something in it has changed. Pump thread. */
void cuprobe_process_publish(void);

/*
 * True when main() has left with pthread_exit() and no thread but our `helpers` is left: then they
 * must end too, or the process never does.
 */
bool cuprobe_process_is_over(__u32 helpers);

#endif
