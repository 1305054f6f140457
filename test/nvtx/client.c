/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses NVTX as programs do: everything that the headers offer, a known number of
 * times. Built with the headers of several toolkits.
 *
 *	client [WAIT]	waits until a line comes on stdin, if WAIT is given, after a first event
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef USE_NVTX2 /* with libnvToolsExt.so */
#include <nvToolsExt.h>
#include <nvToolsExtSync.h>
#else
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#endif

static void core(void)
{
	nvtxRangeId_t range;

	nvtxMarkA("mark a");
	nvtxMarkW(L"mark w \u00e9");
	printf("level %d\n", nvtxRangePushA("outer"));
	printf("level %d\n", nvtxRangePushW(L"inner"));
	printf("level %d\n", nvtxRangePop());
	printf("level %d\n", nvtxRangePop());
	printf("level %d\n", nvtxRangePop());
	range = nvtxRangeStartA("start a");
	nvtxRangeEnd(range);
	nvtxRangeEnd(0);
	nvtxNameCategoryA(1, "category one");
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "main thread");
}

static void domain(void)
{
	nvtxDomainHandle_t d = nvtxDomainCreateA("client domain");
	nvtxEventAttributes_t a = {0};
	nvtxRangeId_t range;

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.category = 2;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff3366cc;
	a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	a.payload.dValue = 0.25;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(d, "registered message");
	nvtxDomainNameCategoryA(d, 2, "category two");
	nvtxDomainMarkEx(d, &a);
	nvtxDomainRangePushEx(d, &a);
	nvtxDomainRangePop(d);
	range = nvtxDomainRangeStartEx(d, &a);
	nvtxDomainRangeEnd(d, range);
	nvtxDomainDestroy(d);
}

static nvtxSyncUser_t sync_create(nvtxDomainHandle_t d, const char *name)
{
	nvtxSyncUserAttributes_t a = {0};

	a.version = NVTX_VERSION;
	a.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
	if (name) {
		a.messageType = NVTX_MESSAGE_TYPE_ASCII;
		a.message.ascii = name;
	}
	return nvtxDomainSyncUserCreate(d, &a);
}

static void synchronisation(void)
{
	nvtxSyncUser_t lock = sync_create(nvtxDomainCreateA("client domain"), "lock");
	nvtxSyncUser_t unnamed = sync_create(NULL, NULL);

	nvtxDomainSyncUserAcquireStart(lock);
	printf("level %d\n", nvtxRangePushA("waiting"));
	printf("level %d\n", nvtxRangePop());
	nvtxDomainSyncUserAcquireSuccess(lock);
	nvtxDomainSyncUserReleasing(lock);
	nvtxDomainSyncUserAcquireStart(unnamed);
	nvtxDomainSyncUserAcquireFailed(unnamed);
	nvtxDomainSyncUserDestroy(lock);
	nvtxDomainSyncUserDestroy(unnamed);
}

static void *left_open(void *arg)
{
	(void)arg;
	nvtxRangePushA("left open");
	return NULL;
}

static void *ends_range(void *arg)
{
	nvtxRangeEnd(*(nvtxRangeId_t *)arg);
	return NULL;
}

static void threads(void)
{
	nvtxRangeId_t range = nvtxRangeStartA("across threads");
	pthread_t thread;

	pthread_create(&thread, NULL, ends_range, &range);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, left_open, NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	char line[16];

	(void)argv;
	nvtxMarkA("first");
	if (argc > 1) {
		printf("ready\n");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	core();
	domain();
	synchronisation();
	threads();
	nvtxMarkA("last");
	return 0;
}
