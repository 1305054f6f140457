/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function for each kind of CUPTI record, which puts it into the batch of its probe, or counts
 * it as invalid. `bytes` is how long the record is in this version of CUPTI. Pump thread.
 */
#ifndef CUPROBE_INJECT_CUPTI_RECORDS_H
#define CUPROBE_INJECT_CUPTI_RECORDS_H

#include <stdbool.h>

#include <linux/types.h>

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

/* CUPTI's own functions may be called while this buffer is decoded. */
extern bool cuprobe_record_cupti_alive;

/* CUPTI's time on our clock; 0, which is "unknown", stays 0. */
__u64 cuprobe_record_time(__u64 cupti_ns);

/* Moves both times to our clock; false, and the record counts as invalid, when they make no sense.
 */
bool cuprobe_record_times(__u32 probe, __u64 *start, __u64 *end);

#endif
