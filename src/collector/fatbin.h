/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries: the cubins that a program or library carries, for several architectures. */
#ifndef CUPROBE_COLLECTOR_FATBIN_H
#define CUPROBE_COLLECTOR_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

/* `arch` is 90 for sm_90. */
struct fatbin_visitor {
	bool (*wants)(void *arg, __u32 arch); /* what is not wanted is not unpacked */
	/* Non-zero ends the walk and is returned by it. The image is valid during the call. */
	int (*cubin)(void *arg, __u32 arch, const void *image, size_t bytes);
	void *arg;
};

/* Of a section's content. What is damaged ends the walk; 0, -ENOMEM, or what `cubin` returned. */
int fatbin_walk(const void *data, size_t bytes, const struct fatbin_visitor *v);
/* Of an ELF file; 0 too when it cannot be read or has none. */
int fatbin_walk_file(const char *path, const struct fatbin_visitor *v);

#endif
