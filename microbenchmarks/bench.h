/* SPDX-License-Identifier: Apache-2.0 */
/* What every microbenchmark needs: clocks, medians, one way of printing, one way of being driven.
 */
#ifndef CUPROBE_MICROBENCHMARKS_BENCH_H
#define CUPROBE_MICROBENCHMARKS_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bench_stat {
	double median, q1, q3, min, max;
	size_t n;
};

uint64_t bench_clock_ns(clockid_t clock);

/* Sorts `values`; n >= 1. */
struct bench_stat bench_stat(double *values, size_t n);

/* `name  median unit  (q1 .. q3, n = ...)`: one line of a person's table. */
void bench_print(const char *name, const char *unit, struct bench_stat s);

/* `,"name":{"median":...,"q1":...,"q3":...,"min":...,"max":...,"n":...}`: a member of a line. */
void bench_json(const char *name, struct bench_stat s);

/* The number after `option` (such as "--reps") on the command line, or `value`. */
long bench_option(int argc, char **argv, const char *option, long value);

/*
 * Without --serve: measures once. With it: prints {"ready":true}, then measures once for every
 * line of standard input, which labels the result, until the input ends; so a driver can take
 * turns between processes and attach in between. Returns an exit status.
 */
int bench_run(int argc, char **argv, int (*measure)(void *arg, const char *label), void *arg);

#ifdef __cplusplus
}
#endif

#endif
