/* SPDX-License-Identifier: Apache-2.0 */
/* How long the library takes to read the Python frames of the thread that calls; python_walk.py
 * calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microbenchmarks/bench.h"
#include "src/inject/python.h"

#define MOST 128 /* frames */
#define REPS 101
#define WALKS 1000	       /* in one repetition, warm */
#define CACHE_BYTES (64 << 20) /* more than caches hold */

__attribute__((visibility("default"))) int measure(void);

static struct cuprobe_python_memory memory;
static struct cuprobe_python_frame frames[MOST];

/* Nanoseconds for each frame. */
static double walks(int times)
{
	__u64 from = bench_clock_ns(CLOCK_MONOTONIC);
	__u32 count = 0;

	for (int i = 0; i < times; i++)
		count += cuprobe_python_walk(&memory, frames, MOST);
	return count ? (double)(bench_clock_ns(CLOCK_MONOTONIC) - from) / count : 0;
}

static void caches_clear(void)
{
	static volatile char *bytes;

	if (!bytes)
		bytes = malloc(CACHE_BYTES);
	for (int i = 0; bytes && i < CACHE_BYTES; i += 64)
		bytes[i]++;
}

static void measure_one(const char *state, int times)
{
	double values[REPS];
	char name[64];
	__u32 count = cuprobe_python_walk(&memory, frames, MOST);

	for (int i = 0; i < REPS; i++) {
		if (times == 1)
			caches_clear();
		values[i] = walks(times);
	}
	snprintf(name, sizeof(name), "%s, %u frames", state, count);
	bench_print(name, "ns a frame", bench_stat(values, REPS));
}

/* Returns how many frames there are; 0 when they cannot be read. */
int measure(void)
{
	cuprobe_python_look();
	measure_one("warm", WALKS);
	measure_one("caches cleared", 1);
	fflush(stdout);
	return (int)cuprobe_python_walk(&memory, frames, MOST);
}
