/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own threads: no signals, a name, a stack of their own size. */
#ifndef CUPROBE_INJECT_THREAD_H
#define CUPROBE_INJECT_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include <linux/types.h>

/* 0 or -errno. */
int cuprobe_thread_start(pthread_t *ret_thread, const char *name, void *(*body)(void *));

/* Whether that is one of them, by the kernel's thread id. */
bool cuprobe_thread_is_ours(__u32 tid);

/* How many were started. */
__u32 cuprobe_thread_started(void);

/* Waits for the semaphore for at most so long. False when the time is over. */
bool cuprobe_thread_wait(sem_t *sem, __u64 timeout_ns);

/* Waits that long for the thread's end; false when it has to be left behind. */
bool cuprobe_thread_join(pthread_t thread, __u64 timeout_ns);

#endif
