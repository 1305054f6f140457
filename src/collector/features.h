/* SPDX-License-Identifier: Apache-2.0 */
/* What this kernel and this user can do. */
#ifndef CUPROBE_COLLECTOR_FEATURES_H
#define CUPROBE_COLLECTOR_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

/* Of this process, in effect: CAP_... of linux/capability.h. */
bool feature_capable(int capability);
/* May load BPF programs and trace: CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON, of the machine. */
bool feature_privileged(void);
bool feature_bpf(void); /* the system call is there */
bool feature_btf(void); /* the kernel's own types can be read */
bool feature_uprobes(void);
bool feature_initial_pid_namespace(void);

/* Why the BPF program could not be loaded (`err`), as one line, most with what to do. */
void features_explain(int err, char *ret_why, size_t size);

#endif
