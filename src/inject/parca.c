/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/parca.h"

#include "src/inject/outlet.h"
#include "src/inject/parca_filter.h"

const struct parcagpu *cuprobe_parcagpu = &cuprobe_parcagpu_usdt;

__u32 cuprobe_parca_look(void)
{
	static __u32 before;
	__u32 attached = cuprobe_parcagpu->attached();
	__u32 needs = attached ? CUPROBE_PARCA_ATTACHED : 0;

	if (attached & ~before & PARCAGPU_BIT(cuda_correlation))
		cuprobe_parca_filter_renew();
	if (attached & PARCAGPU_BIT(cuda_correlation))
		needs |= CUPROBE_PARCA_LAUNCHES;
	if (attached & (PARCAGPU_BIT(activity_batch) | PARCAGPU_BIT(kernel_executed)))
		needs |= CUPROBE_PARCA_KERNELS | CUPROBE_PROBE_BIT(CUPROBE_PROBE_kernel);
	if (attached & (PARCAGPU_BIT(cubin_loaded) | PARCAGPU_BIT(cubin_unloaded)))
		needs |= CUPROBE_PROBE_BIT(CUPROBE_PROBE_module);
	if (attached & PARCAGPU_BIT(nvtx_event_batch))
		needs |= CUPROBE_PROBE_BIT(CUPROBE_PROBE_nvtx);
	before = attached;
	return needs;
}
