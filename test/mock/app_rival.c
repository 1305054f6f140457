/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that profiles itself with CUPTI, as PyTorch with torch.profiler does: it loads libcupti
 * when it wants to profile, subscribes, counts its kernel records, and goes on without, as it does
 * when it is refused. Its trace must be complete; it must never be silently empty.
 */
#include "test/mock/app.h"

#include <cupti.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define BUFFER_BYTES (1 << 20)
#define REFUSED_STATUS 3

static struct {
	CUptiResult (*Subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
	CUptiResult (*Subscribe_v2)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,
				    CUpti_SubscriberParams *);
	CUptiResult (*Unsubscribe)(CUpti_SubscriberHandle);
	CUptiResult (*ActivityRegisterCallbacks)(CUpti_BuffersCallbackRequestFunc,
						 CUpti_BuffersCallbackCompleteFunc);
	CUptiResult (*ActivityEnable)(CUpti_ActivityKind);
	CUptiResult (*ActivityDisable)(CUpti_ActivityKind);
	CUptiResult (*ActivityFlushAll)(uint32_t);
	CUptiResult (*ActivityGetNextRecord)(uint8_t *, size_t, CUpti_Activity **);
} cupti;

static _Atomic uint64_t kernels;

static void rival_load(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};
	void *library = NULL;

	for (unsigned int i = 0; i < 3 && !library; i++)
		library = dlopen(names[i], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "mock_app: %s\n", dlerror());
		exit(1);
	}
#define FIND(name) *(void **)&cupti.name = dlsym(library, "cupti" #name)
	FIND(Subscribe);
	FIND(Subscribe_v2);
	FIND(Unsubscribe);
	FIND(ActivityRegisterCallbacks);
	FIND(ActivityEnable);
	FIND(ActivityDisable);
	FIND(ActivityFlushAll);
	FIND(ActivityGetNextRecord);
#undef FIND
}

static void buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			     size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context, (void)stream, (void)size;
	while (!cupti.ActivityGetNextRecord(buffer, valid, &record)) {
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			atomic_fetch_add(&kernels, 1);
	}
	free(buffer);
}

static void callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		     const void *data)
{
	(void)userdata, (void)domain, (void)cbid, (void)data;
}

static CUptiResult rival_subscribe(CUpti_SubscriberHandle *subscriber)
{
	char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
					 .subscriberName = "torch.profiler",
					 .oldSubscriberName = holder,
					 .oldSubscriberSize = sizeof(holder)};
	CUptiResult err;

	if (!cupti.Subscribe_v2)
		return cupti.Subscribe(subscriber, callback, NULL);
	err = cupti.Subscribe_v2(subscriber, callback, NULL, &params);
	if (err)
		printf("rival: refused, '%s' has the subscription\n", holder);
	return err;
}

int rival_run(const struct app_options *options)
{
	struct app_options loop = *options;
	CUpti_SubscriberHandle subscriber;
	uint64_t wanted;

	loop.seconds = 0;
	loop.quiet = true;
	if (!loop.count)
		loop.count = 1000;
	wanted = loop.count * loop.threads;
	loop_run(&loop);
	app_sleep_until(app_now() + (uint64_t)(options->seconds * 1e9));
	rival_load();
	if (rival_subscribe(&subscriber)) {
		fflush(stdout);
		loop_run(&loop);
		return REFUSED_STATUS;
	}
	CHECK(cupti.ActivityRegisterCallbacks(buffer_requested, buffer_completed));
	CHECK(cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	loop_run(&loop);
	CHECK(cupti.ActivityFlushAll(0));
	CHECK(cupti.ActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	CHECK(cupti.Unsubscribe(subscriber));
	printf("rival: %llu kernel records of %llu launches\n",
	       (unsigned long long)atomic_load(&kernels), (unsigned long long)wanted);
	fflush(stdout);
	loop_run(&loop);
	return atomic_load(&kernels) == wanted ? 0 : 1;
}
