// SPDX-License-Identifier: Apache-2.0
/* A libcuprobe that does nothing by itself: it has the probes, and fires when it is told to. */
#include "test/e2e/fire.h"

#include "probes/cuprobe.h"

bool fire_wanted(enum cuprobe_probe_id probe)
{
	return cuprobe_probe_consumers(probe) != 0;
}

void fire(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count, __u64 seq)
{
	cuprobe_probe_fire(probe, data, bytes, count, seq);
}
