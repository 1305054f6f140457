/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that are left by a jump, other stacks, and signal handlers on this stack and on theirs. */
#include "test/unwind/shapes.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#define STACK_BYTES (256u << 10)

static int jumps(struct path *p)
{
	struct path *volatile kept = p;
	jmp_buf here;

	if (!setjmp(here)) {
		path_next(kept);
		longjmp(here, 1);
	}
	return path_next(kept);
}

struct coroutine {
	ucontext_t caller, self;
	struct path *path;
	char stack[STACK_BYTES];
};

static void coroutine_main(unsigned int low, unsigned int high)
{
	struct coroutine *c = (struct coroutine *)((uintptr_t)high << 32 | low);

	path_next(c->path);
}

static int runs_elsewhere(struct path *p)
{
	static struct coroutine coroutines[SHAPES_NESTED];
	struct coroutine *c = &coroutines[p->nested];

	if (p->nested >= SHAPES_NESTED)
		return path_next(p);
	p->nested++;
	getcontext(&c->self);
	c->path = p;
	c->self.uc_stack.ss_sp = c->stack;
	c->self.uc_stack.ss_size = sizeof(c->stack);
	c->self.uc_link = &c->caller;
	makecontext(&c->self, (void (*)(void))coroutine_main, 2, (unsigned int)(uintptr_t)c,
		    (unsigned int)((uintptr_t)c >> 32));
	swapcontext(&c->caller, &c->self);
	return p->nested--;
}

static struct path *signalled;

static void handler(int signal_number)
{
	struct path *p = signalled;

	(void)signal_number;
	signalled = NULL;
	if (p)
		path_next(p);
}

static int is_signalled(struct path *p)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};

	if (p->nested >= SHAPES_NESTED)
		return path_next(p);
	p->nested++;
	sigaction(SIGUSR1, &action, NULL);
	signalled = p;
	raise(SIGUSR1);
	return p->nested--;
}

/* The kernel goes on with an alternate stack that is in use; so there is one at a time. */
static int is_signalled_elsewhere(struct path *p)
{
	static char memory[STACK_BYTES];
	const struct sigaction action = {.sa_handler = handler,
					 .sa_flags = SA_NODEFER | SA_ONSTACK};
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	const stack_t none = {.ss_flags = SS_DISABLE};

	if (p->nested)
		return path_next(p);
	p->nested = SHAPES_NESTED;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	signalled = p;
	raise(SIGUSR1);
	sigaltstack(&none, NULL);
	return p->nested = 0;
}

static shape *const all[] = {jumps, runs_elsewhere, is_signalled, is_signalled_elsewhere};

const struct shapes shapes_jumps = {all, sizeof(all) / sizeof(all[0])};
