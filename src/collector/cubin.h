/* SPDX-License-Identifier: Apache-2.0 */
/* What a cubin, the ELF file of GPU code, tells about a place in it: function, file, line. */
#ifndef CUPROBE_COLLECTOR_CUBIN_H
#define CUPROBE_COLLECTOR_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#define CUBIN_FRAMES 32 /* of inlined calls that are told; deeper ones are cut at the outer end */

struct cubin;

/* Where an instruction comes from. Texts belong to the cubin. */
struct cubin_frame {
	const char *function; /* mangled */
	const char *file;     /* full path; NULL: not known */
	__u32 line;	      /* 0: not known */
};

/* Keeps a copy of the image. -EBADMSG: not a cubin that can be read; -ENOMEM. */
int cubin_open(struct cubin **ret, const void *image, size_t bytes);
void cubin_free(struct cubin *c);

/* Compiled with -lineinfo or -G. */
bool cubin_has_lines(const struct cubin *c);

/*
 * The frames of the instruction at `pc` bytes into a function, the innermost inlined one first and
 * the function itself last. 0 when the cubin (NULL: none) has no such function or it is shorter.
 * Without line information the function alone, with no file.
 */
unsigned int cubin_frames(const struct cubin *c, const char *function, __u64 pc,
			  struct cubin_frame frames[CUBIN_FRAMES]);

/* Each function in the order of the symbol table: name, bytes. */
void cubin_each_function(const struct cubin *c,
			 void (*each)(void *arg, const char *name, __u64 bytes), void *arg);

/* The whole image, for other programs. */
const void *cubin_image(const struct cubin *c, size_t *ret_bytes);

#endif
