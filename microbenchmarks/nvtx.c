/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVTX costs the thread that uses it: without an injection, with the library and nobody
 * attached, and attached.
 *
 *	nvtx [--reps 20]			the second half needs root
 *
 * Two clients in one process take turns: one that was initialised before there was an injection,
 *and one after. Attached, a thread that never pauses would outrun any reader: it is measured in
 * bursts.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "microbenchmarks/nvtx_client.h"
#include "src/collector/session.h"

#define REPS_MOST 256
#define DORMANT_PAIRS 10000000
#define BURST_PAIRS 2000
#define BURSTS 50 /* in a repetition; the best counts: others were interrupted */
#define REST_US 15000

static __u64 received;

static int batch_received(void *arg, const struct cuprobe_batch_header *h, const void *records)
{
	(void)arg;
	(void)records;
	received += h->probe == CUPROBE_PROBE_nvtx ? h->count : 0;
	return 0;
}

/* `name` beside the program, or one of two places for the library. */
static void beside(char path[PATH_MAX], const char *name)
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 64);

	path[n > 0 ? n : 0] = 0;
	strcpy(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, name);
}

static const struct nvtx_client *client_load(const char *name)
{
	char path[PATH_MAX];
	void *handle;

	beside(path, name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fprintf(stderr, "%s\n", dlerror());
	return handle ? dlsym(handle, "nvtx_client") : NULL;
}

static void injection_name(void)
{
	char path[PATH_MAX];

	beside(path, "../src/inject/libcuprobe.so");
	if (access(path, R_OK))
		beside(path, "../lib/libcuprobe.so");
	setenv("NVTX_INJECTION64_PATH", path, 1);
}

static double time_pairs(void (*pairs)(long), long count)
{
	__u64 start = bench_clock_ns(CLOCK_MONOTONIC);

	pairs(count);
	return (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / (double)count;
}

static void measure_dormant(const struct nvtx_client *bare, const struct nvtx_client *ours,
			    size_t reps)
{
	double bare_ns[REPS_MOST], ours_ns[REPS_MOST], more_ns[REPS_MOST];

	for (size_t i = 0; i < reps; i++) {
		bare_ns[i] = time_pairs(bare->pairs, DORMANT_PAIRS);
		ours_ns[i] = time_pairs(ours->pairs, DORMANT_PAIRS);
		more_ns[i] = ours_ns[i] - bare_ns[i];
	}
	bench_print("push and pop, no injection", "ns", bench_stat(bare_ns, reps));
	bench_print("push and pop, nobody attached", "ns", bench_stat(ours_ns, reps));
	bench_print("difference", "ns", bench_stat(more_ns, reps));
}

static double time_bursts(struct session *session, void (*pairs)(long))
{
	double best = 1e9;

	for (int i = 0; i < BURSTS; i++) {
		double ns = time_pairs(pairs, BURST_PAIRS) / 2;

		best = ns < best ? ns : best;
		usleep(REST_US);
		session_poll(session, 0);
	}
	return best;
}

static void measure_attached(struct session *session, const char *name, void (*pairs)(long),
			     size_t reps)
{
	double ns[REPS_MOST];

	for (size_t i = 0; i < reps; i++)
		ns[i] = time_bursts(session, pairs);
	bench_print(name, "ns", bench_stat(ns, reps));
}

static void measure_clock(size_t reps)
{
	double ns[REPS_MOST];

	for (size_t i = 0; i < reps; i++) {
		__u64 start = bench_clock_ns(CLOCK_MONOTONIC);

		for (int j = 0; j < 100000; j++)
			bench_clock_ns(CLOCK_MONOTONIC);
		ns[i] = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / 100000;
	}
	bench_print("of it, reading the clock", "ns", bench_stat(ns, reps));
}

int main(int argc, char **argv)
{
	size_t reps = (size_t)bench_option(argc, argv, "--reps", 20);
	const struct nvtx_client *bare, *ours;
	struct session_handler handler = {.batch = batch_received};
	pid_t self = getpid();
	struct session_opts opts = {
		.probes = 1u << CUPROBE_PROBE_nvtx, .pids = &self, .pid_count = 1};
	struct session *session = NULL;
	char why[512] = "";
	int err;

	unsetenv("NVTX_INJECTION64_PATH");
	bare = client_load("libbench_nvtx_bare.so");
	ours = client_load("libbench_nvtx_ours.so");
	if (!bare || !ours || reps < 1 || reps > REPS_MOST)
		return 2;
	bare->init();
	injection_name();
	ours->init();
	measure_dormant(bare, ours, reps);
	if (geteuid()) {
		printf("SKIP: needs root for BPF\n");
		return 77;
	}
	err = session_open(&session, &opts, &handler, why, sizeof(why));
	if (err) {
		fprintf(stderr, "nvtx: %s: %s\n", why, strerror(-err));
		return 1;
	}
	usleep(200000); /* the library looks for consumers every 50 ms */
	measure_attached(session, "an event, attached", ours->pairs, reps);
	measure_attached(session, "an event of a domain, attached", ours->registered_pairs, reps);
	measure_clock(reps);
	session_poll(session, 300);
	printf("%llu of %llu events arrived\n", (unsigned long long)received,
	       (unsigned long long)reps * 2 * BURSTS * 2 * BURST_PAIRS);
	session_free(session);
	return !received;
}
