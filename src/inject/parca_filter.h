/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launches the consumers of the provider parcagpu have been told of, by correlation id.
 * Threads of the application put them in, the pump looks them up. The memory is fixed: a launch
 * whose records never come is forgotten when its place is needed, the oldest first.
 */
#ifndef CUPROBE_INJECT_PARCA_FILTER_H
#define CUPROBE_INJECT_PARCA_FILTER_H

#include <stdbool.h>

#include <linux/types.h>

enum cuprobe_parca_launch_state {
	CUPROBE_PARCA_UNKNOWN, /* or one that is not to be told of */
	CUPROBE_PARCA_COMING,  /* will be told of when its call returns */
	CUPROBE_PARCA_TOLD,
};

/* Forgets all: they were told to somebody who has left. Control thread. */
void cuprobe_parca_filter_renew(void);

/* A launch that is coming; false when it cannot be noted. Any thread; lock-free. */
bool cuprobe_parca_filter_add(__u32 correlation);
/* It has been told of; the pump, which sees that, comes after. */
void cuprobe_parca_filter_told(__u32 correlation);
/* It has failed, or its only record has come. */
void cuprobe_parca_filter_remove(__u32 correlation);

enum cuprobe_parca_launch_state cuprobe_parca_filter_look(__u32 correlation);

#endif
