/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF programs and the command that loads them agree on, beside transport.h. */
#ifndef CUPROBE_EBPF_PROGRAMS_H
#define CUPROBE_EBPF_PROGRAMS_H

#include <linux/types.h>

/*
 * The cookie of an attached probe: which probe it is, and in which 8-byte slot of struct pt_regs
 * each of its four arguments lies.
 */
#define CUPROBE_COOKIE_ARGUMENTS 4
#define CUPROBE_COOKIE_PROBE(cookie) ((cookie)&0xff)
#define CUPROBE_COOKIE_SLOT(cookie, n) (((cookie) >> (8 + 8 * (n))) & 0xff)
#define CUPROBE_COOKIE_SLOTS 64 /* slots are below this */

#endif
