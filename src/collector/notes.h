/* SPDX-License-Identifier: Apache-2.0 */
/* Where the probes of provider `cuprobe` lie in an ELF file. */
#ifndef CUPROBE_COLLECTOR_NOTES_H
#define CUPROBE_COLLECTOR_NOTES_H

#include <stddef.h>

#include <linux/types.h>

struct probe_site {
	__u64 offset;		/* in the file */
	__u64 semaphore_offset; /* in the file; 0: the probe has none */
	__u64 cookie;		/* for the BPF program, see ebpf/programs.h */
	unsigned int probe;	/* enum cuprobe_probe_id */
};

struct notes {
	struct probe_site *sites;
	size_t count;
	struct probe_site replay; /* of the probe that asks for definitions; offset 0: none */
};

/*
 * Reads the notes of the ELF file open at `fd`; probes with names that are not known are left out.
 * -ENOEXEC: not an ELF file. -ENOENT: no probes of ours. -EINVAL: a damaged note, or arguments
 * that the BPF program cannot fetch. One line of text is in `ret_why` then.
 */
int notes_read(struct notes *ret, int fd, char *ret_why, size_t size);
void notes_free(struct notes *n);

/*
 * Where the arguments of a note lie ("8@%rdi 4@%esi 4@%edx 8@%rcx"): four registers, as the upper
 * bytes of a cookie. -EINVAL for other numbers of arguments, sizes and operands.
 */
int notes_arguments(const char *text, __u64 *ret_cookie);

#endif
