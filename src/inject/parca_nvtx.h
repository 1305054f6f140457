/* SPDX-License-Identifier: Apache-2.0 */
/* The probes nvtx_event_batch and nvtx_resource_name. Pump thread. */
#ifndef CUPROBE_INJECT_PARCA_NVTX_H
#define CUPROBE_INJECT_PARCA_NVTX_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct cuprobe_nvtx;

/* True when somebody wants events. */
bool cuprobe_parca_nvtx_wanted(void);

/* Takes an event with its message, which is not zero-terminated. */
void cuprobe_parca_nvtx(const struct cuprobe_nvtx *event, const char *message, size_t bytes);

/* Fires what is complete or old, and names that are new; all events when `all`. */
void cuprobe_parca_nvtx_pump(bool all);

/* Fires all names again. */
void cuprobe_parca_names_replay(void);

#endif
