/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that comes and goes: libraries that are loaded where others were, and code that was written
 * by the program itself and has no unwind information.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/inject/unwind.h"
#include "src/inject/unwind_rules.h"
#include "test/unwind/compare.h"

#define TURNS 200

static struct comparison comparison;

static int leaf(void *arg)
{
	(void)arg;
	compare_stacks(&comparison);
	return 1;
}

/* Returns where it lay. */
static void *library_run(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*run)(int (*)(void *), void *) = library ? dlsym(library, "run") : NULL;
	Dl_info info;

	if (!run || !dladdr((void *)run, &info)) {
		fprintf(stderr, "%s: %s\n", path, dlerror());
		exit(2);
	}
	cuprobe_rules_check(); /* as before a stack is taken for a new one */
	run(leaf, NULL);
	run(leaf, NULL);
	dlclose(library);
	return info.dli_fbase;
}

static int libraries_take_turns(const char *folder)
{
	char path[2][4096];
	void *last = NULL;
	int same = 0;

	snprintf(path[0], sizeof(path[0]), "%s/libunwind_module_small.so", folder);
	snprintf(path[1], sizeof(path[1]), "%s/libunwind_module_large.so", folder);
	for (int i = 0; i < TURNS; i++) {
		void *at = library_run(path[i % 2]);

		same += at == last;
		last = at;
	}
	printf("%d of %d libraries lay where another one had lain\n", same, TURNS);
	return same < TURNS / 2;
}

/* Calls its first argument with a frame pointer set up, or without. */
static const unsigned char with_pointer[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
static const unsigned char without_pointer[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7,
						0x48, 0x83, 0xc4, 0x18, 0xc3};

static void code_run(const unsigned char *code, size_t bytes)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*run)(int (*)(void *));

	if (memory == MAP_FAILED)
		exit(2);
	memcpy(memory, code, bytes);
	memcpy(&run, &memory, sizeof(run));
	run(leaf);
	munmap(memory, 4096);
}

int main(int argc, char **argv)
{
	static struct cuprobe_unwinding unwinding;
	int err;

	(void)argc;
	comparison.unwinding = &unwinding;
	cuprobe_unwind_init(&unwinding);
	err = libraries_take_turns(argv[1]);
	if (!comparison_report(&comparison, "libraries") || comparison.equal != 2 * TURNS)
		err = 1;
	code_run(with_pointer, sizeof(with_pointer));
	if (comparison.marked != 1 || unwinding.end != CUPROBE_UNWIND_TOP) {
		fprintf(stderr, "a stack with a chain of frame pointers was not followed\n");
		err = 1;
	}
	code_run(without_pointer, sizeof(without_pointer));
	if (comparison.marked + comparison.guessed != 2)
		err = 1;
	comparison_report(&comparison, "and code without information");
	return err;
}
