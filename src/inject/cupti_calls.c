/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_calls.h"

#include <linux/types.h>

#include "src/inject/cupti_api.h"
#include "src/inject/cupti_release.h"
#include "src/inject/parca_launch.h"

#define CBIDS 1024u /* more than any CUPTI has */
#define KERNEL CUPROBE_CALL_LAUNCHES_KERNEL
#define GRAPH (CUPROBE_CALL_LAUNCHES_GRAPH | CUPROBE_CALL_USES_GRAPH)
#define WATCHED (CUPROBE_CALL_USES_GRAPH | CUPROBE_CALL_WAITS)

/* By callback id, as in cupti_runtime_cbid.h; numbers that older headers have no name for. */
static const __u8 runtime_calls[CBIDS] = {
	[13] = KERNEL,			     /* cudaLaunch */
	[211] = KERNEL,			     /* cudaLaunchKernel */
	[213] = KERNEL,			     /* cudaLaunch_ptsz */
	[214] = KERNEL,			     /* cudaLaunchKernel_ptsz */
	[269] = KERNEL,			     /* cudaLaunchCooperativeKernel */
	[270] = KERNEL,			     /* cudaLaunchCooperativeKernel_ptsz */
	[272] = KERNEL,			     /* cudaLaunchCooperativeKernelMultiDevice */
	[311] = CUPROBE_CALL_LAUNCHES_GRAPH, /* cudaGraphLaunch */
	[312] = CUPROBE_CALL_LAUNCHES_GRAPH, /* cudaGraphLaunch_ptsz */
	[430] = KERNEL,			     /* cudaLaunchKernelExC */
	[431] = KERNEL,			     /* cudaLaunchKernelExC_ptsz */
	[505] = KERNEL,			     /* __cudaLaunchKernel */
	[506] = KERNEL,			     /* __cudaLaunchKernel_ptsz */
};

/* As in cupti_driver_cbid.h. */
static const __u8 driver_calls[CBIDS] = {
	[115] = KERNEL, /* cuLaunch */
	[116] = KERNEL, /* cuLaunchGrid */
	[117] = KERNEL, /* cuLaunchGridAsync */
	[307] = KERNEL, /* cuLaunchKernel */
	[442] = KERNEL, /* cuLaunchKernel_ptsz */
	[477] = KERNEL, /* cuLaunchCooperativeKernel */
	[478] = KERNEL, /* cuLaunchCooperativeKernel_ptsz */
	[480] = KERNEL, /* cuLaunchCooperativeKernelMultiDevice */
	[514] = GRAPH,	/* cuGraphLaunch */
	[515] = GRAPH,	/* cuGraphLaunch_ptsz */
	[652] = KERNEL, /* cuLaunchKernelEx */
	[653] = KERNEL, /* cuLaunchKernelEx_ptsz */
	[CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate] = CUPROBE_CALL_USES_GRAPH,
	[CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2] = CUPROBE_CALL_USES_GRAPH,
	[CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags] = CUPROBE_CALL_USES_GRAPH,
	[CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams] = CUPROBE_CALL_USES_GRAPH,
	[CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz] = CUPROBE_CALL_USES_GRAPH,
	[CUPTI_DRIVER_TRACE_CBID_cuGraphUpload] = CUPROBE_CALL_USES_GRAPH,
	[CUPTI_DRIVER_TRACE_CBID_cuGraphUpload_ptsz] = CUPROBE_CALL_USES_GRAPH,
	[CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize] = CUPROBE_CALL_WAITS,
	[CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize] = CUPROBE_CALL_WAITS,
	[CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize] = CUPROBE_CALL_WAITS,
	[CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz] = CUPROBE_CALL_WAITS,
	[CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2] = CUPROBE_CALL_WAITS,
	[CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds] = CUPROBE_CALL_WAITS,
};

static CUpti_SubscriberHandle subscriber;
static __u8 shown; /* classes */

/* Also called for a call that began before what shows it was switched off. */
bool cuprobe_calls_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			    const CUpti_CallbackData *call)
{
	const __u8 *calls = domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver_calls : runtime_calls;
	__u8 class = cbid < CBIDS ? calls[cbid] : 0;

	if (class & CUPROBE_CALL_LAUNCHES)
		cuprobe_parca_launch(domain, cbid, call, class & CUPROBE_CALL_LAUNCHES_GRAPH);
	return cuprobe_release_call(call, class & CUPROBE_CALL_USES_GRAPH);
}

/* Ids that this version of CUPTI does not have are refused, which does no harm. */
static void domain_show(CUpti_CallbackDomain domain, const __u8 *calls, __u8 classes, bool on)
{
	for (CUpti_CallbackId cbid = 0; cbid < CBIDS; cbid++) {
		if (calls[cbid] & classes)
			cuprobe_cupti.EnableCallback(on, subscriber, domain, cbid);
	}
}

static void show(void)
{
	domain_show(CUPTI_CB_DOMAIN_DRIVER_API, driver_calls, shown, true);
	domain_show(CUPTI_CB_DOMAIN_RUNTIME_API, runtime_calls, shown & CUPROBE_CALL_LAUNCHES,
		    true);
}

void cuprobe_calls_begin(CUpti_SubscriberHandle of)
{
	subscriber = of;
	shown = WATCHED;
	show();
}

void cuprobe_calls_show_launches(bool on)
{
	__u8 now_shown = on ? WATCHED | CUPROBE_CALL_LAUNCHES : WATCHED;

	if (now_shown == shown)
		return;
	if (!on) {
		domain_show(CUPTI_CB_DOMAIN_DRIVER_API, driver_calls, CUPROBE_CALL_LAUNCHES, false);
		domain_show(CUPTI_CB_DOMAIN_RUNTIME_API, runtime_calls, CUPROBE_CALL_LAUNCHES,
			    false);
	}
	shown = now_shown;
	show();
}

CUptiResult cuprobe_calls_show_all(bool on)
{
	CUptiResult driver = cuprobe_cupti.EnableDomain(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	CUptiResult runtime =
		cuprobe_cupti.EnableDomain(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);

	if (!on)
		show();
	return driver == CUPTI_SUCCESS ? CUPTI_SUCCESS : runtime;
}
