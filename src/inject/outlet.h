/* SPDX-License-Identifier: Apache-2.0 */
/* A way out for batches: who wants what, and handing it over. USDT probes are one. */
#ifndef CUPROBE_INJECT_OUTLET_H
#define CUPROBE_INJECT_OUTLET_H

#include <linux/types.h>

#include "cuprobe/abi.h"

#define CUPROBE_PROBE_BIT(probe) (1u << (probe))
#define CUPROBE_METADATA_PROBES                                                                    \
	(CUPROBE_PROBE_BIT(CUPROBE_PROBE_string) | CUPROBE_PROBE_BIT(CUPROBE_PROBE_info) |         \
	 CUPROBE_PROBE_BIT(CUPROBE_PROBE_status))

struct cuprobe_outlet {
	/* Consumers of a probe, or only whether there are any; cheap, called from any thread. */
	__u32 (*consumers)(enum cuprobe_probe_id probe);
	/* The memory is the caller's again on return. Called by the pump only. */
	void (*deliver)(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
			__u64 seq);
	/* Changes when a consumer asks for all definitions. Called by the pump only. */
	__u32 (*newcomers)(void);
};

extern const struct cuprobe_outlet cuprobe_outlet_usdt;

/* The outlet in use; tests put their own here before anything is started. */
extern const struct cuprobe_outlet *cuprobe_outlet;

/* Bit n is set while probe n has a consumer. */
__u32 cuprobe_outlet_wanted(void);

#endif
