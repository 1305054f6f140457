/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/parca_launch.h"

#include <string.h>
#include <time.h>

#include <linux/types.h>

#include "src/inject/env.h"
#include "src/inject/parca.h"
#include "src/inject/parca_filter.h"

#define SECOND 1000000000ull
#define COARSE_STEP_NS 10000000ull

/*
 * A token bucket that holds the tokens of one second, as the time from which on it holds one. It
 * begins with a single token.
 */
struct bucket {
	__u64 token_ns;
};

/* The launch that the thread is inside of, or was last. */
struct launcher {
	struct bucket kernels, graphs;
	__u32 correlation;
	__u8 domain; /* of the outermost call */
	bool chosen; /* to be told of when that returns */
};

static __thread struct launcher launcher;

/* Where milliseconds are precise enough they cost a fifth of the nanoseconds. */
static __u64 now_for(__u64 step_ns)
{
	struct timespec ts;

	clock_gettime(step_ns < COARSE_STEP_NS ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_COARSE, &ts);
	return (__u64)ts.tv_sec * SECOND + (__u64)ts.tv_nsec;
}

/* `rate` is tokens a second, in thousandths. */
static bool bucket_take(struct bucket *bucket, __u32 rate)
{
	__u64 step = 1000 * SECOND / rate, now;

	if (rate == CUPROBE_RATE_UNLIMITED)
		return true;
	now = now_for(step);
	if (!bucket->token_ns)
		bucket->token_ns = now;
	if (step < SECOND && bucket->token_ns + SECOND < now + step)
		bucket->token_ns = now + step - SECOND;
	if (bucket->token_ns > now)
		return false;
	bucket->token_ns = (step < SECOND ? bucket->token_ns : now) + step;
	return true;
}

static bool allowed(struct launcher *l, bool graph)
{
	if (cuprobe_parca_unlimited())
		return true;
	return graph ? bucket_take(&l->graphs, cuprobe_env.parca_graph_rate)
		     : bucket_take(&l->kernels, cuprobe_env.parca_rate);
}

/*
 * The driver's call inside one of the runtime has the same correlation id, and is the same launch.
 * Calls may be shown for others alone.
 */
static void launch_begin(struct launcher *l, CUpti_CallbackDomain domain, __u32 correlation,
			 bool graph)
{
	if (correlation == l->correlation)
		return;
	l->correlation = correlation;
	l->domain = (__u8)domain;
	l->chosen = cuprobe_parca_tells_launches() && allowed(l, graph) &&
		    cuprobe_parca_filter_add(correlation);
}

static bool failed(const CUpti_CallbackData *call)
{
	return call->functionReturnValue && *(const int *)call->functionReturnValue;
}

/* A page of the library's or of CUPTI's that holds the name may not be in memory. */
static void name_touch(const char *name)
{
	*(volatile const char *)&name[strlen(name)];
}

static void launch_end(struct launcher *l, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		       const CUpti_CallbackData *call)
{
	__s32 number = domain == CUPTI_CB_DOMAIN_DRIVER_API ? -(__s32)cbid : (__s32)cbid;

	if (!l->chosen || call->correlationId != l->correlation || domain != l->domain)
		return;
	l->chosen = false;
	if (failed(call)) {
		cuprobe_parca_filter_remove(l->correlation);
		return;
	}
	name_touch(call->functionName);
	cuprobe_parcagpu->cuda_correlation(l->correlation, number, call->functionName);
	cuprobe_parca_filter_told(l->correlation);
}

void cuprobe_parca_launch(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			  const CUpti_CallbackData *call, bool graph)
{
	if (call->callbackSite == CUPTI_API_ENTER)
		launch_begin(&launcher, domain, call->correlationId, graph);
	else
		launch_end(&launcher, domain, cbid, call);
}
