/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_time.h"

#include <stdatomic.h>

#include "src/inject/clock.h"
#include "src/inject/ledger.h"
#include "src/inject/notice.h"
#include "src/inject/nvtx_abi.h"

static atomic_bool refused; /* relaxed: a hint for the pump */

int64_t cuprobe_nvtx_timestamp(void)
{
	return (int64_t)cuprobe_clock_now();
}

/* All of these are CLOCK_MONOTONIC on Linux. */
static bool clock_is_known(__u64 time)
{
	return time == NVTX_TIME_OF_TOOL || time == NVTX_TIME_MONOTONIC ||
	       time == NVTX_TIME_MONOTONIC_COARSE || time == NVTX_TIME_STEADY_CLOCK;
}

/* Where a domain's id is asked for, that of its clock will do as well. */
uint64_t cuprobe_nvtx_time_domain(struct nvtx_domain *d, const struct nvtx_time_attributes *a)
{
	(void)d;
	return a && !a->id && clock_is_known(a->time) ? a->time : NVTX_TIME_NONE;
}

bool cuprobe_nvtx_time_is_known(const struct nvtx_semantics *semantics)
{
	for (; semantics; semantics = semantics->next) {
		if (semantics->id == NVTX_SEMANTICS_TIME &&
		    semantics->bytes >= sizeof(struct nvtx_semantics_time))
			return clock_is_known(
				((const struct nvtx_semantics_time *)semantics)->domain);
	}
	return false;
}

void cuprobe_nvtx_time_refuse(__u64 events)
{
	cuprobe_ledger_lose(CUPROBE_PROBE_nvtx, events);
	atomic_store_explicit(&refused, true, memory_order_relaxed);
}

void cuprobe_nvtx_time_pump(void)
{
	static bool said;

	if (said || !atomic_load_explicit(&refused, memory_order_relaxed))
		return;
	said = true;
	cuprobe_notice_message(
		CUPROBE_WARNING, 0, "give them times of nvtxTimestampGet() or CLOCK_MONOTONIC",
		"NVTX events that the program handed in later count as lost, because "
		"it is not known when they were");
}
