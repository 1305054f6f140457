/* SPDX-License-Identifier: Apache-2.0 */
/* The cubins of a recording, by CUPTI's checksum of them. */
#ifndef CUPROBE_COLLECTOR_CUBINS_H
#define CUPROBE_COLLECTOR_CUBINS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>
#include <sys/types.h>

#include "src/collector/map.h"

/* What processes may make us hold, all together, and one cubin of them. */
#define CUBINS_LARGEST ((size_t)1 << 30)
#define CUBIN_LARGEST ((size_t)48 << 20)

struct cubin;
struct cubins_entry;
struct cuprobe_module;

/* Zeroed is empty. */
struct cubins {
	struct map by_crc;
	struct cubins_entry *all;
	size_t bytes;
};

void cubins_free(struct cubins *c);
/* Keeps a copy; the first of a checksum stays. 0, -ENOSPC at a limit above, or -ENOMEM. */
int cubins_add(struct cubins *c, __u64 crc, const void *image, size_t bytes);
/* What is in it, read at the first time; NULL when it is not there or no cubin. */
const struct cubin *cubins_find(const struct cubins *c, __u64 crc);

/*
 * Reads a module's cubin from the living process, to be freed. -ENODATA: the library has none;
 * -EFBIG; -ESRCH: the process is gone; -EBADMSG: what is there is no cubin any more.
 */
int cubins_fetch(pid_t pid, const struct cuprobe_module *module, void **ret_image);

#endif
