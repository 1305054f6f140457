/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_silence.h"

#include "src/inject/clock.h"
#include "src/inject/cuda_driver.h"
#include "src/inject/cupti_buffers.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/notice.h"

#define MS 1000000ull
#define SILENCE_NS (3000 * MS)

static __u64 end_ns; /* when to look whether CUPTI has delivered; 0: not */
static bool waiting; /* for the program to use a device */
static __u32 completed_before;

static __u64 silence_end(void)
{
	return cuprobe_clock_now() + SILENCE_NS + cuprobe_env.flush_ms * MS;
}

/* A CUPTI that came late tells the devices at once, one that came first those that are used. */
void cuprobe_silence_begin(bool cuda_up, bool records)
{
	completed_before = cuprobe_buffers_count();
	end_ns = records && cuda_up ? silence_end() : 0;
	waiting = records && !cuda_up;
}

static bool device_is_used(void)
{
	struct cuprobe_guard guard;
	bool used;

	if (!cuprobe_guard_enter(&guard)) /* our calls are not the program's */
		return false;
	used = cuprobe_driver_next_used(0) >= 0;
	cuprobe_guard_leave(&guard);
	return used;
}

void cuprobe_silence_watch(void)
{
	if (waiting && device_is_used()) {
		waiting = false;
		end_ns = silence_end();
	}
	if (!end_ns || cuprobe_clock_now() < end_ns)
		return;
	end_ns = 0;
	if (cuprobe_buffers_count() == completed_before)
		cuprobe_notice_message(CUPROBE_WARNING, 0,
				       "name a libcupti that fits the driver in CUPROBE_CUPTI_PATH",
				       "CUPTI accepts everything and delivers nothing");
}
