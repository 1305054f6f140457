/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of every record. Only the pump writes, but for what is atomic; a lost record counts
 * as produced, so that the sum holds whenever it is read.
 */
#ifndef CUPROBE_INJECT_LEDGER_H
#define CUPROBE_INJECT_LEDGER_H

#include <stdatomic.h>

#include <linux/types.h>

#include "cuprobe/abi.h"

struct cuprobe_ledger {
	__u64 decoded; /* produced and not lost */
	__u64 fired, discarded, invalid;
	atomic_ullong lost;
};

extern struct cuprobe_ledger cuprobe_ledger[CUPROBE_PROBE_COUNT];
extern atomic_ullong cuprobe_ledger_dropped; /* by CUPTI itself */
extern atomic_ullong cuprobe_ledger_unknown;

static inline void cuprobe_ledger_lose(__u32 probe, __u64 records)
{
	atomic_fetch_add_explicit(&cuprobe_ledger[probe].lost, records, memory_order_relaxed);
}

static inline void cuprobe_ledger_dropped_add(__u64 records)
{
	atomic_fetch_add_explicit(&cuprobe_ledger_dropped, records, memory_order_relaxed);
}

static inline void cuprobe_ledger_unknown_add(__u64 records)
{
	atomic_fetch_add_explicit(&cuprobe_ledger_unknown, records, memory_order_relaxed);
}

/* The account of one probe as it stands, for the status probe. Called by the pump. */
void cuprobe_ledger_read(__u32 probe, struct cuprobe_status_ledger *ret);

#endif
