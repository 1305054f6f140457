/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/ledger.h"

#include "src/inject/batch.h"

struct cuprobe_ledger cuprobe_ledger[CUPROBE_PROBE_COUNT];
atomic_ullong cuprobe_ledger_dropped;
atomic_ullong cuprobe_ledger_unknown;

void cuprobe_ledger_read(__u32 probe, struct cuprobe_status_ledger *ret)
{
	struct cuprobe_ledger *from = &cuprobe_ledger[probe];
	__u64 lost = atomic_load_explicit(&from->lost, memory_order_relaxed);

	*ret = (struct cuprobe_status_ledger){
		.probe = probe,
		.produced = from->decoded + lost,
		.fired = from->fired,
		.discarded = from->discarded,
		.invalid = from->invalid,
		.lost = lost,
		.pending = cuprobe_batch_pending(probe),
		.cupti_dropped =
			atomic_load_explicit(&cuprobe_ledger_dropped, memory_order_relaxed),
		.unknown = atomic_load_explicit(&cuprobe_ledger_unknown, memory_order_relaxed),
	};
}
