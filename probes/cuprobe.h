/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of the native provider, each with one site. */
#ifndef CUPROBE_PROBES_CUPROBE_H
#define CUPROBE_PROBES_CUPROBE_H

#include "cuprobe/abi.h"

/*
 * Not 0 while somebody is attached to the probe; costs one load. The kernel raises a semaphore for
 * the first consumer and lowers it after the last, so that it is 1 however many there are.
 */
__u32 cuprobe_probe_consumers(enum cuprobe_probe_id probe);

/* Changes when a consumer asks for all definitions, through the probe `replay`. */
__u32 cuprobe_probe_newcomers(void);

/* Fires the probe, whose arguments abi.h describes. A nop while nobody is attached. */
void cuprobe_probe_fire(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
			__u64 seq);

#endif
