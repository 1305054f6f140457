/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/batch.h"

#include "src/inject/clock.h"
#include "src/inject/ledger.h"
#include "src/inject/outlet.h"

struct batch {
	__u32 count;
	__u64 begun_ns; /* when its first record came */
	__u8 data[CUPROBE_BATCH_BYTES] __attribute__((aligned(64)));
};

static struct batch batches[CUPROBE_PROBE_COUNT];

#define RECORD_BYTES(name, number) [number] = sizeof(struct cuprobe_##name),
static const __u32 record_bytes[] = {CUPROBE_FOR_EACH_PROBE(RECORD_BYTES)};

__u32 cuprobe_batch_pending(__u32 probe)
{
	return batches[probe].count;
}

void *cuprobe_batch_add(__u32 probe)
{
	struct batch *batch = &batches[probe];
	void *record;

	if ((batch->count + 1) * record_bytes[probe] > CUPROBE_BATCH_BYTES)
		cuprobe_batch_fire(probe);
	if (!batch->count)
		batch->begun_ns = cuprobe_clock_now();
	record = batch->data + batch->count * record_bytes[probe];
	batch->count++;
	cuprobe_ledger[probe].decoded++;
	return record;
}

static void batch_hand_over(__u32 probe)
{
	struct batch *batch = &batches[probe];
	struct cuprobe_ledger *ledger = &cuprobe_ledger[probe];
	__u32 count = batch->count;

	if (!count)
		return;
	batch->count = 0;
	if (!cuprobe_outlet->consumers(probe)) {
		ledger->discarded += count;
		return;
	}
	cuprobe_outlet->deliver(probe, batch->data, count * record_bytes[probe], count,
				ledger->fired);
	ledger->fired += count;
}

/* Definitions go first, so that a reader who sees all batches in order knows every id it meets. */
void cuprobe_batch_fire(__u32 probe)
{
	if (probe != CUPROBE_PROBE_string)
		batch_hand_over(CUPROBE_PROBE_string);
	if (probe != CUPROBE_PROBE_string && probe != CUPROBE_PROBE_info)
		batch_hand_over(CUPROBE_PROBE_info);
	batch_hand_over(probe);
}

void cuprobe_batch_fire_aged(__u64 begun_before_ns)
{
	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		if (batches[probe].count && batches[probe].begun_ns <= begun_before_ns)
			cuprobe_batch_fire(probe);
	}
}
