// SPDX-License-Identifier: Apache-2.0
/*
 * A program with probes, for tests: loads the library that CUDA_INJECTION64_PATH names, as the
 * driver would, and does what its arguments say, one after the other:
 *
 *	batches:N:R	fires N batches of R kernel records
 *	sleep:MS	sleeps
 *	wanted		waits until the probe `kernel` has a consumer
 *	unwanted	waits until it has none
 *	junk		fires batches that no library would fire
 *	cold		fires a batch from memory that is not resident
 *	say		prints "wanted" or "unwanted"
 *	fork, exec, thread	does the rest in a child, in a new program, in a thread; waits for
 *it leave		the main thread leaves; the rest is done in a thread
 *	daemon		leaves a child behind that does the rest
 *	exit:N		exits
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/e2e/fire.h"

static char **program_argv;
static bool (*wanted)(enum cuprobe_probe_id probe);
static void (*send)(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
		    __u64 seq);
static __u64 fired;

static void load(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;

	if (!library) {
		fprintf(stderr, "fire: %s\n", path ? dlerror() : "CUDA_INJECTION64_PATH not set");
		exit(3);
	}
	*(void **)&wanted = dlsym(library, "fire_wanted");
	*(void **)&send = dlsym(library, "fire");
}

static void pause_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

static void await(bool state)
{
	for (int i = 0; i < 20000; i++) {
		if (wanted(CUPROBE_PROBE_kernel) == state)
			return;
		pause_ms(1);
	}
	fprintf(stderr, "fire: %d: nobody came or left\n", getpid());
	exit(4);
}

static void fire_batches(unsigned int batches, unsigned int records)
{
	static struct cuprobe_kernel kernels[CUPROBE_BATCH_BYTES / sizeof(struct cuprobe_kernel)];

	for (unsigned int b = 0; b < batches; b++) {
		for (unsigned int i = 0; i < records; i++) {
			kernels[i].start_ns = 1000 + fired + i;
			kernels[i].end_ns = kernels[i].start_ns + 10;
			kernels[i].correlation = (__u32)(fired + i);
		}
		send(CUPROBE_PROBE_kernel, kernels, records * sizeof(kernels[0]), records, fired);
		fired += records;
	}
}

static void fire_junk(void)
{
	static char data[64];

	send(CUPROBE_PROBE_kernel, data, 0, 1, fired);
	send(CUPROBE_PROBE_kernel, data, CUPROBE_BATCH_BYTES + 1, 1, fired);
	send(CUPROBE_PROBE_kernel, data, 64, 0, fired);
	send(CUPROBE_PROBE_kernel, data, 64, 65, fired);
	send(CUPROBE_PROBE_kernel, data, ~0U, ~0U, ~0ULL);
	send(CUPROBE_PROBE_kernel, (void *)8, 64, 1, fired);
	send(CUPROBE_PROBE_kernel, (void *)~7ULL, CUPROBE_BATCH_BYTES, 1, fired);
}

/* A page of a file is not in the page table before it is touched. */
static void fire_cold(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	void *data = mmap(NULL, CUPROBE_BATCH_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);

	madvise(data, CUPROBE_BATCH_BYTES, MADV_RANDOM);
	send(CUPROBE_PROBE_string, data, 8000, 50, 0);
	close(fd);
}

static void run(char **actions);

static void *run_thread(void *arg)
{
	run(arg);
	return NULL;
}

static void in_thread(char **rest, bool leave)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_thread, rest))
		exit(5);
	if (leave)
		pthread_exit(NULL);
	pthread_join(thread, NULL);
}

static void in_child(char **rest, bool exec, bool leave)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		exit(5);
	if (!pid && exec) {
		char **argv = rest - 1;

		argv[0] = program_argv[0];
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	if (!pid) {
		run(rest);
		_exit(0);
	}
	if (leave)
		_exit(0);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		exit(6);
}

/* True when the rest was done. */
static bool action(const char *a, char **rest)
{
	unsigned int n, m;

	if (sscanf(a, "batches:%u:%u", &n, &m) == 2)
		fire_batches(n, m);
	else if (sscanf(a, "sleep:%u", &n) == 1)
		pause_ms(n);
	else if (sscanf(a, "exit:%u", &n) == 1)
		exit((int)n);
	else if (!strcmp(a, "wanted") || !strcmp(a, "unwanted"))
		await(*a == 'w');
	else if (!strcmp(a, "junk"))
		fire_junk();
	else if (!strcmp(a, "cold"))
		fire_cold();
	else if (!strcmp(a, "say"))
		printf("%s\n", wanted(CUPROBE_PROBE_kernel) ? "wanted" : "unwanted");
	else if (!strcmp(a, "thread") || !strcmp(a, "leave"))
		return in_thread(rest, *a == 'l'), true;
	else if (!strcmp(a, "fork") || !strcmp(a, "exec") || !strcmp(a, "daemon"))
		return in_child(rest, *a == 'e', *a == 'd'), true;
	else
		exit(2);
	fflush(stdout);
	return false;
}

static void run(char **actions)
{
	for (; *actions; actions++) {
		if (action(*actions, actions + 1))
			return;
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	program_argv = argv;
	load();
	run(argv + 1);
	return 0;
}
