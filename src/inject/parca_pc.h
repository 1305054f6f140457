/* SPDX-License-Identifier: Apache-2.0 */
/* The probes pc_sample_batch, stall_reason_map and gpu_config. Pump thread. */
#ifndef CUPROBE_INJECT_PARCA_PC_H
#define CUPROBE_INJECT_PARCA_PC_H

#include <stdbool.h>

struct cuprobe_pc_item;

/* Takes what sampling has fetched. True when the samples are for nobody else to account for. */
bool cuprobe_parca_pc(const struct cuprobe_pc_item *item);

/* Fires what is pending, and configurations that are complete. */
void cuprobe_parca_pc_fire(void);

/* Fires the map, and the configurations, again. */
void cuprobe_parca_reasons_replay(void);
void cuprobe_parca_configs_replay(void);

#endif
