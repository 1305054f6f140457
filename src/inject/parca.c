/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/parca.h"

#include <stdatomic.h>

#include "src/inject/env.h"
#include "src/inject/outlet.h"
#include "src/inject/parca_filter.h"

const struct parcagpu *cuprobe_parcagpu = &cuprobe_parcagpu_usdt;

static atomic_bool tells_launches, unlimited; /* order nothing */

bool cuprobe_parca_tells_launches(void)
{
	return atomic_load_explicit(&tells_launches, memory_order_relaxed);
}

bool cuprobe_parca_unlimited(void)
{
	return atomic_load_explicit(&unlimited, memory_order_relaxed);
}

__u32 cuprobe_parca_look(void)
{
	static __u32 before;
	__u32 attached = cuprobe_parcagpu->attached();
	__u32 needs = attached ? CUPROBE_PARCA_ATTACHED : 0;
	bool sampling = attached & PARCAGPU_BIT(pc_sample_batch) &&
			cuprobe_env.parca_pc_rate != CUPROBE_RATE_UNSET;

	if (attached & ~before & PARCAGPU_BIT(cuda_correlation))
		cuprobe_parca_filter_renew();
	if (attached & PARCAGPU_BIT(cuda_correlation))
		needs |= CUPROBE_PARCA_LAUNCHES;
	atomic_store_explicit(&tells_launches, needs & CUPROBE_PARCA_LAUNCHES,
			      memory_order_relaxed);
	if (attached & (PARCAGPU_BIT(activity_batch) | PARCAGPU_BIT(kernel_executed)))
		needs |= CUPROBE_PARCA_KERNELS | CUPROBE_PROBE_BIT(CUPROBE_PROBE_kernel);
	if (attached & (PARCAGPU_BIT(cubin_loaded) | PARCAGPU_BIT(cubin_unloaded)))
		needs |= CUPROBE_PROBE_BIT(CUPROBE_PROBE_module);
	if (sampling)
		needs |= CUPROBE_PROBE_BIT(CUPROBE_PROBE_pc_sample);
	atomic_store_explicit(&unlimited, sampling, memory_order_relaxed);
	if (attached & PARCAGPU_BIT(nvtx_event_batch))
		needs |= CUPROBE_PROBE_BIT(CUPROBE_PROBE_nvtx);
	before = attached;
	return needs;
}
