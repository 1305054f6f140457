/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of one probe, packed until a batch is full or old enough. Everything here belongs to the
 * pump thread.
 */
#ifndef CUPROBE_INJECT_BATCH_H
#define CUPROBE_INJECT_BATCH_H

#include <linux/types.h>

#include "cuprobe/abi.h"

#define CUPROBE_BATCH_AGE_NS 100000000ull

/*
 * Room for one more record of the probe, which the caller fills completely; an older batch is fired
 * first when it is full. The record counts as produced.
 */
void *cuprobe_batch_add(__u32 probe);

/* Fires what is pending for the probe, or discards it when nobody is attached any more. */
void cuprobe_batch_fire(__u32 probe);

/* Fires the batches that were begun before `begun_before_ns`; ~0 fires all. */
void cuprobe_batch_fire_aged(__u64 begun_before_ns);

/* Records in the probe's batch. */
__u32 cuprobe_batch_pending(__u32 probe);

#endif
