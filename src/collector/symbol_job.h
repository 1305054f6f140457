/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What addresses of one process mean, found out from files that were opened while it lived: so the
 * work can be done later, by another thread, even when the process is gone.
 */
#ifndef CUPROBE_COLLECTOR_SYMBOL_JOB_H
#define CUPROBE_COLLECTOR_SYMBOL_JOB_H

#include <stddef.h>
#include <sys/types.h>

#include "src/collector/json.h"
#include "src/collector/procs.h"

/* A mapping of a file that has an address of ours in it. */
struct symbol_area {
	__u64 start, end, offset;
	char *path;
	char *build_id; /* that the file must have; NULL any */
	struct file_key key;
	int fd; /* -1: could not be opened */
};

#define SYMBOL_NO_AREA (~0u)
struct symbol_address {
	__u64 pc;
	unsigned int area; /* index; SYMBOL_NO_AREA: in no file, or not known */
};

struct symbol_job {
	struct symbol_job *next; /* the holder's */
	pid_t pid;
	pid_t thread; /* of it that lives: a main thread that has left has no mappings any more */
	__u64 start_ns;
	__u32 image;
	struct symbol_area *areas;
	struct symbol_address *addresses;
	unsigned int area_count, address_count, area_room, address_room;
	int jit_fd; /* of the perf map; -1: none */
	char *jit_path;
	/* After symbol_job_run: */
	char *json; /* as in symbols.h */
	size_t bytes;
};

struct symbol_job *symbol_job_new(pid_t pid, __u64 start_ns, __u32 image);
void symbol_job_free(struct symbol_job *job);
/*
 * Adds the addresses, and opens what they lie in as the process has it mapped now; of one that is
 * gone by now, as `maps`, what procinfo_read said of it, has it. 0 or -ENOMEM.
 */
int symbol_job_add(struct symbol_job *job, const __u64 *pcs, unsigned int count, struct json maps);

/* Files that were read already; zeroed is empty. */
struct symbol_cache {
	struct symbol_file *files;
};
void symbol_cache_clear(struct symbol_cache *cache);

/* 0 or -ENOMEM. */
int symbol_job_run(struct symbol_job *job, struct symbol_cache *cache);

#endif
