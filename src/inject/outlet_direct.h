/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way out that needs no BPF: shared memory of a collector that listens at the socket that
 * CUPROBE_DIRECT names, see cuprobe/direct.h. The pump never waits for it; what finds no room is
 * counted there.
 */
#ifndef CUPROBE_INJECT_OUTLET_DIRECT_H
#define CUPROBE_INJECT_OUTLET_DIRECT_H

#include "src/inject/outlet.h"

extern const struct cuprobe_outlet cuprobe_outlet_direct;

/*
 * Looks whether the collector is there, connects to one that is, and learns what it wants. Called
 * some times a second, before consumers are asked for.
 */
void cuprobe_direct_look(void);

#endif
