/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose shared objects use NVTX and come and go.
 *
 *	plugins FIRST SECOND [ROUNDS]
 *
 * Both work at the same time in 8 threads, then the second is unloaded and loaded again ROUNDS
 *times, working each time.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8

typedef void (*work_fn)(void);

static void *load(const char *path, work_fn *ret)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*ret = (work_fn)dlsym(library, "plugin_work");
	return library;
}

static void *work_body(void *arg)
{
	work_fn *works = arg;

	works[0]();
	works[1]();
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[3]) : 0;
	pthread_t threads[THREADS];
	void *second;
	work_fn works[2];

	if (argc < 3)
		return 1;
	load(argv[1], &works[0]);
	second = load(argv[2], &works[1]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work_body, works);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < rounds; i++) {
		dlclose(second);
		second = load(argv[2], &works[1]);
		works[1]();
	}
	works[0]();
	return 0;
}
