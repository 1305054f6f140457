/* SPDX-License-Identifier: Apache-2.0 */
/* Words for CUPTI's numbers, as Kineto writes them. None returns NULL. */
#ifndef CUPROBE_COLLECTOR_NAMES_H
#define CUPROBE_COLLECTOR_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

const char *copy_kind_name(unsigned int copy_kind);	/* "HtoD" */
const char *memory_kind_name(unsigned int memory_kind); /* "Pinned" */
const char *sync_kind_name(unsigned int kind);		/* "Stream Sync" */
const char *overhead_kind_name(unsigned int kind);	/* "Buffer Flush" */
const char *unified_memory_kind_name(unsigned int kind);
const char *memory_op_name(unsigned int op);
const char *pc_kind_name(unsigned int kind); /* "samples", "non-user" */
const char *state_name(unsigned int state);  /* "active" */
/* By domain_api of a launch: "cuLaunchKernel"; a general word for calls that no table here has. */
const char *launch_api_name(unsigned int domain_api);

/*
 * The length of an API's name without the suffixes that CUPTI adds: 16 for cudaLaunchKernel_v7000
 * and for cudaLaunchKernel_ptsz_v7000. A _v2 that belongs to the name stays.
 */
size_t api_name_bytes(const char *name, size_t bytes);

/* True for calls that put work on a GPU: launches, copies, memsets, prefetches. */
bool api_enqueues(const char *name, size_t bytes);

#endif
