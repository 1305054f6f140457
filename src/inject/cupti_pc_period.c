/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_pc_period.h"

#include "src/inject/cuda_driver.h"
#include "src/inject/env.h"

#define PERIOD_LEAST 5u /* 2^5 cycles; CUPTI's limits */
#define PERIOD_MOST 31u

/* Multiprocessors times cycles a second. */
static __u64 device_cycles(__u32 device)
{
	int (*attribute)(int *ret, int attribute, int device) =
		cuprobe_driver_function("cuDeviceGetAttribute");
	int multiprocessors = 0, khz = 0;

	if (!attribute || attribute(&multiprocessors, 16, (int)device) ||
	    attribute(&khz, 13, (int)device))
		return 0;
	return (__u64)multiprocessors * (__u64)khz * 1000;
}

/*
 * CUPTI takes one sample of each multiprocessor that is busy in a period, and keeps the period that
 * it began with. The shortest with which a GPU that has one of BUSY_PARTS busy keeps to the rate:
 * token by token a language model has fewer, and a GPU that is full gives that many times more.
 */
#define BUSY_PARTS 8

__u32 cuprobe_pc_period(__u32 device, __u32 up)
{
	__u64 cycles = device_cycles(device) / BUSY_PARTS;
	__u32 period = cuprobe_env.pc_period ? cuprobe_env.pc_period : PERIOD_LEAST;

	if (!cuprobe_env.pc_period && !cycles)
		return 0; /* CUPTI's own */
	while (!cuprobe_env.pc_period && period < PERIOD_MOST &&
	       cycles >> period > cuprobe_env.pc_rate)
		period++;
	return period + up < PERIOD_MOST ? period + up : PERIOD_MOST;
}
