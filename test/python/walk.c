/* SPDX-License-Identifier: Apache-2.0 */
/* What the library reads of the thread that calls, for frames.py. */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "src/inject/notice.h"
#include "src/inject/python.h"
#include "src/inject/python_texts.h"

#define EXPORTED __attribute__((visibility("default")))
#define NATIVE 8192 /* native frames */

EXPORTED int look_beside(void);
EXPORTED int capture(struct cuprobe_python_frame *frames, int most, int *ret_evaluations);
EXPORTED const char *text(unsigned number);
EXPORTED void evaluator(int on);
EXPORTED int notice(char *ret, int bytes);

/* As the control thread does, which is no thread of Python's: again and again. */
static void *looks(void *unused)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	(void)unused;
	for (;;) {
		cuprobe_python_look();
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int look_beside(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, looks, NULL);
}

static __thread struct cuprobe_python_memory memory;

/* The frames, and how many evaluation loops are on the native stack. */
int capture(struct cuprobe_python_frame *frames, int most, int *ret_evaluations)
{
	void *pcs[NATIVE];
	int native = backtrace(pcs, NATIVE);

	*ret_evaluations = 0;
	for (int i = 0; i < native; i++)
		*ret_evaluations += cuprobe_python_evaluates((__u64)pcs[i] - 1);
	return (int)cuprobe_python_walk(&memory, frames, (__u32)most);
}

const char *text(unsigned number)
{
	return cuprobe_python_text_get(number);
}

static void *(*evaluate)(void *thread, void *frame, int throws);

static void *evaluate_between(void *thread, void *frame, int throws)
{
	return evaluate(thread, frame, throws);
}

/* Puts another function between callers and evaluation loops (PEP 523), as torch.compile does. */
void evaluator(int on)
{
	void *(*interpreter)(void);
	void (*set)(void *interpreter, void *function);

	*(void **)&evaluate = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	*(void **)&interpreter = dlsym(RTLD_DEFAULT, "PyInterpreterState_Get");
	*(void **)&set = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
	set(interpreter(), on ? (void *)evaluate_between : (void *)evaluate);
}

/* The next message; 0 when there is none. */
int notice(char *ret, int bytes)
{
	struct cuprobe_notice n;

	if (!cuprobe_notice_take(&n))
		return 0;
	return snprintf(ret, (size_t)bytes, "%s", n.text);
}
