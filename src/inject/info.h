/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ids stand for: the process, its devices, contexts and streams. Kept for consumers that come
 * later, and for what other records need to know. Everything here belongs to the pump thread.
 */
#ifndef CUPROBE_INJECT_INFO_H
#define CUPROBE_INJECT_INFO_H

#include <stdbool.h>

#include <linux/types.h>

struct cuprobe_info;

/* Keeps a copy, in place of what was known of the same thing, and publishes it if it is news. */
void cuprobe_info_put(const struct cuprobe_info *info);

/* CUPROBE_NO_ID when the context is not known. */
__u32 cuprobe_info_context_device(__u32 context);

struct cuprobe_info_device;

/* False when the device is not known. */
bool cuprobe_info_device(__u32 device, struct cuprobe_info_device *ret);

/* CUPROBE_NO_PRIORITY when the stream is not known. */
__s32 cuprobe_info_stream_priority(__u32 context, __u32 stream);

/* Publishes everything again, as for strings. */
void cuprobe_info_replay_begin(void);
bool cuprobe_info_replay(__u32 records);

#endif
