/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUPTI client as simple as can be, for the simulator's own tests. Loaded through
 * CUDA_INJECTION64_PATH it collects the kinds in MOCK_CLIENT_KINDS (numbers with commas between)
 * and writes what it counted to the file MOCK_CLIENT_OUT. MOCK_CLIENT_CALLBACKS=1 enables all
 * callbacks of API functions, MOCK_CLIENT_CYCLES=N attaches and detaches so often, with
 * cuptiFinalize each time, and with MOCK_CLIENT_KEEP=1 the kinds stay on until then.
 */
#include <cupti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (256 * 1024)
#define MAX_KINDS 64

int InitializeInjection(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the counts */
static uint64_t counts[MAX_KINDS], invalid, early;
static _Atomic uint64_t enters, exits, cycles;
static _Atomic bool finalize, finalized, stopping;
static CUpti_SubscriberHandle subscriber;
static pthread_t cycler;
static pid_t owner;

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void record_count(const CUpti_Activity *record, uint64_t now)
{
	const CUpti_ActivityKernel8 *kernel = (const void *)record;

	counts[record->kind % MAX_KINDS]++;
	if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		return;
	if (!kernel->start || kernel->end < kernel->start)
		invalid++;
	else if (kernel->end > now)
		early++;
}

static void buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			     size_t valid)
{
	CUpti_Activity *record = NULL;
	uint64_t now = clock_now();

	(void)context, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	while (!cuptiActivityGetNextRecord(buffer, valid, &record))
		record_count(record, now);
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		     const void *data)
{
	const CUpti_CallbackData *call = data;

	(void)userdata, (void)cbid;
	if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API)
		return;
	if (call->callbackSite == CUPTI_API_ENTER) {
		atomic_fetch_add(&enters, 1);
		return;
	}
	atomic_fetch_add(&exits, 1);
	if (atomic_exchange(&finalize, false)) {
		cuptiFinalize();
		atomic_store(&finalized, true);
	}
}

static void check(const char *what, CUptiResult result)
{
	const char *text = "?";

	if (!result)
		return;
	cuptiGetResultString(result, &text);
	fprintf(stderr, "client: %s: %s\n", what, text);
	exit(1);
}

static void kinds_switch(CUptiResult (*call)(CUpti_ActivityKind))
{
	const char *kinds = getenv("MOCK_CLIENT_KINDS");

	while (kinds && *kinds) {
		char *end;
		unsigned long kind = strtoul(kinds, &end, 10);

		check("cuptiActivityEnable or Disable", call((CUpti_ActivityKind)kind));
		kinds = *end ? end + 1 : end;
	}
}

static void callbacks_enable(void)
{
	cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
	cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
}

static void attach(void)
{
	check("cuptiSubscribe", cuptiSubscribe(&subscriber, callback, NULL));
	check("cuptiActivityRegisterTimestampCallback",
	      cuptiActivityRegisterTimestampCallback(clock_now));
	check("cuptiActivityRegisterCallbacks",
	      cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed));
	kinds_switch(cuptiActivityEnable);
	if (getenv("MOCK_CLIENT_CALLBACKS"))
		callbacks_enable();
}

/* Finalises at the next call of the application, or gives up when it makes none. */
static void detach(void)
{
	if (!getenv("MOCK_CLIENT_KEEP"))
		kinds_switch(cuptiActivityDisable);
	check("cuptiActivityFlushAll", cuptiActivityFlushAll(0));
	callbacks_enable();
	atomic_store(&finalized, false);
	atomic_store(&finalize, true);
	while (!atomic_load(&finalized) && !atomic_load(&stopping))
		usleep(100);
}

static void *cycle(void *times)
{
	for (uint64_t i = 0; i < (uintptr_t)times && !atomic_load(&stopping); i++) {
		attach();
		usleep(1000);
		detach();
		atomic_fetch_add(&cycles, 1);
	}
	return NULL;
}

static void counts_write(FILE *file, size_t dropped)
{
	pthread_mutex_lock(&lock);
	for (unsigned int kind = 0; kind < MAX_KINDS; kind++) {
		if (counts[kind])
			fprintf(file, "%u %llu\n", kind, (unsigned long long)counts[kind]);
	}
	fprintf(file,
		"invalid %llu\nearly %llu\ndropped %zu\nenters %llu\nexits %llu\ncycles %llu\n",
		(unsigned long long)invalid, (unsigned long long)early, dropped,
		(unsigned long long)enters, (unsigned long long)exits, (unsigned long long)cycles);
	pthread_mutex_unlock(&lock);
}

static void client_finish(void)
{
	const char *path = getenv("MOCK_CLIENT_OUT");
	size_t dropped = 0;
	FILE *file;

	if (getpid() != owner)
		return;
	if (cycler) {
		atomic_store(&stopping, true);
		pthread_join(cycler, NULL);
	} else {
		cuptiActivityFlushAll(0);
		cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
		cuptiUnsubscribe(subscriber);
		if (getenv("MOCK_CLIENT_BREAK"))
			cuptiUnsubscribe(subscriber);
	}
	file = path ? fopen(path, "w") : NULL;
	if (!file)
		return;
	counts_write(file, dropped);
	fclose(file);
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *times = getenv("MOCK_CLIENT_CYCLES");

	owner = getpid();
	if (times)
		pthread_create(&cycler, NULL, cycle, (void *)(uintptr_t)strtoul(times, NULL, 10));
	else
		attach();
	atexit(client_finish);
	return 1;
}
