/* SPDX-License-Identifier: Apache-2.0 */
/* Ways for a CUDA program to end. */
#include "test/mock/app.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool launch_in_destructor;

/* Launches until CUDA refuses; both are right at exit, a crash is not. */
static void launch_late(const char *where)
{
	cudaError_t err;

	for (unsigned int i = 0; i < 10; i++) {
		err = cudaLaunchKernel(kernel_host(i), (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0,
				       NULL);
		if (err) {
			fprintf(stderr, "launch %u in %s: %s\n", i, where, cudaGetErrorName(err));
			return;
		}
	}
	fprintf(stderr, "10 launches in %s\n", where);
}

static void exit_handler(void)
{
	launch_late("an exit handler");
}

int exit_handler_run(const struct app_options *options)
{
	int err = loop_run(options);

	atexit(exit_handler);
	return err;
}

static __attribute__((destructor)) void static_destructor(void)
{
	if (launch_in_destructor)
		launch_late("a static destructor");
}

int exit_static_run(const struct app_options *options)
{
	launch_in_destructor = true;
	return loop_run(options);
}

int exit_quick_run(const struct app_options *options)
{
	int err = loop_run(options);

	app_write_truth();
	fflush(stdout);
	_exit(err);
}

static void *thread_exit(void *options)
{
	exit(loop_run(options));
}

int exit_thread_run(const struct app_options *options)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_exit, (void *)options);
	pause();
	return 1;
}

/* Launches for ever; CUDA refuses when the process is ending. */
static void *thread_busy(void *unused)
{
	(void)unused;
	for (unsigned int i = 0;; i++) {
		if (cudaLaunchKernel(kernel_host(i), (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0,
				     NULL))
			usleep(1000);
	}
	return NULL;
}

int exit_busy_run(const struct app_options *options)
{
	pthread_t thread;

	for (unsigned int i = 0; i < options->threads; i++)
		pthread_create(&thread, NULL, thread_busy, NULL);
	return loop_run(options);
}

/* CUDA's own threads live on, so that somebody has to call exit. */
int exit_main_thread_run(const struct app_options *options)
{
	struct app_options *copy = malloc(sizeof(*copy));
	pthread_t thread;

	*copy = *options;
	pthread_create(&thread, NULL, thread_exit, copy);
	pthread_detach(thread);
	pthread_exit(NULL);
}

int exit_signal_run(const struct app_options *options)
{
	loop_run(options);
	app_write_truth();
	raise(SIGTERM);
	return 1;
}

int no_cuda_run(const struct app_options *options)
{
	app_sleep_until(app_now() + (uint64_t)(options->seconds * 1e9));
	return 0;
}
