/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_buffers.h"

#include <errno.h>
#include <time.h>

#include "src/inject/clock.h"
#include "src/inject/cupti_decode.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/pool.h"
#include "src/inject/pump.h"

#define GROW_BYTES (8u << 20)
#define SPARE_BYTES 16384u
#define SPARES 4096u		    /* address space; pages come with use */
#define QUARANTINE_NS 5000000000ull /* a buffer may still come back from a finalised CUPTI */
#define REST_NS QUARANTINE_NS	    /* without a session, before memory is given back */
#define SPARES_PRESENT 64u	    /* that many have their pages from the start */
#define PATIENCE_NS 500000000ull    /* without a buffer, before the others are given up */

static struct cuprobe_pool pool, spares;
static atomic_uint completed; /* only a count; it orders nothing */

/*
 * The oldest life of CUPTI of which buffers may be left to reclaim, 0 none, and when it ended.
 * Written by whoever finalises, by the flush thread while a session is open, and by the control
 * thread while none is, never two of them at once.
 */
static __u32 retired_life;
static __u64 retired_ns;

static __u64 resting_ns; /* since when there is no session; 0: there is one, or was none */

static __u32 grow_step(void)
{
	return GROW_BYTES < pool.slot_bytes ? 1 : (__u32)(GROW_BYTES / pool.slot_bytes);
}

static int pools_reserve(void)
{
	size_t bytes = (size_t)cuprobe_env.buffer_kb << 10;
	__u32 slots = (__u32)(((size_t)cuprobe_env.pool_mb << 20) / bytes);
	int err;

	if (pool.memory)
		return 0;
	err = cuprobe_pool_init(&spares, SPARE_BYTES, SPARES);
	if (!err)
		err = cuprobe_pool_init(&pool, bytes, slots ? slots : 1);
	if (err)
		cuprobe_pool_done(&spares);
	return err;
}

int cuprobe_buffers_begin(void)
{
	int err = pools_reserve();

	if (err)
		return err;
	resting_ns = 0;
	if (!atomic_load_explicit(&spares.usable, memory_order_relaxed))
		cuprobe_pool_grow(&spares, SPARES_PRESENT, true);
	cuprobe_pool_grow(&spares, SPARES, false);
	cuprobe_buffers_tend();
	return 0;
}

void cuprobe_buffers_retire(void)
{
	__u32 life = cuprobe_pool_retire(&pool);

	cuprobe_pool_retire(&spares);
	if (!retired_life) {
		retired_ns = cuprobe_clock_now();
		retired_life = life;
	}
}

static void retired_reclaim(void)
{
	if (!retired_life || cuprobe_clock_now() < retired_ns + QUARANTINE_NS)
		return;
	cuprobe_pool_reclaim(&pool, retired_life);
	cuprobe_pool_reclaim(&spares, retired_life);
	retired_life = 0;
}

void cuprobe_buffers_tend(void)
{
	retired_reclaim();
	if (atomic_load_explicit(&pool.free_count, memory_order_relaxed) < grow_step() / 2 + 1)
		cuprobe_pool_grow(&pool, grow_step(), true);
}

void cuprobe_buffers_rest(void)
{
	__u64 now = cuprobe_clock_now();

	if (!pool.memory)
		return;
	if (!resting_ns)
		resting_ns = now;
	if (now < resting_ns + REST_NS)
		return;
	retired_reclaim();
	cuprobe_pool_shrink(&pool);
	cuprobe_pool_shrink(&spares);
}

__u32 cuprobe_buffers_held(void)
{
	return atomic_load_explicit(&pool.held_count, memory_order_relaxed);
}

__u32 cuprobe_buffers_count(void)
{
	return atomic_load_explicit(&completed, memory_order_relaxed);
}

__u32 cuprobe_buffers_close(void)
{
	cuprobe_pool_retire(&spares);
	return cuprobe_pool_retire(&pool);
}

__u32 cuprobe_buffers_await(__u32 out, __u64 deadline_ns)
{
	const struct timespec step = {.tv_nsec = 500000};
	__u64 now = cuprobe_clock_now(), give_up_ns = now + PATIENCE_NS;
	__u32 kept, before = 0;

	for (;;) {
		kept = cuprobe_pool_written(&pool, out) + cuprobe_pool_written(&spares, out);
		now = cuprobe_clock_now();
		if (kept != before)
			give_up_ns = now + PATIENCE_NS;
		if (!kept || now >= give_up_ns || now >= deadline_ns)
			return kept;
		before = kept;
		nanosleep(&step, NULL);
	}
}

void cuprobe_buffers_put(struct cuprobe_buffer *buffer)
{
	cuprobe_pool_put(&pool, buffer);
}

void CUPTIAPI cuprobe_buffers_requested(uint8_t **ret_data, size_t *ret_bytes,
					size_t *ret_max_records)
{
	struct cuprobe_pool *from = &pool;
	struct cuprobe_buffer *buffer = NULL;

	if (cuprobe_guard_alive())
		buffer = cuprobe_pool_get(from);
	if (!buffer && cuprobe_guard_alive()) {
		from = &spares;
		buffer = cuprobe_pool_get(from);
	}
	if (buffer)
		*(__u32 *)(void *)buffer->data = 0; /* see cuprobe_pool_written() */
	*ret_data = buffer ? buffer->data : NULL;
	*ret_bytes = buffer ? from->slot_bytes : 0;
	*ret_max_records = 0;
}

void CUPTIAPI cuprobe_buffers_completed(CUcontext context, uint32_t stream, uint8_t *data,
					size_t bytes, size_t valid_bytes)
{
	struct cuprobe_buffer *buffer;
	int saved_errno = errno;

	(void)context;
	(void)stream;
	(void)bytes;
	if (!data || !cuprobe_guard_alive())
		return;
	atomic_fetch_add_explicit(&completed, 1, memory_order_relaxed);
	buffer = cuprobe_pool_complete(&pool, data);
	if (buffer) {
		buffer->valid_bytes = valid_bytes;
		cuprobe_pump_post(buffer);
	} else {
		buffer = cuprobe_pool_complete(&spares, data);
		if (buffer) {
			cuprobe_decode_lose(data, valid_bytes);
			cuprobe_pool_put(&spares, buffer);
		}
	}
	errno = saved_errno;
}
