/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process uses CUDA, can be traced, is being traced, and if not, why. */
#ifndef CUPROBE_COLLECTOR_INSPECT_H
#define CUPROBE_COLLECTOR_INSPECT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <linux/types.h>

struct inspection {
	pid_t pid;
	uid_t uid;
	char name[64];
	bool driver, runtime;	  /* libcuda, a shared libcudart are mapped */
	bool library;		  /* libcuprobe is */
	bool deleted;		  /* its file was deleted or replaced since */
	char path[PATH_MAX];	  /* of the library */
	__u32 consumed;		  /* bit n: probe n has a consumer */
	char why[PATH_MAX + 256]; /* it cannot be traced: why, and what to do */
};

/* 1: uses CUDA or has the library; 0: does not; or -errno (-EACCES: may not be looked at). */
int inspect_process(struct inspection *ret, pid_t pid);

#endif
