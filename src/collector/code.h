/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of sampled kernels whose cubin could not be had from the process: it ended too soon, or
 * its modules were loaded before anybody listened. Looked for in the fat binaries of the files that
 * the process had mapped.
 */
#ifndef CUPROBE_COLLECTOR_CODE_H
#define CUPROBE_COLLECTOR_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct map;
struct stalls;

struct code_file;

/* Zeroed is empty. */
struct code {
	struct code_file *files;
};

void code_free(struct code *c);
/* A process, as procinfo_read() describes it: remembers its files. 0 or -ENOMEM. */
int code_process(struct code *c, const char *json, size_t bytes);

/*
 * Calls `found` with the cubin of each checksum that was sampled and is not in `known`. CUPTI's way
 * of making checksums is its own, so that a cubin is taken for the one that was sampled when it
 * alone, of all of the device's architecture, has every function that was sampled under that
 * checksum. 0, -ENOMEM, or what `found` returned.
 */
int code_find(struct code *c, const struct stalls *stalls, const struct map *known,
	      int (*found)(void *arg, __u64 crc, const void *image, size_t bytes), void *arg);

#endif
