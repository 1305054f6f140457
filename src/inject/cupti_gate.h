/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may call CUPTI, and from when on nobody may. Open while CUPTI is held; armed while it waits
 * for the application to finalise it; closed otherwise. Opening and arming belong to the control
 * thread.
 */
#ifndef CUPROBE_INJECT_CUPTI_GATE_H
#define CUPROBE_INJECT_CUPTI_GATE_H

#include <stdbool.h>

/*
 * Whoever calls CUPTI besides the control thread does so between these. False when CUPTI has been
 * given back, where any call would bring it up again.
 */
bool cuprobe_gate_enter(void);
void cuprobe_gate_leave(void);

/* How an armed gate may be closed: beside other threads, or by the only one that uses CUDA. */
enum cuprobe_gate_arming {
	CUPROBE_GATE_UNARMED = 0,
	CUPROBE_GATE_FOR_ANY = 0x40000000,
	CUPROBE_GATE_FOR_ONE = 0x20000000,
};

void cuprobe_gate_open(void);
void cuprobe_gate_arm(enum cuprobe_gate_arming arming);
/* Unarmed also while somebody is inside. */
enum cuprobe_gate_arming cuprobe_gate_armed(void);

/* Back to open; false when it is closed already. */
bool cuprobe_gate_disarm(void);

/* Closes the gate if it is armed as told (or open, when unarmed) and nobody is inside. */
bool cuprobe_gate_close(enum cuprobe_gate_arming arming);

#endif
