/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's own price: an injection library that enables what libcuprobe.so would enable for the
 * probes named in FLOOR_KINDS (default kernel), with the same timestamp callback and buffers, and
 * throws every buffer away unread. What a program loses under it, no tracer on CUPTI can avoid.
 *
 *	CUDA_INJECTION64_PATH=.../libcupti_floor.so FLOOR_KINDS=kernel,memcpy prog
 *
 * pc_sample among FLOOR_KINDS enables PC sampling of each context and lets nothing begin, which
 * costs launches the same as sampling does; launch among them enables callbacks that do nothing on
 * the two calls that launch most kernels.
 *
 * FLOOR_CUPTI names the libcupti for programs that have none mapped; else the loader's path is
 * searched. What does not work is said on standard error: this library serves benchmarks only.
 */
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES (512u << 10) /* the library's default */
#define BUFFER_COUNT 128

int InitializeInjection(void);

struct kind {
	const char *probe;
	CUpti_ActivityKind kinds[2];
};

static const struct kind kinds[] = {
	{"kernel", {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}},
	{"graph", {CUPTI_ACTIVITY_KIND_GRAPH_TRACE}},
	{"memcpy", {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2}},
	{"memset", {CUPTI_ACTIVITY_KIND_MEMSET}},
	{"memory", {CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY_POOL}},
	{"sync", {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT}},
	{"api", {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER}},
	{"overhead", {CUPTI_ACTIVITY_KIND_OVERHEAD}},
};

/* Buffers not in CUPTI's hands; the mutex protects both, nothing is taken under it. */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *pool[BUFFER_COUNT];
static unsigned int pool_count;

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&pool_lock);
	*buffer = pool_count ? pool[--pool_count] : NULL;
	pthread_mutex_unlock(&pool_lock);
	if (!*buffer)
		*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
				      size_t size, size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)size;
	(void)valid_bytes;
	pthread_mutex_lock(&pool_lock);
	if (pool_count < BUFFER_COUNT) {
		pool[pool_count++] = buffer;
		buffer = NULL;
	}
	pthread_mutex_unlock(&pool_lock);
	free(buffer);
}

static uint64_t CUPTIAPI timestamp(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int mapped_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libcupti.so"))
		return 0;
	snprintf(arg, PATH_MAX, "%s", info->dlpi_name);
	return 1;
}

/* Never a second libcupti: the one the process has wins. */
static void *cupti_load(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
	const char *chosen = getenv("FLOOR_CUPTI");
	char path[PATH_MAX];
	void *handle = NULL;

	if (dl_iterate_phdr(mapped_find, path))
		return dlopen(path, RTLD_NOW);
	if (chosen)
		return dlopen(chosen, RTLD_NOW);
	for (size_t i = 0; !handle && i < sizeof(names) / sizeof(*names); i++)
		handle = dlopen(names[i], RTLD_NOW);
	return handle ? handle : dlopen("/usr/local/cuda/lib64/libcupti.so", RTLD_NOW);
}

static void check(CUptiResult result, const char *what)
{
	if (result != CUPTI_SUCCESS)
		fprintf(stderr, "cupti_floor: %s: CUPTI error %d\n", what, (int)result);
}

static CUptiResult (*pc_enable)(CUpti_PCSamplingEnableParams *);

/* The one subscriber's only callback: launches pass it by. */
static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			    const void *data)
{
	const CUpti_ResourceData *resource = data;
	CUpti_PCSamplingEnableParams params = {.size = CUpti_PCSamplingEnableParamsSize};

	(void)user;
	if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		return;
	params.ctx = resource->context;
	check(pc_enable(&params), "pc_sample");
}

static void callback_enable(void *cupti, CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	static CUpti_SubscriberHandle subscriber;
	CUptiResult (*subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *) =
		dlsym(cupti, "cuptiSubscribe");
	CUptiResult (*enable)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
			      CUpti_CallbackId) = dlsym(cupti, "cuptiEnableCallback");

	if (!subscriber)
		check(subscribe(&subscriber, called, NULL), "subscribe");
	check(enable(1, subscriber, domain, id), "callback");
}

static void pc_sample_enable(void *cupti)
{
	pc_enable = dlsym(cupti, "cuptiPCSamplingEnable");
	callback_enable(cupti, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
}

static void launch_enable(void *cupti)
{
	callback_enable(cupti, CUPTI_CB_DOMAIN_RUNTIME_API,
			CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	callback_enable(cupti, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
}

static void kinds_enable(void *cupti, const char *wanted)
{
	CUptiResult (*enable)(CUpti_ActivityKind) = dlsym(cupti, "cuptiActivityEnable");
	char list[256], *save = NULL;

	snprintf(list, sizeof(list), "%s", wanted);
	for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		size_t i = 0;

		if (!strcmp(name, "pc_sample")) {
			pc_sample_enable(cupti);
			continue;
		}
		if (!strcmp(name, "launch")) {
			launch_enable(cupti);
			continue;
		}
		while (i < sizeof(kinds) / sizeof(*kinds) && strcmp(kinds[i].probe, name))
			i++;
		if (i == sizeof(kinds) / sizeof(*kinds)) {
			fprintf(stderr, "cupti_floor: FLOOR_KINDS: unknown kind '%s'\n", name);
			continue;
		}
		for (int j = 0; j < 2 && kinds[i].kinds[j]; j++)
			check(enable(kinds[i].kinds[j]), name);
	}
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	CUptiResult (*callbacks)(CUpti_BuffersCallbackRequestFunc,
				 CUpti_BuffersCallbackCompleteFunc);
	CUptiResult (*clock)(CUpti_TimestampCallbackFunc);
	CUptiResult (*period)(uint32_t);
	const char *wanted = getenv("FLOOR_KINDS");
	void *cupti = cupti_load();

	if (!cupti) {
		fprintf(stderr, "cupti_floor: no libcupti: %s\n", dlerror());
		return 1;
	}
	for (pool_count = 0; pool_count < BUFFER_COUNT / 4; pool_count++) {
		pool[pool_count] = aligned_alloc(8, BUFFER_BYTES);
		memset(pool[pool_count], 0, BUFFER_BYTES);
	}
	clock = dlsym(cupti, "cuptiActivityRegisterTimestampCallback");
	if (clock)
		check(clock(timestamp), "timestamp callback");
	callbacks = dlsym(cupti, "cuptiActivityRegisterCallbacks");
	check(callbacks(buffer_requested, buffer_completed), "buffer callbacks");
	period = dlsym(cupti, "cuptiActivityFlushPeriod");
	if (period)
		check(period(100), "flush period");
	kinds_enable(cupti, wanted ? wanted : "kernel");
	return 1;
}
