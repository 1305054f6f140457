/* SPDX-License-Identifier: Apache-2.0 */
/* Finds libcuprobe.so for a command to start, and makes the copy that only this run loads. */
#ifndef CUPROBE_COLLECTOR_LIBRARY_H
#define CUPROBE_COLLECTOR_LIBRARY_H

#include <limits.h>
#include <stddef.h>

/*
 * `wanted`, or what CUDA_INJECTION64_PATH names, or libcuprobe.so of this installation or build.
 * On failure one line, with what to do, is in `ret_why`.
 */
int library_find(char ret_path[PATH_MAX], const char *wanted, char *ret_why, size_t size);

/*
 * A copy of the library, of its own name in a directory of its own. A process loads it only when
 * it was told to by this run's environment, so probes attached to this file, in all processes,
 * are attached in the command and its descendants and in nobody else. (Events that are inherited
 * would say it more directly. The kernel looks up the path of an inherited uprobe event in the
 * forking process, fails, and makes that process's fork or pthread_create fail.)
 */
struct library_copy {
	char directory[PATH_MAX], path[PATH_MAX];
	int fd; /* of the copy, for reading */
};
int library_copy_make(struct library_copy *ret, const char *path, char *ret_why, size_t size);
void library_copy_remove(struct library_copy *copy);

#endif
