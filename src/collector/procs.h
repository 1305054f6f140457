/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc knows of processes and the files they have mapped. */
#ifndef CUPROBE_COLLECTOR_PROCS_H
#define CUPROBE_COLLECTOR_PROCS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/types.h>

struct stat;

/* One file-backed mapping. */
struct proc_mapping {
	__u64 start, end, offset;
	char path[PATH_MAX]; /* as the process sees it */
	bool deleted;
	bool writable;
};

/* Calls `each` for each process there is; ends early with what it returns when that is not 0. */
int procs_each(int (*each)(void *arg, pid_t pid), void *arg);
/* The same for each mapping of a file; -ESRCH: no such process; 0 mappings for kernel threads. */
int proc_each_mapping(pid_t pid, int (*each)(void *arg, const struct proc_mapping *m), void *arg);
/* A descriptor of the mapped file, wherever it lies and even if it was deleted; or -errno. */
int proc_open_mapping(pid_t pid, const struct proc_mapping *m);
/* Opens `path` as the process sees it; or -errno. */
int proc_open_file(pid_t pid, const char *path);

/* A variable of the environment the process was started with; 0, -ENOENT, or another -errno. */
int proc_environment(pid_t pid, const char *name, char *ret_value, size_t size);
/*
 * A thread of the process that lives, the main thread where that is one; -ESRCH: there is none.
 * Once the main thread has left, only the other threads' entries show the memory they share.
 */
pid_t proc_thread(pid_t pid);
/* "python": the name of its main thread. */
void proc_name(pid_t pid, char *ret_name, size_t size);

/* The base name is that of a library of ours: libcuprobe*.so* */
bool library_named(const char *path);
/* The base name is that of the CUDA driver's or runtime's library. */
bool cuda_driver_named(const char *path);
bool cuda_runtime_named(const char *path);

/*
 * One number for a file, the same through every mount: all containers of one image see one
 * inode, each through an overlay file system of its own.
 */
struct file_key {
	__u64 device; /* 0 on an overlay */
	__u64 inode;
	__u64 bytes, modified_ns; /* 0 elsewhere */
};
int file_key_of(struct file_key *ret, int fd);
bool file_key_equal(const struct file_key *a, const struct file_key *b);

#endif
