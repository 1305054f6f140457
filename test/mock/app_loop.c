/* SPDX-License-Identifier: Apache-2.0 */
/* The plain workload: threads that launch kernels or graphs, copy, and wait. */
#include "test/mock/app.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ull
#define MAX_STREAMS 64

struct worker {
	const struct app_options *options;
	unsigned int number;
	cudaStream_t streams[MAX_STREAMS];
	cudaGraphExec_t graph;
	void *host, *device, *device_other;
	uint64_t done;
	pthread_t thread;
};

uint64_t app_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

void app_sleep_until(uint64_t time_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(time_ns / NSEC_PER_SEC),
			      .tv_nsec = (long)(time_ns % NSEC_PER_SEC)};

	if (app_now() < time_ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void worker_graph(struct worker *w)
{
	cudaGraphNode_t node;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	for (unsigned int i = 0; i < w->options->graph_nodes; i++) {
		struct cudaKernelNodeParams params = {.func = (void *)kernel_host(i),
						      .gridDim = {1 + i % 132, 1, 1},
						      .blockDim = {128, 1, 1}};

		CHECK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
	}
	CHECK(cudaGraphInstantiate(&w->graph, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

static void worker_init(struct worker *w)
{
	const struct app_options *o = w->options;

	CHECK(cudaSetDevice((int)(w->number % o->devices)));
	for (unsigned int i = 0; i < o->streams; i++)
		CHECK(cudaStreamCreateWithPriority(&w->streams[i], cudaStreamNonBlocking,
						   -(int)(i % 6)));
	if (o->graph_nodes)
		worker_graph(w);
	if (!o->copy_every)
		return;
	CHECK(cudaMallocHost(&w->host, o->copy_bytes));
	CHECK(cudaMalloc(&w->device, o->copy_bytes));
	CHECK(cudaSetDevice((int)((w->number + 1) % o->devices)));
	CHECK(cudaMalloc(&w->device_other, o->copy_bytes));
	CHECK(cudaSetDevice((int)(w->number % o->devices)));
}

static void worker_copies(struct worker *w, cudaStream_t stream)
{
	size_t bytes = w->options->copy_bytes;
	int device = (int)(w->number % w->options->devices);
	int other = (int)((w->number + 1) % w->options->devices);

	CHECK(cudaMemcpyAsync(w->device, w->host, bytes, cudaMemcpyHostToDevice, stream));
	CHECK(cudaMemsetAsync(w->device, 0x5a, bytes, stream));
	if (other != device)
		CHECK(cudaMemcpyPeerAsync(w->device_other, other, w->device, device, bytes,
					  stream));
	CHECK(cudaMemcpyAsync(w->host, w->device, bytes, cudaMemcpyDeviceToHost, stream));
}

static void worker_step(struct worker *w)
{
	const struct app_options *o = w->options;
	cudaStream_t stream = w->streams[w->done % o->streams];

	if (w->graph)
		CHECK(cudaGraphLaunch(w->graph, stream));
	else
		kernel_launch((unsigned int)w->done, o->api, stream);
	w->done++;
	if (o->copy_every && w->done % o->copy_every == 0)
		worker_copies(w, stream);
	if (o->sync_every && w->done % o->sync_every == 0)
		CHECK(cudaStreamSynchronize(stream));
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	const struct app_options *o = w->options;
	uint64_t start, end;

	worker_init(w);
	start = app_now();
	end = o->seconds > 0 ? start + (uint64_t)(o->seconds * 1e9) : UINT64_MAX;
	while (!o->count || w->done < o->count) {
		if (app_ending || (w->done % 16 == 0 && app_now() >= end))
			break;
		if (o->rate > 0)
			app_sleep_until(start + (uint64_t)((double)w->done * 1e9 / o->rate));
		worker_step(w);
	}
	CHECK(cudaDeviceSynchronize());
	return NULL;
}

void loop_report(const struct app_options *options, uint64_t done, uint64_t since_ns)
{
	double seconds = (double)(app_now() - since_ns) / 1e9;

	if (options->quiet)
		return;
	printf("%llu launches in %.3f s, %.0f/s\n", (unsigned long long)done, seconds,
	       (double)done / seconds);
	fflush(stdout);
}

int loop_run(const struct app_options *options)
{
	struct worker *workers = calloc(options->threads, sizeof(*workers));
	uint64_t start = app_now(), done = 0;

	for (unsigned int i = 0; i < options->threads; i++) {
		workers[i].options = options;
		workers[i].number = i;
		app_check("pthread_create",
			  pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]));
	}
	for (unsigned int i = 0; i < options->threads; i++) {
		pthread_join(workers[i].thread, NULL);
		done += workers[i].done;
	}
	loop_report(options, done, start);
	free(workers);
	return 0;
}

/* A million kernel records a second for as long as asked: graphs, spread over many streams. */
int soak_run(const struct app_options *options)
{
	struct app_options soak = *options;

	if (!soak.graph_nodes)
		soak.graph_nodes = 100;
	if (soak.streams == 1)
		soak.streams = 32;
	if (soak.rate <= 0)
		soak.rate = 1e6 / soak.graph_nodes / soak.threads;
	return loop_run(&soak);
}
