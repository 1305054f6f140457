/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One executable or shared object, asked what lies at a place in its file: from its own symbols and
 * DWARF, or those of its separate debug file, which elfutils finds by build id, .gnu_debuglink or,
 * where DEBUGINFOD_URLS is set, debuginfod.
 */
#ifndef CUPROBE_COLLECTOR_BINARY_H
#define CUPROBE_COLLECTOR_BINARY_H

#include <linux/types.h>

struct binary;

struct binary_line {
	const char *function; /* as in the binary; NULL not known */
	const char *file;     /* NULL not known */
	__u32 line;	      /* 0 not known */
};

/*
 * Takes `fd`, also when it fails. `path` is where the file lies for its process; `debug_root`, NULL
 * or a directory that has usr/lib/debug. 0, -ENOEXEC when it is no ELF file, or -ENOMEM.
 */
int binary_open(struct binary **ret, int fd, const char *path, const char *debug_root);
void binary_free(struct binary *b);
const char *binary_build_id(const struct binary *b); /* hexadecimal; "" none */
/*
 * Calls `each` for each function at `offset` in the file, those inlined there first. The texts are
 * valid until binary_free. 0, or what `each` returned. Loads symbols at the first call.
 */
int binary_lookup(struct binary *b, __u64 offset,
		  int (*each)(void *arg, const struct binary_line *line), void *arg);

#endif
