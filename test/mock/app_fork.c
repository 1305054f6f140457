/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that fork: before CUDA, after it, with exec, and with workers that live on. */
#include "test/mock/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 4

static int child_status(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int child_check(pid_t child)
{
	int status = child_status(child);

	if (status)
		fprintf(stderr, "mock_app: the child ended with %d\n", status);
	return status ? 1 : 0;
}

int fork_before_run(const struct app_options *options)
{
	pid_t child = fork();
	int err = loop_run(options);

	if (!child)
		exit(err);
	return child_check(child) || err;
}

/* CUDA does not work in the child of a process that used it; anything else does. */
static int child_without_cuda(void)
{
	int count;
	cudaError_t err = cudaGetDeviceCount(&count);

	if (err != cudaErrorInitializationError) {
		fprintf(stderr, "mock_app: CUDA in a forked child: %s\n", cudaGetErrorName(err));
		return 1;
	}
	return 0;
}

static int fork_after(const struct app_options *options, void (*leave)(int))
{
	int err = loop_run(options);
	pid_t child = fork();

	if (!child)
		leave(child_without_cuda());
	err |= loop_run(options);
	return child_check(child) || err;
}

int fork_after_run(const struct app_options *options)
{
	return fork_after(options, _exit);
}

int fork_after_exit_run(const struct app_options *options)
{
	return fork_after(options, exit);
}

int fork_exec_run(const struct app_options *options)
{
	int err = loop_run(options);
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "mock_app", "loop", "--count=1000", "--quiet", NULL);
		_exit(127);
	}
	err |= loop_run(options);
	return child_check(child) || err;
}

/* Each worker answers every byte until its pipe is closed. */
static int worker_main(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		if (write(out, &byte, 1) != 1)
			return 1;
	}
	return 0;
}

static pid_t worker_start(int *ret_in, int *ret_out)
{
	int to[2], from[2];
	pid_t child;

	if (pipe(to) || pipe(from))
		return -1;
	child = fork();
	if (!child) {
		close(to[1]);
		close(from[0]);
		exit(worker_main(to[0], from[1]));
	}
	close(to[0]);
	close(from[1]);
	*ret_in = from[0];
	*ret_out = to[1];
	return child;
}

int fork_workers_run(const struct app_options *options)
{
	pid_t workers[WORKERS];
	int in[WORKERS], out[WORKERS], err = 0;
	char byte = 0;

	CHECK(cudaSetDevice(0));
	for (int i = 0; i < WORKERS; i++)
		workers[i] = worker_start(&in[i], &out[i]);
	for (uint64_t n = 0; n < options->count; n++) {
		int i = (int)(n % WORKERS);

		kernel_launch((unsigned int)n, options->api, NULL);
		if (write(out[i], &byte, 1) != 1 || read(in[i], &byte, 1) != 1)
			err = 1;
	}
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < WORKERS; i++) /* later workers hold copies of earlier ones' pipes */
		close(out[i]);
	for (int i = WORKERS - 1; i >= 0; i--)
		err |= child_check(workers[i]);
	return err;
}
