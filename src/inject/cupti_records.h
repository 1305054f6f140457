/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function for each kind of CUPTI record, which puts it into the batch of its probe, or counts
 * it as invalid. `bytes` is how long the record is in this version of CUPTI. Pump thread.
 */
#ifndef CUPROBE_INJECT_CUPTI_RECORDS_H
#define CUPROBE_INJECT_CUPTI_RECORDS_H

#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/ledger.h"

void cuprobe_decode_kernel(const __u8 *record, __u32 bytes);
void cuprobe_decode_graph(const __u8 *record, __u32 bytes);
void cuprobe_decode_memcpy(const __u8 *record, __u32 bytes);
void cuprobe_decode_peer(const __u8 *record, __u32 bytes);
void cuprobe_decode_memset(const __u8 *record, __u32 bytes);
void cuprobe_decode_memory(const __u8 *record, __u32 bytes);
void cuprobe_decode_pool(const __u8 *record, __u32 bytes);
void cuprobe_decode_sync(const __u8 *record, __u32 bytes);
void cuprobe_decode_event(const __u8 *record, __u32 bytes);
void cuprobe_decode_runtime(const __u8 *record, __u32 bytes);
void cuprobe_decode_driver(const __u8 *record, __u32 bytes);
void cuprobe_decode_unified(const __u8 *record, __u32 bytes);
void cuprobe_decode_overhead(const __u8 *record, __u32 bytes);
void cuprobe_decode_device(const __u8 *record, __u32 bytes);
void cuprobe_decode_context(const __u8 *record, __u32 bytes);
void cuprobe_decode_stream(const __u8 *record, __u32 bytes);

/* What holds for the buffer being decoded. */
struct cuprobe_decoding {
	__u64 earliest_ns, latest_ns; /* times outside make no sense */
	__u64 offset_ns;	      /* added to CUPTI's times */
	bool cupti_alive;	      /* CUPTI's own functions may be called */
	bool device_launched;	      /* see struct cuprobe_layout */
};

extern struct cuprobe_decoding cuprobe_decoding;

/* CUPTI's time on our clock; 0, which is "unknown", stays 0. */
static inline __u64 cuprobe_record_time(__u64 cupti_ns)
{
	return cupti_ns ? cupti_ns + cuprobe_decoding.offset_ns : 0;
}

/* Moves both times to our clock; false when they make no sense. */
static inline bool cuprobe_record_times_move(__u64 *start, __u64 *end)
{
	bool known = *start != 0;

	*start += cuprobe_decoding.offset_ns;
	*end += cuprobe_decoding.offset_ns;
	return known && *start > cuprobe_decoding.earliest_ns && *end >= *start &&
	       *end <= cuprobe_decoding.latest_ns;
}

/* The same, and the record counts as invalid then. */
static inline bool cuprobe_record_times(__u32 probe, __u64 *start, __u64 *end)
{
	if (cuprobe_record_times_move(start, end))
		return true;
	cuprobe_ledger[probe].decoded++;
	cuprobe_ledger[probe].invalid++;
	return false;
}

#endif
