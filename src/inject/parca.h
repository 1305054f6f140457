/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider parcagpu, for parca-agent and whatever else reads its probes: a second view of what
 * is collected. It is switched on by semaphores of its own, and fires beside the native probes.
 */
#ifndef CUPROBE_INJECT_PARCA_H
#define CUPROBE_INJECT_PARCA_H

#include <stdbool.h>

#include <linux/types.h>

#include "probes/parcagpu.h"

/* What its consumers need, beside the native probes whose data they need too. */
#define CUPROBE_PARCA_ATTACHED (1u << 29) /* the pump */
#define CUPROBE_PARCA_LAUNCHES (1u << 30) /* calls that launch are shown */
#define CUPROBE_PARCA_KERNELS (1u << 31)  /* those in graphs too, one by one */

/* The provider in use; tests put their own here before anything is started. */
extern const struct parcagpu *cuprobe_parcagpu;

/* Somebody is to be told of launches. Any thread. */
bool cuprobe_parca_tells_launches(void);

/* Launches are told without limits now: samples refer to any. Any thread. */
bool cuprobe_parca_unlimited(void);

/* Looks at who is attached and says what they need. Control thread. */
__u32 cuprobe_parca_look(void);

#endif
