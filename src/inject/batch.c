/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/batch.h"

#include <stdbool.h>
#include <stddef.h>

#include "src/inject/clock.h"
#include "src/inject/ledger.h"
#include "src/inject/outlet.h"

static __u8 data[CUPROBE_PROBE_COUNT][CUPROBE_BATCH_BYTES] __attribute__((aligned(64)));

#define BATCH(name, number) [number] = {.next = data[number]},
struct cuprobe_batch cuprobe_batch[] = {CUPROBE_FOR_EACH_PROBE(BATCH)};

__u32 cuprobe_batch_pending(__u32 probe)
{
	return (__u32)(cuprobe_batch[probe].next - data[probe]) / cuprobe_batch_record_bytes(probe);
}

static void batch_hand_over(__u32 probe)
{
	struct cuprobe_ledger *ledger = &cuprobe_ledger[probe];
	__u32 count = cuprobe_batch_pending(probe);

	if (!count)
		return;
	cuprobe_batch[probe].next = data[probe];
	cuprobe_batch[probe].limit = NULL;
	if (!cuprobe_outlet->consumers(probe)) {
		ledger->discarded += count;
		return;
	}
	cuprobe_outlet->deliver(probe, data[probe], count * cuprobe_batch_record_bytes(probe),
				count, ledger->fired);
	ledger->fired += count;
}

static bool probe_is_work(__u32 probe)
{
	return probe == CUPROBE_PROBE_kernel || probe == CUPROBE_PROBE_graph ||
	       probe == CUPROBE_PROBE_memcpy || probe == CUPROBE_PROBE_memset;
}

/*
 * Definitions go first, so that a reader who sees all batches in order knows every id it meets; and
 * launches, with their stacks, before the work that they put on a GPU.
 */
void cuprobe_batch_fire(__u32 probe)
{
	if (probe != CUPROBE_PROBE_string)
		batch_hand_over(CUPROBE_PROBE_string);
	if (probe != CUPROBE_PROBE_string && probe != CUPROBE_PROBE_info)
		batch_hand_over(CUPROBE_PROBE_info);
	if (probe_is_work(probe)) {
		batch_hand_over(CUPROBE_PROBE_stack);
		batch_hand_over(CUPROBE_PROBE_launch);
	}
	batch_hand_over(probe);
}

void cuprobe_batch_fire_aged(__u64 begun_before_ns)
{
	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		if (cuprobe_batch[probe].limit && cuprobe_batch[probe].begun_ns <= begun_before_ns)
			cuprobe_batch_fire(probe);
	}
}

void *cuprobe_batch_begin(__u32 probe)
{
	cuprobe_batch_fire(probe);
	cuprobe_batch[probe].limit =
		data[probe] + CUPROBE_BATCH_BYTES - cuprobe_batch_record_bytes(probe);
	cuprobe_batch[probe].begun_ns = cuprobe_clock_now();
	return data[probe];
}
