/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a 64-byte record costs from the library's batch to the collector's reader, as CPU time of
 * both processes together, at a given rate: through the probe and BPF, and through the direct
 * channel; beside them a ring in shared memory, the limit, and the same producer with nobody
 * attached: what pacing and making records cost, which is no transport.
 *
 *	transport [--rate 1000000] [--seconds 2] [--reps 5] [--tick-us 5000] [--ring-kib 16384]
 *		[--warm-up 1] [--limit 1]
 *
 * Needs root for BPF. The producer works in ticks of 5 ms, as the pump does when CUPTI completes a
 * buffer. The reader looks at every record. They take turns, so that what else the machine does
 * meets them alike; `net` is a turn's figure less that of nobody attached. --rate 0: as fast as it
 * goes. --limit 0: the probe alone. Exit status 1: records were lost on the way through the probe
 * or the direct channel.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "microbenchmarks/fire.h"
#include "microbenchmarks/shm_ring.h"
#include "src/collector/session.h"

#define REPS_MOST 64
#define ARGUMENTS_MOST 32

/* The ways that are measured; the others are there to compare. */
enum { PROBE, DIRECT, SHARED_MEMORY, NOBODY, WAYS };

#define SETTLE_NS 1000000000u /* longest that the last records may take */

struct settings {
	__u64 rate, seconds, reps, tick_ns, ring_bytes, warm_up;
};

/* One repetition, as the producer saw it. */
struct produced {
	__u64 records, cpu_ns, wall_ns;
};

struct way {
	const char *name;
	const struct settings *settings;
	struct shm_ring *ring; /* NULL: the probe, or the direct channel */
	char **arguments;      /* ours, where the session is to start the producer */
	bool silent;	       /* nobody is attached */
	const struct fire *fire;
	struct session *session;
	int go[2], done[2]; /* pipes to and from the producer */
	__u64 received, lost, sum;
	pid_t producer;
	double producer_ns[REPS_MOST], reader_ns[REPS_MOST], rate[REPS_MOST];
};

static void sleep_until(__u64 ns)
{
	struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void way_write(struct way *w, __u64 first, __u32 count)
{
	if (w->ring)
		shm_ring_write(w->ring, first, count);
	else
		w->fire->records(first, count);
}

static struct produced produce(struct way *w)
{
	__u64 start = bench_clock_ns(CLOCK_MONOTONIC), next = start;
	__u64 end = start + w->settings->seconds * 1000000000u;
	__u64 cpu = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	__u64 tick_ns = w->settings->tick_ns, rate = w->settings->rate;
	__u32 count = rate ? (__u32)(rate * tick_ns / 1000000000u) : 5000;
	struct produced p = {0};

	while (next < end && bench_clock_ns(CLOCK_MONOTONIC) < end) {
		way_write(w, p.records, count);
		p.records += count;
		next += tick_ns;
		if (rate)
			sleep_until(next);
	}
	if (!w->ring)
		w->fire->flush();
	p.cpu_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	p.wall_ns = bench_clock_ns(CLOCK_MONOTONIC) - start;
	return p;
}

/* The producer's process: one repetition for each byte that comes. */
static void producer_main(struct way *w)
{
	char byte;

	close(w->go[1]);
	if (!w->ring) {
		w->fire = fire_load();
		if (!w->fire)
			_exit(1);
	}
	if (write(w->done[1], "", 1) != 1)
		_exit(1);
	while (read(w->go[0], &byte, 1) == 1) {
		struct produced p = produce(w);

		if (write(w->done[1], &p, sizeof(p)) != sizeof(p))
			_exit(1);
	}
	_exit(0);
}

static int batch_received(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	const struct cuprobe_memset *records = data;
	struct way *w = arg;

	if (h->probe != CUPROBE_PROBE_memset)
		return 0;
	for (__u32 i = 0; i < h->count; i++)
		w->sum += records[i].start_ns;
	w->received += h->count;
	return 0;
}

static int way_read(struct way *w)
{
	if (w->session)
		return session_poll(w->session, 20);
	if (w->silent) {
		poll(&(struct pollfd){w->done[0], POLLIN, 0}, 1, -1);
		return 0;
	}
	w->received += shm_ring_read(w->ring, &w->sum);
	sleep_until(bench_clock_ns(CLOCK_MONOTONIC) + w->settings->tick_ns);
	return 0;
}

static bool producer_done(struct way *w)
{
	struct pollfd p = {w->done[0], POLLIN, 0};

	return poll(&p, 1, 0) == 1;
}

/* The reader's side of one repetition; its CPU time, and what the producer said. */
static int repetition(struct way *w, struct produced *p, __u64 *ret_cpu_ns)
{
	__u64 cpu = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID), end;
	int err = 0;

	w->received = 0;
	if (write(w->go[1], "", 1) != 1)
		return -errno;
	while (err >= 0 && !producer_done(w))
		err = way_read(w);
	if (read(w->done[0], p, sizeof(*p)) != sizeof(*p))
		return -EPIPE;
	end = bench_clock_ns(CLOCK_MONOTONIC) + SETTLE_NS;
	while (err >= 0 && !w->silent && w->received < p->records &&
	       bench_clock_ns(CLOCK_MONOTONIC) < end)
		err = way_read(w);
	*ret_cpu_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	w->lost += p->records - w->received;
	return err < 0 ? err : 0;
}

/* Until the producer says that it is ready. */
static int way_await(const struct way *w)
{
	char byte;

	return read(w->done[0], &byte, 1) == 1 ? 0 : -EPIPE;
}

static int way_fork(struct way *w)
{
	w->producer = fork();
	if (w->producer < 0)
		return -errno;
	if (!w->producer)
		producer_main(w);
	return way_await(w);
}

/* The producer of the direct channel is a command: this program again, told its pipes. */
static char **way_command(const struct way *w)
{
	static char option[2][8] = {"--go", "--done"}, number[2][16];
	static char *argv[ARGUMENTS_MOST + 5];
	int count = 0;

	while (count < ARGUMENTS_MOST && w->arguments[count]) {
		argv[count] = w->arguments[count];
		count++;
	}
	snprintf(number[0], sizeof(number[0]), "%d", w->go[0]);
	snprintf(number[1], sizeof(number[1]), "%d", w->done[1]);
	for (int i = 0; i < 2; i++) {
		argv[count++] = option[i];
		argv[count++] = number[i];
	}
	return argv;
}

static int way_open_session(struct way *w)
{
	struct session_opts opts = {.via = w->arguments ? VIA_DIRECT : VIA_BPF,
				    .probes = 1u << CUPROBE_PROBE_memset,
				    .pids = &w->producer,
				    .pid_count = 1,
				    .command = w->arguments ? way_command(w) : NULL,
				    .library = fire_path(),
				    .ring_bytes = (__u32)w->settings->ring_bytes};
	struct session_handler handler = {.batch = batch_received, .arg = w};
	char why[512] = "";
	int err = session_open(&w->session, &opts, &handler, why, sizeof(why));

	if (!err)
		err = session_start(w->session);
	if (err)
		fprintf(stderr, "transport: %s: %s\n", why, strerror(-err));
	return err;
}

static int way_open(struct way *w)
{
	int err = pipe(w->go) || pipe(w->done) ? -errno : 0;

	if (!err && !w->arguments)
		err = way_fork(w);
	if (!err && !w->ring && !w->silent)
		err = way_open_session(w);
	if (!err && w->arguments)
		err = way_await(w);
	close(w->done[1]);
	return err;
}

static void way_close(struct way *w)
{
	if (w->session)
		session_signal(w->session, SIGKILL);
	session_free(w->session);
	close(w->go[1]);
	close(w->done[0]);
	if (w->producer > 0) {
		kill(w->producer, SIGKILL);
		waitpid(w->producer, NULL, 0);
	}
}

/* One turn; `at` is where its figures go. */
static int way_turn(struct way *w, size_t at)
{
	struct produced p;
	__u64 cpu_ns = 0;
	int err = repetition(w, &p, &cpu_ns);

	if (err)
		return err;
	w->producer_ns[at] = (double)p.cpu_ns / (double)p.records;
	w->reader_ns[at] = (double)cpu_ns / (double)p.records;
	w->rate[at] = (double)p.records * 1e9 / (double)p.wall_ns;
	return 0;
}

static void print(const struct way *w, const char *what, const char *unit, double *values)
{
	char name[64];

	snprintf(name, sizeof(name), "%s: %s", w->name, what);
	bench_print(name, unit, bench_stat(values, (size_t)w->settings->reps));
}

/* bench_stat sorts, so what goes together is added up before. */
struct sums {
	double both[REPS_MOST], net[REPS_MOST];
};

static void sums_add_up(struct sums *sums, const struct way *w, const struct way *silent)
{
	for (size_t i = 0; i < w->settings->reps; i++) {
		sums->both[i] = w->producer_ns[i] + w->reader_ns[i];
		sums->net[i] = sums->both[i] - silent->producer_ns[i];
	}
}

static void way_print(struct way *w, struct sums *sums, bool alone)
{
	print(w, "rate", "records/s", w->rate);
	print(w, "producer", "ns/record", w->producer_ns);
	if (w->silent)
		return;
	print(w, "reader", "ns/record", w->reader_ns);
	print(w, "both processes", "ns/record", sums->both);
	if (!alone)
		print(w, "both, net", "ns/record", sums->net);
	printf("%s: lost %llu records\n", w->name, (unsigned long long)w->lost);
}

static void ways_print(struct way *ways, size_t count)
{
	size_t reps = (size_t)ways->settings->reps;
	struct sums sums[WAYS];
	double ratio[WAYS][REPS_MOST];

	for (size_t k = 0; k < count; k++)
		sums_add_up(&sums[k], &ways[k], &ways[count == 1 ? PROBE : NOBODY]);
	for (size_t k = 0; count > 1 && k < SHARED_MEMORY; k++) {
		for (size_t i = 0; i < reps; i++)
			ratio[k][i] = sums[k].net[i] / sums[SHARED_MEMORY].net[i];
	}
	for (size_t k = 0; k < count; k++)
		way_print(&ways[k], &sums[k], count == 1);
	for (size_t k = 0; count > 1 && k < SHARED_MEMORY; k++)
		print(&ways[k], "net, beside shared memory", "times", ratio[k]);
}

static int ways_measure(struct way *ways, size_t count)
{
	const struct settings *s = ways->settings;
	size_t open = 0;
	int err = 0;

	while (!err && open < count)
		err = way_open(&ways[open++]);
	/* Turns for warm-up are overwritten by the next. */
	for (__u64 i = 0; !err && i < s->warm_up + s->reps; i++) {
		for (size_t k = 0; !err && k < count; k++)
			err = way_turn(&ways[k], i < s->warm_up ? 0 : (size_t)(i - s->warm_up));
	}
	if (!err)
		ways_print(ways, count);
	while (open)
		way_close(&ways[--open]);
	return err;
}

int main(int argc, char **argv)
{
	struct settings s = {
		.rate = (__u64)bench_option(argc, argv, "--rate", 1000000),
		.seconds = (__u64)bench_option(argc, argv, "--seconds", 2),
		.reps = (__u64)bench_option(argc, argv, "--reps", 5),
		.tick_ns = (__u64)bench_option(argc, argv, "--tick-us", 5000) * 1000,
		.warm_up = (__u64)bench_option(argc, argv, "--warm-up", 1),
		.ring_bytes = (__u64)bench_option(argc, argv, "--ring-kib", 16384) * 1024,
	};
	struct way ways[WAYS] = {
		[PROBE] = {.name = "usdt + bpf ring", .settings = &s},
		[DIRECT] = {.name = "direct channel", .settings = &s, .arguments = argv},
		[SHARED_MEMORY] = {.name = "shared memory",
				   .settings = &s,
				   .ring = shm_ring_open()},
		[NOBODY] = {.name = "nobody attached", .settings = &s, .silent = true},
	};
	struct way producer = {
		.settings = &s,
		.go = {(int)bench_option(argc, argv, "--go", -1), -1},
		.done = {-1, (int)bench_option(argc, argv, "--done", -1)},
	};

	if (producer.go[0] >= 0)
		producer_main(&producer);
	if (s.reps < 1 || s.reps > REPS_MOST || !ways[SHARED_MEMORY].ring) {
		fprintf(stderr, "transport: --reps is 1 to %d\n", REPS_MOST);
		return 2;
	}
	if (geteuid()) {
		printf("SKIP: needs root for BPF\n");
		return 77;
	}
	printf("transport of %zu-byte records, %llu records/s asked for, %llu x %llu s\n",
	       sizeof(struct cuprobe_memset), (unsigned long long)s.rate,
	       (unsigned long long)s.reps, (unsigned long long)s.seconds);
	if (ways_measure(ways, bench_option(argc, argv, "--limit", 1) ? WAYS : 1))
		return 1;
	return ways[PROBE].lost || ways[DIRECT].lost;
}
