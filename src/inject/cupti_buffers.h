/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activity buffers that go back and forth between CUPTI and the pump. When the pool is empty
 * CUPTI gets a small throw-away buffer, whose records are counted as lost: CUPTI before 12.9
 * crashes when it gets none, and the application never waits.
 */
#ifndef CUPROBE_INJECT_CUPTI_BUFFERS_H
#define CUPROBE_INJECT_CUPTI_BUFFERS_H

#include <cupti.h>

#include <linux/types.h>

struct cuprobe_buffer;

/* Before a session: there is memory for its first buffers. 0 or -ENOMEM. */
int cuprobe_buffers_begin(void);

/* Called now and then while there is no session: after some time, memory is given back. */
void cuprobe_buffers_rest(void);

/*
 * Makes more buffers usable when few are free, and takes back what a finalised CUPTI has kept.
 * Called by the flush thread while a session is open.
 */
void cuprobe_buffers_tend(void);

/* CUPTI has been finalised. */
void cuprobe_buffers_retire(void);

/* Buffers of the pool that CUPTI holds. */
__u32 cuprobe_buffers_held(void);

/* How many were ever completed. */
__u32 cuprobe_buffers_count(void);

/*
 * At the end of the process: before the last flush, which buffers are out; and after it, how many
 * of those have been written to and are kept, once no more of them come.
 */
__u32 cuprobe_buffers_close(void);
__u32 cuprobe_buffers_await(__u32 out, __u64 deadline_ns);

/* Gives a decoded buffer back to the pool. */
void cuprobe_buffers_put(struct cuprobe_buffer *buffer);

/* The callbacks for cuptiActivityRegisterCallbacks(). */
void CUPTIAPI cuprobe_buffers_requested(uint8_t **ret_data, size_t *ret_bytes,
					size_t *ret_max_records);
void CUPTIAPI cuprobe_buffers_completed(CUcontext context, uint32_t stream, uint8_t *data,
					size_t bytes, size_t valid_bytes);

#endif
