/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries: the cubins that a program or library carries, for several architectures. */
#ifndef CUPROBE_COLLECTOR_FATBIN_H
#define CUPROBE_COLLECTOR_FATBIN_H

#include <stddef.h>

#include <linux/types.h>

/*
 * Called with each cubin; `arch` is 90 for sm_90. Non-zero ends the walk and is returned by it. The
 * image is valid during the call.
 */
typedef int fatbin_each(void *arg, __u32 arch, const void *image, size_t bytes);

/* Of a section's content. What is damaged ends the walk; 0, -ENOMEM, or what `each` returned. */
int fatbin_walk(const void *data, size_t bytes, fatbin_each *each, void *arg);
/* Of an ELF file; 0 too when it cannot be read or has none. */
int fatbin_walk_file(const char *path, fatbin_each *each, void *arg);

#endif
