/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/outlet.h"

#include "probes/cuprobe.h"

const struct cuprobe_outlet cuprobe_outlet_usdt = {
	.consumers = cuprobe_probe_consumers,
	.deliver = cuprobe_probe_fire,
	.newcomers = cuprobe_probe_newcomers,
};
