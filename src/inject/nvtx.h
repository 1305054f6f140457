/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX as a source of events: what the control thread and the pump do for it.
 */
#ifndef CUPROBE_INJECT_NVTX_H
#define CUPROBE_INJECT_NVTX_H

#include <stdbool.h>

#include <linux/types.h>

struct nvtx_callbacks;
struct nvtx_extension;

/* The pump looks for events that often while they are taken. */
#define CUPROBE_NVTX_PERIOD_NS 10000000ull

/*
 * Takes events or stops taking them. Called by the control thread at each of its turns, with
 * whether the probe has a consumer.
 */
void cuprobe_nvtx_control(bool wanted);

/* Takes on a client that is being initialised: one of the two is not NULL. 0 or -errno. */
int cuprobe_nvtx_attach(const struct nvtx_callbacks *callbacks,
			const struct nvtx_extension *extension);

/* True while events are taken, or are left to be drained. */
bool cuprobe_nvtx_busy(void);

/* Moves what threads have put down into batches. True when there is more. Pump thread. */
bool cuprobe_nvtx_pump(void);

/* Defines everything again, for a new consumer. Pump thread. */
void cuprobe_nvtx_replay(void);

#endif
