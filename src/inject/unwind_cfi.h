/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules out of a module's .eh_frame, which every compiler writes, for programs without frame
 * pointers too. The information may be damaged: no read leaves the module's segments, and where it
 * makes no sense there is no rule.
 */
#ifndef CUPROBE_INJECT_UNWIND_CFI_H
#define CUPROBE_INJECT_UNWIND_CFI_H

#include <link.h>

#include <linux/types.h>

#include "src/inject/unwind_rule.h"

/* The rule that holds at the address, which lies in the module. */
struct cuprobe_rule cuprobe_cfi_rule(const struct dl_phdr_info *module, __u64 address);

#endif
