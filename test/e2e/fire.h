/* SPDX-License-Identifier: Apache-2.0 */
/* What the test library exports, beside its probes. */
#ifndef CUPROBE_TEST_FIRE_H
#define CUPROBE_TEST_FIRE_H

#include <stdbool.h>

#include "cuprobe/abi.h"

bool fire_wanted(enum cuprobe_probe_id probe);
void fire(enum cuprobe_probe_id probe, const void *data, __u32 bytes, __u32 count, __u64 seq);

#endif
