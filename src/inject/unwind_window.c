/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/unwind_window.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/inject/unwind.h"

/* The kernel keeps other mappings so far away from the main thread's stack, or more. */
#define MAIN_STACK_GAP ((__u64)128 << 20)

/*
 * The main thread's stack grows; above its frames lie the arguments, the environment and the text
 * that the auxiliary vector points to.
 */
static void main_stack(struct cuprobe_unwinding *u)
{
	u->own_high = getauxval(AT_EXECFN);
	u->own_low = u->own_high > MAIN_STACK_GAP ? u->own_high - MAIN_STACK_GAP : u->own_high;
}

static void thread_stack(struct cuprobe_unwinding *u)
{
	pthread_attr_t attr;
	void *low = NULL;
	size_t bytes = 0;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &low, &bytes)) {
		u->own_low = (__u64)low;
		u->own_high = (__u64)low + bytes;
	}
	pthread_attr_destroy(&attr);
}

void cuprobe_window_init(struct cuprobe_unwinding *u)
{
	u->own_low = 0;
	u->own_high = 0;
	if (syscall(SYS_gettid) == getpid())
		main_stack(u);
	else
		thread_stack(u);
}

/* The kernel copies up to the first page that is not there. The main thread may have left. */
static ssize_t copy(void *to_data, __u64 from_address, size_t bytes)
{
	struct iovec from = {(void *)from_address, bytes}, to = {to_data, bytes};

	return (ssize_t)syscall(SYS_process_vm_readv, syscall(SYS_gettid), &to, 1, &from, 1, 0);
}

static bool copy_take(struct cuprobe_unwinding *u, __u64 sp)
{
	ssize_t bytes = copy(u->copy, sp, sizeof(u->copy));

	if (bytes <= 0)
		return false;
	u->high = sp + (__u64)bytes;
	u->delta = (__u64)u->copy - sp;
	return true;
}

bool cuprobe_window_move(struct cuprobe_unwinding *u, __u64 sp)
{
	bool is_own = sp >= u->own_low && sp < u->own_high;

	u->low = sp;
	u->high = is_own ? u->own_high : sp;
	u->delta = 0;
	if (sp % CUPROBE_FRAME_ALIGNMENT)
		return false;
	return is_own || copy_take(u, sp);
}

/* A stack is mapped from there on upwards, and the main thread's may not have grown so far. */
bool cuprobe_window_jump(struct cuprobe_unwinding *u, __u64 sp)
{
	__u64 word;

	return copy(&word, sp, sizeof(word)) == sizeof(word) && cuprobe_window_move(u, sp);
}
