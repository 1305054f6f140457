/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holding CUPTI: from a subscription until it is given back. Opening and releasing belong to the
 * control thread; a finalising release happens inside an API call of the application.
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

/*
 * Whoever calls CUPTI besides the control thread does so between these. False when CUPTI has been
 * given back, where any call would bring it up again.
 */
bool cuprobe_session_use(void);
void cuprobe_session_unuse(void);

/* Begins the release; everything has been switched off and flushed. */
void cuprobe_session_release(void);

/* Asked again and again, goes on with it; true when it is complete. */
bool cuprobe_session_released(void);

/* Takes a release back. False when it is too late, and cuprobe_session_released() soon true. */
bool cuprobe_session_keep(void);

/* When the session was opened; records from before then do not belong to it. */
__u64 cuprobe_session_begun_ns(void);

/* How the session's times come to be on CLOCK_MONOTONIC; 0 before the first session. */
enum cuprobe_clock cuprobe_session_clock(void);

/* cuptiGetTimestamp(), for calibration. Between use and unuse. */
bool cuprobe_session_read_clock(__u64 *ret_ns);

#endif
