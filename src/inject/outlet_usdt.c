/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/outlet.h"

#include "probes/cuprobe.h"

const struct cuprobe_outlet cuprobe_outlet_usdt = {
	.consumers = cuprobe_probe_consumers,
	.deliver = cuprobe_probe_fire,
	.newcomers = cuprobe_probe_newcomers,
};

const struct cuprobe_outlet *cuprobe_outlet = &cuprobe_outlet_usdt;

__u32 cuprobe_outlet_wanted(void)
{
	__u32 wanted = 0;

	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		if (cuprobe_outlet->consumers(probe))
			wanted |= CUPROBE_PROBE_BIT(probe);
	}
	return wanted;
}
