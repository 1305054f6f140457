/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/cuprobe.h"

/*
 * Arguments in plain registers: consumers cannot parse every operand form. One noinline function
 * for each probe, so that each has exactly one site.
 */
#define _SDT_HAS_SEMAPHORES 1
#define STAP_SDT_ARG_CONSTRAINT r
#include <sys/sdt.h>

#include "probes/cuprobe_provider.h"

struct probe {
	volatile unsigned short
		*semaphore; /* raised and lowered by the kernel, see ref_ctr_offset */
	void (*fire)(const void *data, __u32 bytes, __u32 count, __u64 seq);
};

#define DEFINE_FIRE(name, number)                                                                  \
	static __attribute__((noinline)) void fire_##name(const void *data, __u32 bytes,           \
							  __u32 count, __u64 seq)                  \
	{                                                                                          \
		STAP_PROBE4(cuprobe, name, data, bytes, count, seq);                               \
	}
CUPROBE_FOR_EACH_PROBE(DEFINE_FIRE)

/* Its semaphore is all that matters. */
static __attribute__((noinline, used)) void fire_replay(void)
{
	STAP_PROBE(cuprobe, replay);
}

#define DEFINE_PROBE(name, number) [number] = {&cuprobe_##name##_semaphore, fire_##name},
static const struct probe probes[] = {CUPROBE_FOR_EACH_PROBE(DEFINE_PROBE)};

__u32 cuprobe_probe_consumers(enum cuprobe_probe_id probe)
{
	return *probes[probe].semaphore;
}

__u32 cuprobe_probe_newcomers(void)
{
	return *(volatile unsigned short *)&cuprobe_replay_semaphore;
}

void cuprobe_probe_fire(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count,
			__u64 seq)
{
	probes[probe].fire(data, bytes, count, seq);
}
