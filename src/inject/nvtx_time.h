/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times that clients write down themselves, and hand in later. Only those of CLOCK_MONOTONIC,
 * which nvtxTimestampGet() reads too, have a place among the other records.
 */
#ifndef CUPROBE_INJECT_NVTX_TIME_H
#define CUPROBE_INJECT_NVTX_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

struct nvtx_domain;
struct nvtx_semantics;
struct nvtx_time_attributes;

int64_t cuprobe_nvtx_timestamp(void);
/* The id of a time domain; 0, which says that there is none, for other clocks. */
uint64_t cuprobe_nvtx_time_domain(struct nvtx_domain *d, const struct nvtx_time_attributes *a);

/* True when times that are said to be so are those of CLOCK_MONOTONIC. */
bool cuprobe_nvtx_time_is_known(const struct nvtx_semantics *semantics);

/* Counts events that cannot be taken; the pump says so, once. */
void cuprobe_nvtx_time_refuse(__u64 events);
void cuprobe_nvtx_time_pump(void);

#endif
