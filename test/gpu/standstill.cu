/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls of the driver stand still for ever beside cuptiPCSamplingDisable()? Without cuprobe:
 * each kind in a process of its own, with a thread that makes it again and again, while another
 * samples, launches one kernel, and switches sampling off.
 *
 *	standstill [--seconds 2]	links with libcupti
 *
 * Says PASS when just those do that are said to, else FAIL, and ends with status 1.
 */
#include <atomic>
#include <csignal>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "bench.h"
#include "calls.h"
#include "sampling.h"

#define STILL_NS 2500000000ull

struct progress {
	std::atomic<unsigned int> switched;
	std::atomic<bool> ready;
};

static void switch_beside(const struct kind *kind, double seconds, struct progress *progress)
{
	uint64_t end;

	calls_prepare();
	calls_prepare_thread();
	context = program;
	std::thread([kind] {
		calls_prepare_thread();
		for (;;)
			calls_make(kind);
	}).detach();
	progress->ready = true;
	end = bench_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	while (bench_clock_ns(CLOCK_MONOTONIC) < end) {
		sampling_begin();
		kernel_launch();
		CALL(cuStreamSynchronize(stream));
		usleep(2000);
		sampling_disable();
		progress->switched++;
	}
	_exit(0);
}

/* True when it has ended by itself. */
static bool await(pid_t child, const struct progress *progress)
{
	uint64_t last_ns = bench_clock_ns(CLOCK_MONOTONIC), now_ns;
	unsigned int seen = 0;

	while (!waitpid(child, NULL, WNOHANG)) {
		usleep(20000);
		now_ns = bench_clock_ns(CLOCK_MONOTONIC);
		if (progress->switched != seen || !progress->ready)
			last_ns = now_ns;
		seen = progress->switched;
		if (now_ns - last_ns > STILL_NS)
			return false;
	}
	return true;
}

static bool ends(const struct kind *kind, double seconds, struct progress *progress)
{
	pid_t child;
	bool ended;

	progress->switched = 0;
	progress->ready = false;
	child = fork();
	if (!child)
		switch_beside(kind, seconds, progress);
	ended = await(child, progress);
	if (!ended) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	printf("%-30s %s, %u times switched\n", kind->name, ended ? "goes on" : "stands still",
	       progress->switched.load());
	fflush(stdout);
	return ended;
}

int main(int argc, char **argv)
{
	double seconds = (double)bench_option(argc, argv, "--seconds", 2);
	struct progress *progress = (struct progress *)mmap(
		NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool as_said = true;

	for (const struct kind &kind : kinds)
		as_said &= ends(&kind, seconds, progress) != kind.runs_kernel;
	printf("%s what runs a kernel stands still, and nothing else\n", as_said ? "PASS" : "FAIL");
	return !as_said;
}
