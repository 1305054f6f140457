/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to take a buffer from the library's pool, complete it and put it back: alone, and
 * while other threads do the same.
 *
 *	pool [--reps 20] [--threads 4]
 */
#include "src/inject/pool.h"

#include <pthread.h>
#include <stdio.h>

#include "bench.h"

#define REPS_MOST 256
#define THREADS_MOST 64
#define SLOTS 128
#define ROUNDS 200000

static struct cuprobe_pool pool;
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
	double *ns = arg;
	__u64 start;

	pthread_barrier_wait(&barrier);
	start = bench_clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < ROUNDS; i++) {
		struct cuprobe_buffer *buffer = cuprobe_pool_get(&pool);

		if (buffer && cuprobe_pool_complete(&pool, buffer->data))
			cuprobe_pool_put(&pool, buffer);
	}
	*ns = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / ROUNDS;
	return NULL;
}

/* Wall time of one get, complete and put, on average over the threads. */
static double measure(unsigned int threads)
{
	pthread_t ids[THREADS_MOST];
	double ns[THREADS_MOST], sum = 0;

	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, worker, &ns[i]);
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		sum += ns[i];
	}
	pthread_barrier_destroy(&barrier);
	return sum / threads;
}

int main(int argc, char **argv)
{
	size_t reps = (size_t)bench_option(argc, argv, "--reps", 20);
	unsigned int threads = (unsigned int)bench_option(argc, argv, "--threads", 4);
	double ns[REPS_MOST];
	char name[64];

	if (reps < 1 || reps > REPS_MOST || threads < 1 || threads > THREADS_MOST ||
	    cuprobe_pool_init(&pool, 4096, SLOTS))
		return 2;
	cuprobe_pool_grow(&pool, SLOTS, true);
	for (size_t i = 0; i < reps; i++)
		ns[i] = measure(1);
	bench_print("get + complete + put, one thread", "ns", bench_stat(ns, reps));
	for (size_t i = 0; i < reps; i++)
		ns[i] = measure(threads);
	snprintf(name, sizeof(name), "get + complete + put, %u threads", threads);
	bench_print(name, "ns", bench_stat(ns, reps));
	cuprobe_pool_done(&pool);
	return 0;
}
