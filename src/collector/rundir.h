/* SPDX-License-Identifier: Apache-2.0 */
/* A directory for files that only this run needs. */
#ifndef CUPROBE_COLLECTOR_RUNDIR_H
#define CUPROBE_COLLECTOR_RUNDIR_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Makes one in TMPDIR, /tmp, /var/tmp or /dev/shm, whichever is the first where `fill` can put what
 * is needed, and removes there what killed runs have left. `ret_path` is "" on failure; a line that
 * says what could not be done (`what`) and what to do is then in `ret_why`.
 */
int rundir_make(char ret_path[PATH_MAX], mode_t mode, int (*fill)(void *arg, const char *directory),
		void *arg, const char *what, char *ret_why, size_t size);
/* With all files in it; "" is none. */
void rundir_remove(char path[PATH_MAX]);

#endif
