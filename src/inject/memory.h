/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the helper threads, straight from the kernel: the process's own allocator may be a
 * profiled, locked or broken one.
 */
#ifndef CUPROBE_INJECT_MEMORY_H
#define CUPROBE_INJECT_MEMORY_H

#include <stddef.h>

/*
 * Memory of at least `bytes` bytes in place of `memory`, which has `*capacity` (NULL and 0 at
 * first): the old content, then zeroes. NULL when there is none, and then nothing has changed.
 */
void *cuprobe_memory_grow(void *memory, size_t *capacity, size_t bytes);
void cuprobe_memory_free(void *memory, size_t capacity);

#endif
