/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of the native provider, each with one site. */
#ifndef CUPROBE_PROBES_CUPROBE_H
#define CUPROBE_PROBES_CUPROBE_H

#include <stdbool.h>

#include "cuprobe/abi.h"

/* True while somebody is attached to the probe; costs one load. */
bool cuprobe_probe_wanted(enum cuprobe_probe_id probe);

/* Fires the probe, whose arguments abi.h describes. A nop while nobody is attached. */
void cuprobe_probe_fire(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
			__u64 seq);

#endif
