/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/parcagpu.h"

#define _SDT_HAS_SEMAPHORES 1
#define STAP_SDT_ARG_CONSTRAINT r /* consumers cannot parse every operand form */
#include <sys/sdt.h>

#include "probes/parcagpu_provider.h"

/* One function for each probe, so that each has exactly one site: of two, consumers take one. */
#if __has_attribute(noclone)
#define ONE_SITE static __attribute__((noinline, noclone))
#else
#define ONE_SITE static __attribute__((noinline))
#endif

ONE_SITE void fire_cuda_correlation(__u32 correlation, __s32 cbid, const char *name)
{
	STAP_PROBE3(parcagpu, cuda_correlation, correlation, cbid, name);
}

ONE_SITE void fire_gpu_config(__u32 device, __u32 factor, __u32 clock_khz, __u32 multiprocessors)
{
	STAP_PROBE4(parcagpu, gpu_config, device, factor, clock_khz, multiprocessors);
}

ONE_SITE void fire_pc_sample_batch(const struct parcagpu_pc *const *records, __u32 count)
{
	STAP_PROBE2(parcagpu, pc_sample_batch, records, count);
}

ONE_SITE void fire_stall_reason_map(const char *names, __u32 count)
{
	STAP_PROBE2(parcagpu, stall_reason_map, names, count);
}

/* bpftrace 0.17 has no names for the last two on x86-64: scripts ask for the registers. */
#ifdef __x86_64__
#define IN_REGISTER(name) __asm__(name)
#else
#define IN_REGISTER(name)
#endif

ONE_SITE void fire_kernel_executed(const struct parcagpu_kernel *k)
{
	register __u64 graph_node IN_REGISTER("r10");
	register const char *name IN_REGISTER("r11");

	graph_node = k->graph_node_id;
	name = k->name;
	STAP_PROBE8(parcagpu, kernel_executed, k->start_ns, k->end_ns, k->correlation, k->device,
		    k->stream, k->graph_id, graph_node, name);
}

ONE_SITE void fire_activity_batch(const struct parcagpu_kernel *const *records, __u32 count)
{
	STAP_PROBE2(parcagpu, activity_batch, records, count);
}

ONE_SITE void fire_cubin_loaded(__u64 crc, const void *cubin, __u64 bytes)
{
	STAP_PROBE3(parcagpu, cubin_loaded, crc, cubin, bytes);
}

ONE_SITE void fire_cubin_unloaded(__u64 crc)
{
	STAP_PROBE1(parcagpu, cubin_unloaded, crc);
}

ONE_SITE void fire_error(__s32 code, const char *message, const char *component)
{
	STAP_PROBE3(parcagpu, error, code, message, component);
}

ONE_SITE void fire_nvtx_event_batch(const struct parcagpu_nvtx *const *events, __u32 count)
{
	STAP_PROBE2(parcagpu, nvtx_event_batch, events, count);
}

ONE_SITE void fire_nvtx_resource_name(__u32 kind, __u64 id, const char *name)
{
	STAP_PROBE3(parcagpu, nvtx_resource_name, kind, id, name);
}

#define ATTACHED(name)                                                                             \
	(*(volatile unsigned short *)&parcagpu_##name##_semaphore ? PARCAGPU_BIT(name) : 0) |

static __u32 attached(void)
{
	return PARCAGPU_FOR_EACH_PROBE(ATTACHED) 0;
}

const struct parcagpu cuprobe_parcagpu_usdt = {
	.attached = attached,
	.cuda_correlation = fire_cuda_correlation,
	.kernel_executed = fire_kernel_executed,
	.activity_batch = fire_activity_batch,
	.cubin_loaded = fire_cubin_loaded,
	.cubin_unloaded = fire_cubin_unloaded,
	.error = fire_error,
	.nvtx_event_batch = fire_nvtx_event_batch,
	.nvtx_resource_name = fire_nvtx_resource_name,
	.gpu_config = fire_gpu_config,
	.pc_sample_batch = fire_pc_sample_batch,
	.stall_reason_map = fire_stall_reason_map,
};
