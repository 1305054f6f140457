/* SPDX-License-Identifier: Apache-2.0 */
/* The names of code made at run time, as JIT compilers write them: /tmp/perf-PID.map. */
#ifndef CUPROBE_COLLECTOR_PERF_MAP_H
#define CUPROBE_COLLECTOR_PERF_MAP_H

#include <stddef.h>

#include <linux/types.h>

struct perf_map;

/* Reads the file behind `fd`, which stays open, up to PERF_MAP_LARGEST bytes. 0 or a -errno. */
#define PERF_MAP_LARGEST ((size_t)256 << 20)
int perf_map_read(struct perf_map **ret, int fd);
/* NULL when nothing is known; of two that overlap the one that was written later. */
const char *perf_map_find(const struct perf_map *m, __u64 address);
void perf_map_free(struct perf_map *m);

#endif
