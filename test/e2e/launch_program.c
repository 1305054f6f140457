/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches for a second on the simulated CUDA, from functions without frame pointers, one of them
 * inlined; with an argument, from a thread with the smallest stack there is.
 */
#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MUST(call)                                                                                 \
	do {                                                                                       \
		if (call)                                                                          \
			exit(2);                                                                   \
	} while (0)

static CUcontext context;
static CUfunction function;

static inline __attribute__((always_inline)) int inlined_step(int i)
{
	MUST(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	return i + 1;
}

static __attribute__((noinline)) int train_step(int i)
{
	volatile char memory[200];

	memory[i % 200] = 1;
	return inlined_step(i) + memory[i % 200];
}

static __attribute__((noinline)) void *train(void *unused)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	volatile int sum = 0;

	MUST(cuCtxSetCurrent(context));
	for (int i = 0; i < 100; i++) {
		sum += train_step(i);
		nanosleep(&pause, NULL);
	}
	(void)sum;
	return unused;
}

static void train_in_small_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	MUST(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)));
	MUST(pthread_create(&thread, &attr, train, NULL));
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	CUmodule module;
	CUdevice device;

	(void)argv;
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	MUST(cuModuleLoadData(&module, "kernels"));
	MUST(cuModuleGetFunction(&function, module, "_Z3addPf"));
	if (argc > 1)
		train_in_small_thread();
	else
		train(NULL);
	return cuCtxSynchronize() != CUDA_SUCCESS;
}
