/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of one probe, packed until a batch is full or old enough. Everything here belongs to the
 * pump thread.
 */
#ifndef CUPROBE_INJECT_BATCH_H
#define CUPROBE_INJECT_BATCH_H

#include <linux/types.h>

#include "cuprobe/abi.h"
#include "src/inject/ledger.h"

#define CUPROBE_BATCH_AGE_NS 100000000ull

struct cuprobe_batch {
	__u8 *next;	/* where the next record goes */
	__u8 *limit;	/* the last place where one fits; NULL while the batch is empty */
	__u64 begun_ns; /* when its first record came */
};

extern struct cuprobe_batch cuprobe_batch[CUPROBE_PROBE_COUNT];

/* Makes room in a batch that is empty or full. */
void *cuprobe_batch_begin(__u32 probe);

static inline __u32 cuprobe_batch_record_bytes(__u32 probe)
{
	switch (probe) {
#define CUPROBE_RECORD_BYTES(name, number)                                                         \
	case number:                                                                               \
		return sizeof(struct cuprobe_##name);
		CUPROBE_FOR_EACH_PROBE(CUPROBE_RECORD_BYTES)
#undef CUPROBE_RECORD_BYTES
	default:
		return 0;
	}
}

/*
 * Room for one more record of the probe, which the caller fills completely; an older batch is fired
 * first when it is full. The record counts as produced.
 */
static inline void *cuprobe_batch_add(__u32 probe)
{
	struct cuprobe_batch *batch = &cuprobe_batch[probe];
	void *record = batch->next;

	cuprobe_ledger[probe].decoded++;
	if (batch->next > batch->limit)
		record = cuprobe_batch_begin(probe);
	batch->next = (__u8 *)record + cuprobe_batch_record_bytes(probe);
	return record;
}

/* Fires what is pending for the probe, or discards it when nobody is attached any more. */
void cuprobe_batch_fire(__u32 probe);

/* Fires the batches that were begun before `begun_before_ns`; ~0 fires all. */
void cuprobe_batch_fire_aged(__u64 begun_before_ns);

/* Records in the probe's batch. */
__u32 cuprobe_batch_pending(__u32 probe);

#endif
