/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the library: dormant, active, yielded, releasing. The control thread looks at what is
 * wanted and is the only one that changes what CUPTI collects.
 */
#ifndef CUPROBE_INJECT_CONTROL_H
#define CUPROBE_INJECT_CONTROL_H

#include <linux/types.h>

/*
 * Called inside cuInit(). What has a consumer already is switched on before this returns, so that
 * the first kernel is not missed; the control thread takes over from there.
 */
void cuprobe_control_start(void);

/* The process exits: what CUPTI has is flushed and fired, for at most so long. Never waits twice.
 */
void cuprobe_control_finish(__u64 timeout_ns);

#endif
