/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the source line of every instruction of a cubin's kernels, as nvdisasm_lines.py does. */
#include <stdio.h>
#include <stdlib.h>

#include "src/collector/cubin.h"

#define INSTRUCTION_BYTES 16

static void print_function(void *arg, const char *name, __u64 bytes)
{
	const struct cubin *cubin = arg;
	struct cubin_frame frames[CUBIN_FRAMES];

	if (*name == '$') /* lies inside a kernel, whose instructions are printed */
		return;
	for (__u64 pc = 0; pc < bytes; pc += INSTRUCTION_BYTES) {
		unsigned int count = cubin_frames(cubin, name, pc, frames);

		printf("%s %llx", name, pc);
		for (unsigned int i = 0; i < count && frames[i].file; i++)
			printf(" %s:%u", frames[i].file, frames[i].line);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	static char image[16 << 20];
	struct cubin *cubin;
	size_t bytes;
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;

	if (!file) {
		fprintf(stderr, "usage: cubin_lines FILE.cubin\n");
		return 2;
	}
	bytes = fread(image, 1, sizeof(image), file);
	fclose(file);
	if (cubin_open(&cubin, image, bytes)) {
		fprintf(stderr, "cubin_lines: '%s' is no cubin\n", argv[1]);
		return 1;
	}
	cubin_each_function(cubin, print_function, cubin);
	cubin_free(cubin);
	return 0;
}
