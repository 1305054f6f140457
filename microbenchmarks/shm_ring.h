/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of records between two processes, one writer and one reader: the limit for transport. */
#ifndef CUPROBE_MICROBENCHMARKS_SHM_RING_H
#define CUPROBE_MICROBENCHMARKS_SHM_RING_H

#include <stdatomic.h>

#include "cuprobe/abi.h"

#define SHM_RING_RECORDS 262144u /* 16 MiB, as the collector's ring */

struct shm_ring {
	/* Written by one side each, released after the records; the other side acquires. */
	_Alignas(64) _Atomic(__u64) head;
	_Alignas(64) _Atomic(__u64) tail;
	_Alignas(64) __u64 lost;
	_Alignas(64) struct cuprobe_memset records[SHM_RING_RECORDS];
};

/* Shared with children; NULL without memory. */
struct shm_ring *shm_ring_open(void);
/* Numbered records; those without room are counted as lost. */
void shm_ring_write(struct shm_ring *ring, __u64 first, __u32 count);
/* Reads what is there, adds up a field of each record; returns how many. */
__u64 shm_ring_read(struct shm_ring *ring, __u64 *sum);

#endif
