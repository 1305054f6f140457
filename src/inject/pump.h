/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pump thread: turns completed buffers into batches and fires them, so that no application
 * thread does. Alone it owns batches, strings, info and status.
 */
#ifndef CUPROBE_INJECT_PUMP_H
#define CUPROBE_INJECT_PUMP_H

#include <stdbool.h>

#include <linux/types.h>

struct cuprobe_buffer;

/* Starts the thread, once. 0 or -errno. */
int cuprobe_pump_start(void);

/* Hands over a completed buffer. Any thread; lock-free, a system call only when the pump sleeps. */
void cuprobe_pump_post(struct cuprobe_buffer *buffer);

/* Makes it look at what is wanted now. */
void cuprobe_pump_wake(void);

/*
 * Asks for everything that has been posted to be fired, and then the ledger. drained() with the
 * ticket is true once that is done, or there is no pump.
 */
__u32 cuprobe_pump_drain(void);
bool cuprobe_pump_drained(__u32 ticket);

/* Ends the thread after a last round; it is left behind if that takes longer. */
void cuprobe_pump_stop(__u64 timeout_ns);

#endif
