/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes, and the library's own batches in front of them, as a libcuprobe.so that needs no
 * CUDA: what a collector sees is the real thing.
 */
#ifndef CUPROBE_MICROBENCHMARKS_FIRE_H
#define CUPROBE_MICROBENCHMARKS_FIRE_H

#include <stdbool.h>

#include "cuprobe/abi.h"

struct fire {
	bool (*wanted)(void);			   /* is somebody attached to the probe memset? */
	void (*records)(__u64 first, __u32 count); /* numbered records, through batches */
	void (*flush)(void);
	__u64 (*fired)(void);			      /* records so far */
	void (*raw)(const void *data, __u32 records); /* one firing of the probe memset */
};

/* The record of number `i`. */
static inline struct cuprobe_memset fire_record(__u64 i)
{
	return (struct cuprobe_memset){
		.start_ns = i,
		.end_ns = i + 1000,
		.bytes = 4096,
		.context = 1,
		.stream = 7,
		.correlation = (__u32)i,
		.memory_kind = 3,
	};
}

/* The library beside this program; NULL when that is not known. */
const char *fire_path(void);

/* From the library beside this program; NULL, with a message, when it is not there. */
const struct fire *fire_load(void);

#endif
