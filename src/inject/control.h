/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the library: dormant, active, yielded, releasing. The control thread looks at what is
 * wanted and is the only one that changes what CUPTI collects.
 */
#ifndef CUPROBE_INJECT_CONTROL_H
#define CUPROBE_INJECT_CONTROL_H

#include <stdbool.h>

#include <linux/types.h>

/*
 * Called once, inside cuInit() (`cuda`) or by the first NVTX client. What has a consumer already is
 * switched on before this returns, so that nothing is missed; the control thread takes over from
 * there. Without CUDA, CUPTI is not touched.
 */
void cuprobe_control_start(bool cuda);

/* Called inside cuInit() when the library has been running without CUDA. */
void cuprobe_control_cuda(void);

/* Makes the control thread look at once, from any thread. */
void cuprobe_control_wake(void);

/* The process exits: what CUPTI has is flushed and fired, for at most so long. Never waits twice.
 */
void cuprobe_control_finish(__u64 timeout_ns);

#endif
