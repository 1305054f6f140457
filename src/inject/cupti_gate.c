/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_gate.h"

#include <stdatomic.h>

/* The low bits count who is inside. Entering and closing acquire what was released by leaving. */
#define GATE_ARMED ((unsigned int)(CUPROBE_GATE_FOR_ANY | CUPROBE_GATE_FOR_ONE))
#define GATE_CLOSED 0x80000000u
static atomic_uint gate = GATE_CLOSED;

bool cuprobe_gate_enter(void)
{
	unsigned int now = atomic_load_explicit(&gate, memory_order_relaxed);

	do {
		if (now & GATE_CLOSED)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&gate, &now, now + 1, memory_order_acquire,
							memory_order_relaxed));
	return true;
}

void cuprobe_gate_leave(void)
{
	atomic_fetch_sub_explicit(&gate, 1, memory_order_release);
}

void cuprobe_gate_open(void)
{
	atomic_store_explicit(&gate, 0, memory_order_release);
}

void cuprobe_gate_arm(enum cuprobe_gate_arming arming)
{
	atomic_fetch_or_explicit(&gate, arming, memory_order_release);
}

enum cuprobe_gate_arming cuprobe_gate_armed(void)
{
	/* Acquires what was written before the gate was armed. */
	unsigned int now = atomic_load_explicit(&gate, memory_order_acquire);

	return now & ~GATE_ARMED ? CUPROBE_GATE_UNARMED : (enum cuprobe_gate_arming)now;
}

bool cuprobe_gate_disarm(void)
{
	unsigned int now = atomic_load_explicit(&gate, memory_order_relaxed);

	do {
		if (now & GATE_CLOSED)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&gate, &now, now & ~GATE_ARMED, memory_order_acquire, memory_order_relaxed));
	return true;
}

bool cuprobe_gate_close(enum cuprobe_gate_arming arming)
{
	unsigned int expected = arming;

	return atomic_compare_exchange_strong_explicit(&gate, &expected, GATE_CLOSED,
						       memory_order_acq_rel, memory_order_relaxed);
}
