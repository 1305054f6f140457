/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI leaves in memory each time that it is finalised, without cuprobe: subscribes, samples
 * PCs for a moment (or collects nothing, with --no-samples), and calls cuptiFinalize() where NVIDIA
 * says, or with --no-finalize only unsubscribes. Prints the resident memory after every tenth time.
 *
 *	finalize_cycles [--cycles 100] [--no-samples] [--no-finalize]	links with libcupti
 */
#include <cstdlib>

#include "../cubin/kernels.cu"
#include "../resident.h"
#include "bench.h"
#include "bench_cuda.h"
#include "sampling.h"

static bool due, done;

static void CUPTIAPI called(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *data)
{
	const CUpti_CallbackData *call = (const CUpti_CallbackData *)data;

	if (!due || call->callbackSite != CUPTI_API_EXIT)
		return;
	due = false;
	check(cuptiFinalize(), "finalize");
	done = true;
}

static void work(float *out)
{
	for (int i = 0; i < 100; i++) {
		compute<<<132, 1024>>>(out, 1000);
		CUDA_CHECK(cudaDeviceSynchronize());
	}
}

static void cycle(float *out, bool samples, bool finalize)
{
	CUpti_SubscriberHandle subscriber;
	struct count count = {};

	check(cuptiSubscribe(&subscriber, called, NULL), "subscribe");
	check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), "callbacks");
	if (samples)
		sampling_begin();
	work(out);
	if (samples) {
		samples_fetch(&count);
		sampling_disable();
	}
	due = finalize;
	done = false;
	work(out);
	if (!finalize)
		check(cuptiUnsubscribe(subscriber), "unsubscribe");
	else if (!done)
		fprintf(stderr, "finalize_cycles: no call came by\n");
}

static bool given(int argc, char **argv, const char *option)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], option))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	bool samples = !given(argc, argv, "--no-samples");
	bool finalize = !given(argc, argv, "--no-finalize");
	long cycles = bench_option(argc, argv, "--cycles", 100);
	float *out;

	CUDA_CHECK(cudaMalloc(&out, 132 * 1024 * sizeof(*out)));
	work(out);
	if (cuCtxGetCurrent(&context))
		return 1;
	printf("%s, %s: resident kB:", samples ? "samples" : "no samples",
	       finalize ? "finalised" : "unsubscribed");
	for (long i = 1; i <= cycles; i++) {
		cycle(out, samples, finalize);
		if (i % 10 == 0)
			printf(" %ld", resident_kb());
	}
	printf("\n");
	return 0;
}
