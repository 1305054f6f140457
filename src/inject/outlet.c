/* SPDX-License-Identifier: Apache-2.0 */
/* Both ways at once: a batch goes to the probes' consumers and through the direct channel. */
#include "src/inject/outlet.h"

#include "src/inject/outlet_direct.h"

static __u32 consumers(enum cuprobe_probe_id probe)
{
	return cuprobe_outlet_usdt.consumers(probe) + cuprobe_outlet_direct.consumers(probe);
}

static void deliver(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
		    __u64 seq)
{
	cuprobe_outlet_usdt.deliver(probe, data, bytes, count, seq);
	cuprobe_outlet_direct.deliver(probe, data, bytes, count, seq);
}

static __u32 newcomers(void)
{
	return cuprobe_outlet_usdt.newcomers() + cuprobe_outlet_direct.newcomers();
}

static const struct cuprobe_outlet both = {
	.consumers = consumers,
	.deliver = deliver,
	.newcomers = newcomers,
};

const struct cuprobe_outlet *cuprobe_outlet = &both;

__u32 cuprobe_outlet_wanted(void)
{
	__u32 wanted = 0;

	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		if (cuprobe_outlet->consumers(probe))
			wanted |= CUPROBE_PROBE_BIT(probe);
	}
	return wanted;
}
