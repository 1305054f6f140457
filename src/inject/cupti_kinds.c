/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_kinds.h"

#include <stdio.h>

#include "cuprobe/abi.h"
#include "src/inject/clock.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_release.h"
#include "src/inject/notice.h"
#include "src/inject/outlet.h"
#include "src/inject/parca.h"

#define RETRY_FIRST_NS 1000000000ull
#define RETRY_LAST_NS 60000000000ull
#define EARLY_REFUSALS 100 /* that many in a row are no news while CUDA comes up: 5 s */

#define BIT(name) CUPROBE_PROBE_BIT(CUPROBE_PROBE_##name)
#define DATA_PROBES                                                                                \
	(BIT(kernel) | BIT(graph) | BIT(memcpy) | BIT(memset) | BIT(memory) | BIT(sync) |          \
	 BIT(api) | BIT(unified_memory) | BIT(overhead))
/* What is told of contexts and devices serves these too. */
#define ALL_PROBES (DATA_PROBES | BIT(module) | BIT(pc_sample) | BIT(launch))

const __u32 cuprobe_kinds_probes = ALL_PROBES;

struct kind {
	CUpti_ActivityKind kind;
	const char *name;
	__u32 probes;	  /* switched on for any of these */
	bool dump;	  /* have what exists already reported too */
	bool needs_cuda;  /* cannot be switched on inside cuInit() */
	bool needs_start; /* can be switched on only there */
	bool gpu;	  /* changes what CUDA graphs do on the GPU */
	/* The rest changes: */
	bool on;
	__u32 early_refusals;
	__u64 retry_ns, retry_delay_ns;
	bool told;		  /* that it cannot be switched on any more */
	CUptiResult refused_with; /* CUPTI_SUCCESS: nothing that has not been reported */
};

#define KIND(kind, probes, ...)                                                                    \
	{                                                                                          \
		CUPTI_ACTIVITY_KIND_##kind, #kind, probes, __VA_ARGS__                             \
	}

/*
 * Metadata first: what exists is reported before anything refers to it. GRAPH_TRACE is on before
 * and off after CONCURRENT_KERNEL, so that no graph is traced node by node in between; and from the
 * start or not at all: with every CUPTI from 11.8 to 13.0 the next launch of a graph that was
 * instantiated before crashes inside cuGraphLaunch().
 */
static struct kind kinds[] = {
	KIND(DEVICE, ALL_PROBES, .dump = true),
	KIND(CONTEXT, ALL_PROBES, .dump = true),
	KIND(STREAM, ALL_PROBES, .dump = true),
	KIND(GRAPH_TRACE, BIT(graph), .gpu = true, .needs_start = true),
	KIND(CONCURRENT_KERNEL, BIT(kernel), .gpu = true),
	KIND(MEMCPY, BIT(memcpy), .gpu = true),
	KIND(MEMCPY2, BIT(memcpy), .gpu = true),
	KIND(MEMSET, BIT(memset), .gpu = true),
	KIND(MEMORY2, BIT(memory), .on = false),
	KIND(MEMORY_POOL, BIT(memory), .on = false),
	KIND(SYNCHRONIZATION, BIT(sync), .on = false),
	KIND(CUDA_EVENT, BIT(sync), .on = false),
	KIND(RUNTIME, BIT(api), .on = false),
	KIND(DRIVER, BIT(api), .on = false),
	KIND(UNIFIED_MEMORY_COUNTER, BIT(unified_memory), .needs_cuda = true),
	KIND(OVERHEAD, BIT(overhead), .on = false),
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/*
 * Since CUPTI came up or was finalised: kinds with `gpu` were on; and graphs hold on to memory of
 * CUPTI's that finalising would free, because GRAPH_TRACE was on or another was switched off.
 */
static bool gpu_used, gpu_sticks;
static bool stays_on; /* CUPTI refused to switch a kind off, since it came up or was finalised */

struct remedy {
	CUptiResult result;
	const char *text;
};

/* Numbers that older headers have no name for are those of cupti_result.h. */
static const struct remedy remedies[] = {
	{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
	 "run the program as root or with CAP_SYS_ADMIN, or load the nvidia module with "
	 "NVreg_RestrictProfilingToAdminUsers=0"},
	{40, "enable profiling for this vGPU in the hypervisor"},
	{CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "enable profiling for this vGPU"},
	{CUPTI_ERROR_HARDWARE_BUSY, "stop the other profiler (Nsight, DCGM) on this GPU"},
	{CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS, "run without MPS"},
	{41, "the GPU is in confidential computing mode"},
	{43, "CUPTI does not support this MIG configuration"},
	{45, "CUPTI does not support this under WSL"},
	{CUPTI_ERROR_INVALID_KIND, "use a newer CUDA toolkit's libcupti (CUPROBE_CUPTI_PATH)"},
	{CUPTI_ERROR_NOT_INITIALIZED,
	 "libcupti may be older than the driver supports: name a newer "
	 "one in CUPROBE_CUPTI_PATH"},
};

const char *cuprobe_kinds_remedy(CUptiResult result)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
		if (remedies[i].result == result)
			return remedies[i].text;
	}
	return NULL;
}

static const CUpti_ActivityUnifiedMemoryCounterKind unified_kinds[] = {
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
};

/* Each counter by itself, so that one that the platform lacks does not take the others along. */
static CUptiResult unified_configure(void)
{
	CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
	bool any = false;

	if (!cuprobe_cupti.ActivityConfigureUnifiedMemoryCounter)
		return result;
	for (size_t i = 0; i < sizeof(unified_kinds) / sizeof(unified_kinds[0]); i++) {
		CUpti_ActivityUnifiedMemoryCounterConfig config = {
			.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
			.kind = unified_kinds[i],
			.enable = 1,
		};

		result = cuprobe_cupti.ActivityConfigureUnifiedMemoryCounter(&config, 1);
		any |= result == CUPTI_SUCCESS;
	}
	return any ? CUPTI_SUCCESS : result;
}

static CUptiResult kind_enable(const struct kind *kind, bool cuda_up)
{
	CUptiResult result;

	if (kind->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) {
		result = unified_configure();
		if (result != CUPTI_SUCCESS)
			return result;
	}
	/* Inside cuInit() there is nothing to dump yet, and CUPTI reports it all as it comes. */
	if (kind->dump && cuda_up && cuprobe_cupti.ActivityEnableAndDump)
		return cuprobe_cupti.ActivityEnableAndDump(kind->kind);
	return cuprobe_cupti.ActivityEnable(kind->kind);
}

/* Inside cuInit(), on another thread than this, CUPTI is not ready for every kind. */
static void kind_refused(struct kind *kind, CUptiResult result)
{
	bool is_early = result == CUPTI_ERROR_NOT_INITIALIZED || result == CUPTI_ERROR_NOT_READY;

	if (is_early && ++kind->early_refusals < EARLY_REFUSALS)
		return;
	if (!kind->retry_delay_ns)
		kind->refused_with = result;
	kind->retry_delay_ns = kind->retry_delay_ns ? 2 * kind->retry_delay_ns : RETRY_FIRST_NS;
	if (kind->retry_delay_ns > RETRY_LAST_NS)
		kind->retry_delay_ns = RETRY_LAST_NS;
	kind->retry_ns = cuprobe_clock_now() + kind->retry_delay_ns;
}

static void refusals_forget(struct kind *kind)
{
	kind->early_refusals = 0;
	kind->retry_ns = kind->retry_delay_ns = 0;
}

/* One message for all kinds that were refused for the same reason. */
static void refusals_report_for(CUptiResult result)
{
	char names[CUPROBE_NOTICE_TEXT / 2] = "";
	size_t used = 0;

	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].refused_with != result)
			continue;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", kinds[i].name);
		kinds[i].refused_with = CUPTI_SUCCESS;
	}
	cuprobe_notice_message(CUPROBE_ERROR, (int)result, cuprobe_kinds_remedy(result),
			       "CUPTI refuses the activity kinds %s: %s", names,
			       cuprobe_cupti_result(result));
}

static void refusals_report(void)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].refused_with != CUPTI_SUCCESS)
			refusals_report_for(kinds[i].refused_with);
	}
}

/* Of interest once the program is seen to use graphs. */
static void graphs_stay_nodes(struct kind *kind, bool nodes)
{
	if (kind->told || !cuprobe_release_saw_graphs())
		return;
	kind->told = true;
	cuprobe_notice_message(
		CUPROBE_NOTE, 0,
		nodes ? NULL : "start the program with a recorder attached (cuprobe record -- CMD)",
		"CUDA graphs are recorded node by node: %s",
		nodes ? "a reader of the provider parcagpu needs their kernels"
		      : "CUPTI can trace them as a whole only from the start of a program");
}

static void kind_switch_on(struct kind *kind, bool nodes, bool cuda_up)
{
	CUptiResult result;

	if (kind->needs_start && (cuda_up || nodes)) {
		graphs_stay_nodes(kind, nodes);
		return;
	}
	if ((kind->needs_cuda && !cuda_up) || cuprobe_clock_now() < kind->retry_ns)
		return;
	result = kind_enable(kind, cuda_up);
	if (result != CUPTI_SUCCESS) {
		kind_refused(kind, result);
		return;
	}
	kind->on = true;
	refusals_forget(kind);
	gpu_used |= kind->gpu;
	gpu_sticks |= kind->needs_start;
}

static void kind_switch_off(struct kind *kind)
{
	CUptiResult result = cuprobe_cupti.ActivityDisable(kind->kind);

	stays_on |= result != CUPTI_SUCCESS;
	if (result != CUPTI_SUCCESS)
		cuprobe_notice_message(CUPROBE_WARNING, (int)result, NULL,
				       "CUPTI cannot switch activity kind %s off: %s", kind->name,
				       cuprobe_cupti_result(result));
	kind->on = false;
	gpu_sticks |= kind->gpu;
}

__u32 cuprobe_kinds_apply(__u32 wanted_probes, bool cuda_up)
{
	__u32 active = 0;

	for (size_t i = 0; i < KINDS; i++) {
		struct kind *kind = &kinds[i];

		if (!kind->on && (kind->probes & wanted_probes))
			kind_switch_on(kind, wanted_probes & CUPROBE_PARCA_KERNELS, cuda_up);
		else if (kind->on && !(kind->probes & wanted_probes))
			kind_switch_off(kind);
		if (kind->on && kind->probes != ALL_PROBES)
			active |= kind->probes;
	}
	refusals_report();
	return active;
}

bool cuprobe_kinds_stop(bool cupti_gone)
{
	for (size_t i = KINDS; i--;) {
		if (kinds[i].on && !cupti_gone)
			kind_switch_off(&kinds[i]);
		kinds[i].on = kinds[i].told = false;
		refusals_forget(&kinds[i]);
	}
	return !stays_on;
}

bool cuprobe_kinds_gpu_used(void)
{
	return gpu_used;
}

bool cuprobe_kinds_gpu_sticks(void)
{
	return gpu_sticks;
}

void cuprobe_kinds_gpu_forget(void)
{
	gpu_used = false;
	gpu_sticks = false;
	stays_on = false;
}
