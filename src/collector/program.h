/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the BPF program in the best form that the running kernel takes. */
#ifndef CUPROBE_COLLECTOR_PROGRAM_H
#define CUPROBE_COLLECTOR_PROGRAM_H

#include <linux/types.h>

struct cuprobe_bpf;

/* See ebpf/cuprobe.bpf.c. */
enum program_form {
	PROGRAM_BEST = 0,
	PROGRAM_DYNPTR,
	PROGRAM_SLEEPABLE,
	PROGRAM_ATOMIC,
	PROGRAM_FORMS,
};

struct program {
	struct cuprobe_bpf *bpf;
	enum program_form form; /* that was loaded */
	int fd;
};

/* "dynptr", "sleepable", "atomic" */
const char *program_form_name(enum program_form form);

/* `ring_bytes` is a power of two; 0: 16 MiB. Returns what the kernel said to the last form. */
int program_load(struct program *ret, enum program_form wanted, __u32 ring_bytes);
void program_free(struct program *p);

#endif
