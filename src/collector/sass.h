/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions do, by the toolkit's nvdisasm, where that is installed. */
#ifndef CUPROBE_COLLECTOR_SASS_H
#define CUPROBE_COLLECTOR_SASS_H

#include <linux/types.h>

struct cubins;
struct sass;

/* 0 or -ENOMEM. */
int sass_open(struct sass **ret, const struct cubins *cubins);
void sass_free(struct sass *s);
/* "LDG.E R2, desc[UR6][R2.64]"; "" when it cannot be known. */
const char *sass_opcode(struct sass *s, __u64 crc, const char *function, __u64 pc);

#endif
