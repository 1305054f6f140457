/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a walk of the call stack costs: the library's unwinder, that of libgcc and libunwind, each
 * with its caches warm, at several depths. The library's three times: the same stack again; a stack
 * whose inner half is another one than the last time, as it is from launch to launch; and one of
 * which nothing is known but its rules. Then with all of the processor's caches emptied before.
 *
 *	unwind [--reps 20] [--walks 2000]
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "bench.h"
#include "src/inject/unwind_places.h"

#define REPS_MOST 256
#define DEPTH_MOST 256
#define COLD_BYTES ((size_t)96 << 20)
#define COLD_WALKS 5

static struct cuprobe_unwinding unwinding;
static int (*libunwind_backtrace)(void **buffer, int size);
static void *addresses[DEPTH_MOST];
static int address_count;

static void ours(void)
{
	cuprobe_unwind(&unwinding, CUPROBE_REGISTERS_OF_CALLER());
}

static void ours_anew(void)
{
	cuprobe_places_forget(&unwinding);
	cuprobe_unwind(&unwinding, CUPROBE_REGISTERS_OF_CALLER());
}

static _Unwind_Reason_Code address_take(struct _Unwind_Context *context, void *unused)
{
	(void)unused;
	addresses[address_count++ % DEPTH_MOST] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static void libgcc(void)
{
	address_count = 0;
	_Unwind_Backtrace(address_take, NULL);
}

static void libunwind(void)
{
	libunwind_backtrace(addresses, DEPTH_MOST);
}

/* Walks of one way at the end of a call chain, each timed by itself. */
struct measurement {
	void (*walk)(void);
	int depth;  /* calls between main() and the walk, or some more */
	char *cold; /* memory to empty caches with, or NULL */
	uint64_t clock_ns;
	double sum_ns;
};

static void cold_touch(char *memory)
{
	for (size_t i = 0; i < COLD_BYTES; i += 64)
		memory[i]++;
}

static __attribute__((noinline)) int walk(struct measurement *m)
{
	uint64_t start;

	if (m->cold)
		cold_touch(m->cold);
	start = bench_clock_ns(CLOCK_MONOTONIC);
	m->walk();
	m->sum_ns += (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) - (double)m->clock_ns;
	return 1;
}

/* Several functions, so that the stack is no simple repetition; `path` says which. */
static __attribute__((noinline)) int one(struct measurement *m, int left, unsigned int path);
static __attribute__((noinline)) int two(struct measurement *m, int left, unsigned int path);

static __attribute__((noinline)) int on(struct measurement *m, int left, unsigned int path)
{
	volatile int here = left;

	if (!left)
		return walk(m) + here;
	return (path >> left % 32 & 1 ? one(m, left - 1, path) : two(m, left - 1, path)) + here;
}

static int one(struct measurement *m, int left, unsigned int path)
{
	volatile char memory[40];

	memory[0] = (char)left;
	return (left ? on(m, left - 1, path) : walk(m)) + memory[0];
}

static int two(struct measurement *m, int left, unsigned int path)
{
	char *memory = __builtin_alloca(16 + (size_t)left % 8 * 16);
	int result;

	*(volatile char *)memory = (char)left;
	result = left ? on(m, left - 1, path) : walk(m);
	return result + *(volatile char *)memory;
}

/* `outer` frames that stay, then as many calls as wanted, with inner frames that take turns. */
static __attribute__((noinline)) int rest(struct measurement *m, int outer, int inner, long walks,
					  bool turns)
{
	volatile int sum = 0;

	if (outer > 0)
		return rest(m, outer - 1, inner, walks, turns) + sum;
	for (volatile long i = 0; i < walks; i++)
		sum += on(m, inner, turns && i % 2 ? 0x5a5a5a5a : 0x33cc33cc);
	return sum;
}

static double measure(struct measurement *m, long walks, bool turns)
{
	m->sum_ns = 0;
	rest(m, m->depth / 2, m->depth / 2, walks, turns);
	return m->sum_ns / (double)walks;
}

static uint64_t clock_cost(void)
{
	uint64_t start = bench_clock_ns(CLOCK_MONOTONIC), end = start;

	for (int i = 0; i < 100000; i++)
		end = bench_clock_ns(CLOCK_MONOTONIC);
	return (end - start) / 100000;
}

static void report(const char *what, struct measurement *m, size_t reps, long walks, bool turns)
{
	double stack[REPS_MOST], frame[REPS_MOST];
	char name[64];
	__u32 frames;

	measure(m, walks, turns);
	frames = unwinding.depth;
	for (size_t i = 0; i < reps; i++) {
		stack[i] = measure(m, walks, turns);
		frame[i] = stack[i] / frames;
	}
	snprintf(name, sizeof(name), "%s, %u frames%s", what, frames, m->cold ? ", cold" : "");
	bench_print(name, "ns/stack", bench_stat(stack, reps));
	bench_print("", "ns/frame", bench_stat(frame, reps));
}

static void depth_report(struct measurement *m, size_t reps, long walks)
{
	m->walk = ours;
	report("ours, unchanged", m, reps, walks, false);
	report("ours, half changed", m, reps, walks, true);
	m->walk = ours_anew;
	report("ours, all anew", m, reps, walks, false);
	m->walk = libgcc;
	report("_Unwind_Backtrace", m, reps, walks, false);
	m->walk = libunwind;
	if (libunwind_backtrace)
		report("libunwind", m, reps, walks, false);
}

int main(int argc, char **argv)
{
	static const int depths[] = {20, 80, 120};
	size_t reps = (size_t)bench_option(argc, argv, "--reps", 20);
	long walks = bench_option(argc, argv, "--walks", 2000);
	void *library = dlopen("libunwind.so.8", RTLD_NOW);
	void *symbol = library ? dlsym(library, "unw_backtrace") : NULL;
	char *cold = calloc(1, COLD_BYTES);

	if (!cold || reps < 1 || reps > REPS_MOST || walks < 1)
		return 2;
	memcpy(&libunwind_backtrace, &symbol, sizeof(symbol));
	if (!libunwind_backtrace)
		printf("no libunwind.so.8: libunwind is not measured\n");
	cuprobe_unwind_init(&unwinding);
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct measurement m = {.depth = depths[i], .clock_ns = clock_cost()};

		depth_report(&m, reps, walks);
		m.cold = cold;
		depth_report(&m, reps < 5 ? reps : 5, COLD_WALKS);
	}
	free(cold);
	return 0;
}
