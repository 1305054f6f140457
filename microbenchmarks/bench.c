/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t bench_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double sorted_quantile(const double *v, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[i];
}

struct bench_stat bench_stat(double *values, size_t n)
{
	struct bench_stat s;

	qsort(values, n, sizeof(*values), double_compare);
	s.median = sorted_quantile(values, n, 0.5);
	s.q1 = sorted_quantile(values, n, 0.25);
	s.q3 = sorted_quantile(values, n, 0.75);
	s.min = values[0];
	s.max = values[n - 1];
	s.n = n;
	return s;
}

void bench_print(const char *name, const char *unit, struct bench_stat s)
{
	printf("%-44s %12.2f %-10s (%.2f .. %.2f, n = %zu)\n", name, s.median, unit, s.q1, s.q3,
	       s.n);
	fflush(stdout);
}

void bench_json(const char *name, struct bench_stat s)
{
	printf(",\"%s\":{\"median\":%.2f,\"q1\":%.2f,\"q3\":%.2f,\"min\":%.2f,\"max\":%.2f,"
	       "\"n\":%zu}",
	       name, s.median, s.q1, s.q3, s.min, s.max, s.n);
}

long bench_option(int argc, char **argv, const char *option, long value)
{
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], option))
			return atol(argv[i + 1]);
	return value;
}

static int serve(int (*measure)(void *arg, const char *label), void *arg)
{
	char label[128];
	int err = 0;

	printf("{\"ready\":true,\"pid\":%d}\n", (int)getpid());
	fflush(stdout);
	while (!err && fgets(label, sizeof(label), stdin)) {
		label[strcspn(label, "\n\"\\")] = 0;
		err = measure(arg, label);
		fflush(stdout);
	}
	return err ? 1 : 0;
}

int bench_run(int argc, char **argv, int (*measure)(void *arg, const char *label), void *arg)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--serve"))
			return serve(measure, arg);
	return measure(arg, "once") ? 1 : 0;
}
