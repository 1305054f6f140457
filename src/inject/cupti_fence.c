/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_fence.h"

#include <stdatomic.h>
#include <time.h>

#include "src/inject/clock.h"

#define MS 1000000ull
#define PATIENCE_NS (100 * MS)	 /* with launches that are under way */
#define RESPITE_NS (1000 * MS)	 /* after a try in vain */
#define HELD_MOST_NS (2000 * MS) /* then a launch goes on whatever happens */
#define STEP_NS 50000

/* The order of accesses to these three matters: all are sequentially consistent. */
static atomic_bool counting;
static _Alignas(64) atomic_int inside; /* launches that are under way */
static _Alignas(64) atomic_bool closed;
static __thread bool counted; /* this thread's launch is */

static void step_wait(void)
{
	const struct timespec step = {.tv_nsec = STEP_NS};

	nanosleep(&step, NULL);
}

/* Either the closing thread sees this launch, or this launch sees that the fence is closed. */
static void launch_begin(void)
{
	__u64 patience_ns = 0;

	atomic_fetch_add(&inside, 1);
	while (atomic_load(&closed)) {
		atomic_fetch_sub(&inside, 1);
		if (!patience_ns)
			patience_ns = cuprobe_clock_now() + HELD_MOST_NS;
		step_wait();
		atomic_fetch_add(&inside, 1);
		if (cuprobe_clock_now() >= patience_ns)
			break;
	}
	counted = atomic_load(&counting);
	if (!counted)
		atomic_fetch_sub(&inside, 1);
}

/* A launch that began before it was counted ends without having been. */
void cuprobe_fence_launch(const CUpti_CallbackData *call)
{
	if (call->callbackSite == CUPTI_API_ENTER && !counted && atomic_load(&counting)) {
		launch_begin();
	} else if (call->callbackSite == CUPTI_API_EXIT && counted) {
		atomic_fetch_sub(&inside, 1);
		counted = false;
	}
}

void cuprobe_fence_begin(void)
{
	atomic_store(&counting, true);
}

void cuprobe_fence_end(void)
{
	atomic_store(&counting, false);
	cuprobe_fence_open();
}

bool cuprobe_fence_close(void (*meanwhile)(void))
{
	static __u64 not_before_ns;
	__u64 now_ns = cuprobe_clock_now(), until_ns = now_ns + PATIENCE_NS;

	if (now_ns < not_before_ns)
		return false;
	atomic_store(&closed, true);
	while (atomic_load(&inside)) {
		if (cuprobe_clock_now() >= until_ns) {
			not_before_ns = until_ns + RESPITE_NS;
			cuprobe_fence_open();
			return false;
		}
		meanwhile();
		step_wait();
	}
	return true;
}

void cuprobe_fence_open(void)
{
	atomic_store(&closed, false);
}
