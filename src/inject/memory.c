/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/memory.h"

#include <sys/mman.h>

#define MEMORY_STEP 65536u

void *cuprobe_memory_grow(void *memory, size_t *capacity, size_t bytes)
{
	size_t wanted = *capacity ? *capacity : MEMORY_STEP;
	void *grown;

	if (memory && bytes <= *capacity)
		return memory;
	while (wanted < bytes)
		wanted *= 2;
	if (memory)
		grown = mremap(memory, *capacity, wanted, MREMAP_MAYMOVE);
	else
		grown = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	if (grown == MAP_FAILED)
		return NULL;
	*capacity = wanted;
	return grown;
}

void cuprobe_memory_free(void *memory, size_t capacity)
{
	if (memory)
		munmap(memory, capacity);
}
