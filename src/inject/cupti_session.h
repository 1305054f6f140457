/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holding CUPTI: the subscription, the clock and the buffers. cupti_release.h gives it back.
 * Opening belongs to the control thread.
 */
#ifndef CUPROBE_INJECT_CUPTI_SESSION_H
#define CUPROBE_INJECT_CUPTI_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "cuprobe/abi.h"

/*
 * Loads CUPTI if need be, subscribes and registers the clock and the buffers. -EBUSY: another
 * client has it, and `ret_detail` is its name. Other errors: `ret_detail` says why.
 */
int cuprobe_session_open(char *ret_detail, size_t detail_size);
/* Now and then while it is open: says so when the program has a libcupti of its own. */
void cuprobe_session_watch(void);

/* When the session was opened; records from before then do not belong to it. */
__u64 cuprobe_session_begun_ns(void);

/* How the session's times come to be on CLOCK_MONOTONIC; 0 before the first session. */
enum cuprobe_clock cuprobe_session_clock(void);

/* cuptiGetTimestamp(), for calibration. Between cuprobe_gate_enter() and _leave(). */
bool cuprobe_session_read_clock(__u64 *ret_ns);

#endif
