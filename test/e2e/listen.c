// SPDX-License-Identifier: Apache-2.0
/*
 * The live side of the collector by itself, for tests:
 *
 *	listen [-v auto|bpf|direct] [-f FORM] [-e] [-r RING_BYTES] [-d MS] [-s STOP_MS] -p PID[,PID]
 *| -a | -- COMMAND...
 *
 * At the end it prints, one a line: how it was loaded, and for each process and probe the records
 * delivered, the gaps in their numbers, what came twice, and what the BPF program counted.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/collector/event.h"
#include "src/collector/session.h"

struct count {
	pid_t pid;
	unsigned int probe;
	__u64 records, next_seq, missed, twice;
};

static struct count counts[256];
static unsigned int count_count, processes;
static volatile sig_atomic_t stopped;

static int on_process(void *arg, pid_t pid, __u64 start_ns)
{
	(void)arg;
	(void)pid;
	(void)start_ns;
	processes++;
	return 0;
}

static void on_message(void *arg, const char *text)
{
	(void)arg;
	printf("message: %s\n", text);
}

static struct count *count_get(pid_t pid, unsigned int probe, __u64 seq)
{
	for (unsigned int i = 0; i < count_count; i++) {
		if (counts[i].pid == pid && counts[i].probe == probe)
			return &counts[i];
	}
	if (count_count == sizeof(counts) / sizeof(counts[0]))
		return NULL;
	counts[count_count] = (struct count){.pid = pid, .probe = probe, .next_seq = seq};
	return &counts[count_count++];
}

static int on_batch(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	const struct cuprobe_kernel *kernel = data;
	struct count *c = count_get((pid_t)h->pid, h->probe, h->seq);

	(void)arg;
	if (!c)
		return -ENOSPC;
	if (h->probe == CUPROBE_PROBE_kernel && h->bytes / h->count == sizeof(*kernel) &&
	    kernel->start_ns != 1000 + h->seq)
		printf("damaged %u\n", h->pid);
	if (h->seq < c->next_seq)
		c->twice += h->count;
	else
		c->missed += h->seq - c->next_seq;
	c->records += h->count;
	c->next_seq = h->seq + h->count;
	return 0;
}

static int on_loss(void *arg, const struct cuprobe_loss_key *k, const struct cuprobe_loss *l)
{
	(void)arg;
	printf("loss %u %s: %llu batches %llu records full, %llu batches %llu records bad\n",
	       k->pid, probe_name(k->probe), l->batches, l->records, l->bad_batches,
	       l->bad_records);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

static __u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000 + (__u64)ts.tv_nsec / 1000000;
}

static unsigned int parse_pids(char *text, pid_t *pids, unsigned int room)
{
	unsigned int count = 0;
	char *word;

	while ((word = strsep(&text, ",")) && count < room)
		pids[count++] = atoi(word);
	return count;
}

static int listen_until(struct session *s, __u64 end_ms)
{
	int ret = 0;

	while (!ret && !stopped && now_ms() < end_ms)
		ret = session_poll(s, 50);
	return ret;
}

static void report(struct session *s, __u64 stop_ms)
{
	unsigned int pids = 0;

	for (unsigned int i = 0; i < count_count; i++) {
		const struct count *c = &counts[i];
		bool known = false;

		for (unsigned int j = 0; j < i; j++)
			known = known || counts[j].pid == c->pid;
		pids += !known;
		printf("records %d %s: %llu missed %llu twice %llu\n", c->pid, probe_name(c->probe),
		       c->records, c->missed, c->twice);
	}
	session_losses(s, on_loss, NULL);
	printf("processes %u described %u\n", pids, processes);
	printf("stop %llu ms\n", now_ms() - stop_ms);
}

struct arguments {
	struct session_opts opts;
	pid_t pids[64];
	__u64 duration_ms;
	int grace_ms;
};

static bool parse(struct arguments *a, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "+v:f:er:d:s:p:a")) != -1) {
		if (option == 'v')
			a->opts.via = *optarg == 'b'   ? VIA_BPF
				      : *optarg == 'd' ? VIA_DIRECT
						       : VIA_AUTO;
		else if (option == 'f')
			a->opts.form = (unsigned int)atoi(optarg);
		else if (option == 'e')
			a->opts.no_multi = true;
		else if (option == 'r')
			a->opts.ring_bytes = (__u32)atoi(optarg);
		else if (option == 'd')
			a->duration_ms = (__u64)atoi(optarg);
		else if (option == 's')
			a->grace_ms = atoi(optarg);
		else if (option == 'p')
			a->opts.pid_count = parse_pids(optarg, a->pids, 64);
		else if (option == 'a')
			a->opts.all = true;
		else
			return false;
	}
	a->opts.pids = a->pids;
	a->opts.command = optind < argc ? argv + optind : NULL;
	return true;
}

int main(int argc, char **argv)
{
	const struct session_handler handler = {
		.batch = on_batch, .process = on_process, .message = on_message};
	struct arguments a = {.opts.probes = 1U << CUPROBE_PROBE_kernel, .grace_ms = 500};
	struct session *s = NULL;
	__u64 stop_ms;
	char why[512];
	int ret;

	if (!parse(&a, argc, argv))
		return 2;
	signal(SIGTERM, on_signal);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = session_open(&s, &a.opts, &handler, why, sizeof(why));
	if (ret) {
		printf("failed: %s: %s\n", strerror(-ret), why);
		return 1;
	}
	puts("attached");
	ret = session_start(s);
	if (!ret)
		ret = listen_until(s, a.duration_ms ? now_ms() + a.duration_ms : ~0ULL);
	stop_ms = now_ms();
	if (ret >= 0)
		ret = session_stop(s, a.grace_ms);
	report(s, stop_ms);
	printf("ended %d status %d\n", ret, session_exit_status(s));
	session_free(s);
	return 0;
}
