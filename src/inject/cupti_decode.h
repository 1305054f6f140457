/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's activity buffers turned into the records of the probes. */
#ifndef CUPROBE_INJECT_CUPTI_DECODE_H
#define CUPROBE_INJECT_CUPTI_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

/*
 * Decodes all records of a buffer into the batches. `cupti_alive`: CUPTI's own functions may be
 * called. Pump thread.
 */
void cuprobe_decode_buffer(__u8 *data, size_t valid_bytes, bool cupti_alive);

/* Only counts the records, as lost. Any thread, inside CUPTI's callback. */
void cuprobe_decode_lose(__u8 *data, size_t valid_bytes);

#endif
