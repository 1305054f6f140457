/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX at its limits, as programs in trouble use it.
 *
 *	stress open COUNT	so many start/end ranges open at one time
 *	stress threads COUNT	so many threads, each with 10000 nested pairs and one range left
 *open stress messages COUNT	so many different messages stress fork COUNT	so many children,
 *which use NVTX as well stress steady SECONDS	pairs without a pause; prints how many events it
 *made
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#define PAIRS 10000

static void run_open(long count)
{
	nvtxRangeId_t *ranges = calloc((size_t)count, sizeof(*ranges));

	for (long i = 0; i < count; i++)
		ranges[i] = nvtxRangeStartA("open");
	for (long i = 0; i < count; i++)
		nvtxRangeEnd(ranges[i]);
	free(ranges);
}

static void *pairs_body(void *arg)
{
	nvtxRangePushA("thread");
	for (int i = 0; i < PAIRS; i++) {
		nvtxRangePushA("pair");
		if (nvtxRangePop() != 1)
			*(int *)arg = 1;
	}
	return NULL;
}

static int run_threads(long count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	int wrong = 0;

	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, pairs_body, &wrong);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return wrong;
}

static void run_messages(long count)
{
	char message[32];

	for (long i = 0; i < count; i++) {
		snprintf(message, sizeof(message), "message %ld", i);
		nvtxMarkA(message);
	}
}

static void run_fork(long count)
{
	nvtxRangePushA("parent");
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (!child) {
			nvtxRangePushA("child");
			nvtxRangePop();
			nvtxDomainCreateA("of a child");
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	nvtxRangePop();
}

static void run_steady(long seconds)
{
	struct timespec begin, now;
	unsigned long events = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 1000; i++) {
			nvtxRangePushA("steady");
			nvtxRangePop();
		}
		events += 2000;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < seconds);
	printf("%lu\n", events);
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;

	if (argc < 3)
		return 1;
	if (!strcmp(argv[1], "open"))
		run_open(count);
	else if (!strcmp(argv[1], "threads"))
		return run_threads(count);
	else if (!strcmp(argv[1], "messages"))
		run_messages(count);
	else if (!strcmp(argv[1], "fork"))
		run_fork(count);
	else if (!strcmp(argv[1], "steady"))
		run_steady(count);
	else
		return 1;
	return 0;
}
