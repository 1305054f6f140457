/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a probe site costs: nobody attached, and with the collector's BPF program attached, for one
 * record and for a full batch.
 *
 *	probe_cost [--reps 20]			the second half needs root
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "microbenchmarks/fire.h"
#include "src/collector/session.h"

#define REPS_MOST 256
#define RECORD_BYTES 64u

static __u8 data[CUPROBE_BATCH_BYTES] __attribute__((aligned(64)));
static __u64 received;

static int batch_received(void *arg, const struct cuprobe_batch_header *h, const void *records)
{
	(void)arg;
	(void)records;
	received += h->count;
	return 0;
}

static double time_fire(const struct fire *fire, __u32 records, __u32 times)
{
	__u64 start = bench_clock_ns(CLOCK_MONOTONIC);

	for (__u32 i = 0; i < times; i++)
		fire->raw(data, records);
	return (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / times;
}

static double time_wanted(const struct fire *fire, __u32 times)
{
	__u64 start = bench_clock_ns(CLOCK_MONOTONIC);

	for (__u32 i = 0; i < times; i++)
		fire->wanted();
	return (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / times;
}

static void measure_bare(const struct fire *fire, size_t reps)
{
	double ns[REPS_MOST];

	for (size_t i = 0; i < reps; i++)
		ns[i] = time_fire(fire, 1, 1000000);
	bench_print("firing, nobody attached", "ns", bench_stat(ns, reps));
	for (size_t i = 0; i < reps; i++)
		ns[i] = time_wanted(fire, 1000000);
	bench_print("asking whether somebody is attached", "ns", bench_stat(ns, reps));
}

/* Fewer firings than the ring holds, then the ring is emptied. */
static int measure_attached(const struct fire *fire, struct session *session, size_t reps,
			    __u32 records, const char *name)
{
	double ns[REPS_MOST];
	int err = 0;

	for (size_t i = 0; err >= 0 && i < reps; i++) {
		ns[i] = time_fire(fire, records, 256);
		err = session_poll(session, 1);
	}
	if (err < 0)
		return err;
	bench_print(name, "ns", bench_stat(ns, reps));
	return 0;
}

int main(int argc, char **argv)
{
	size_t reps = (size_t)bench_option(argc, argv, "--reps", 20);
	const struct fire *fire = fire_load();
	struct session_handler handler = {.batch = batch_received};
	pid_t self = getpid();
	struct session_opts opts = {
		.probes = 1u << CUPROBE_PROBE_memset, .pids = &self, .pid_count = 1};
	struct session *session = NULL;
	char why[512] = "";
	int err;

	if (!fire || reps < 1 || reps > REPS_MOST)
		return 2;
	memset(data, 1, sizeof(data)); /* resident, as a batch just written is */
	measure_bare(fire, reps);
	if (geteuid()) {
		printf("SKIP: needs root for BPF\n");
		return 77;
	}
	err = session_open(&session, &opts, &handler, why, sizeof(why));
	if (err) {
		fprintf(stderr, "probe_cost: %s: %s\n", why, strerror(-err));
		return 1;
	}
	err = measure_attached(fire, session, reps, 1, "firing, BPF attached, 64 bytes");
	if (!err)
		err = measure_attached(fire, session, reps, CUPROBE_BATCH_BYTES / RECORD_BYTES,
				       "firing, BPF attached, 32 KiB");
	printf("%llu records arrived\n", (unsigned long long)received);
	session_free(session);
	return err || !received;
}
