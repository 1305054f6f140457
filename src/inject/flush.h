/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flush thread: asks CUPTI for partly filled buffers, again and again. A flush can block for as
 * long as CUPTI likes, which nobody else must have to wait for.
 */
#ifndef CUPROBE_INJECT_FLUSH_H
#define CUPROBE_INJECT_FLUSH_H

#include <stdbool.h>

#include <linux/types.h>

/* Starts the thread, once. 0 or -errno. */
int cuprobe_flush_start(void);

/* Whether to flush every CUPROBE_FLUSH_MS by itself. Returns whether it did until now. */
bool cuprobe_flush_periodic(bool on);

/*
 * Asks for one flush; `forced` takes buffers with incomplete records too. done() with the ticket is
 * true once it has returned.
 */
__u32 cuprobe_flush_ask(bool forced);
bool cuprobe_flush_done(__u32 ticket);

/* Ends the thread, or leaves it behind when CUPTI does not return for that long. */
void cuprobe_flush_stop(__u64 timeout_ns);

#endif
