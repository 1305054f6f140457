/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the BPF program in the best form that the running kernel takes. */
#ifndef CUPROBE_COLLECTOR_PROGRAM_H
#define CUPROBE_COLLECTOR_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

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
	bool multi;		/* is attached by program_attach_multi, else to perf events */
	int fd;
};

/* "dynptr", "sleepable", "atomic" */
const char *program_form_name(enum program_form form);

struct program_opts {
	enum program_form form;
	bool no_multi;	  /* attach to perf events, as before 6.6 */
	__u32 ring_bytes; /* a power of two; 0: 16 MiB */
};

/* Returns what the kernel said to the last form. */
int program_load(struct program *ret, const struct program_opts *opts);
void program_free(struct program *p);

/*
 * One link for many sites of a file, which the kernel (6.6) detaches in one grace period, where
 * perf events need one each, and each after the other. pid 0: in all processes. The descriptor
 * of the link, or -errno.
 */
struct multi_sites {
	const __u64 *offsets, *semaphore_offsets, *cookies;
	__u32 count;
};
int program_attach_multi(const struct program *p, const char *path, const struct multi_sites *sites,
			 pid_t pid);

#endif
