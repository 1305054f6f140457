/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random stacks out of functions of all shapes, each walked by the library's unwinder and by that
 * of libgcc.
 *
 *	stacks [COUNT [SEED]]
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "src/inject/unwind.h"
#include "test/unwind/compare.h"
#include "test/unwind/shapes.h"

/* Each compiler at each level. */
#define VARIANT(name) extern const struct shapes name;
#include "variants.h"
#undef VARIANT

static const struct shapes *const variants[] = {
#define VARIANT(name) &name,
#include "variants.h"
#undef VARIANT
	&shapes_jumps,
	&shapes_exceptions,
};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))
#define COMPILED (VARIANTS - 2) /* the first are each compiler's at each level */
#define DEPTH 24

static struct comparison comparison, interrupted;
static uint64_t wanted;
static bool interrupts; /* that phase is on */

uint32_t path_random(struct path *p, uint32_t below)
{
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(p->random >> 33) % below;
}

/*
 * libgcc faults when a signal interrupts itself while it throws an exception, or the end of a
 * function that has aligned the stack: there what compilers say of it is not true.
 */
static shape *shape_choose(struct path *p)
{
	uint32_t variant = path_random(p, interrupts ? VARIANTS - 1 : VARIANTS);
	uint32_t count = (uint32_t)variants[variant]->count;

	if (interrupts && variant < COMPILED)
		count -= SHAPES_REALIGNING;
	return variants[variant]->shapes[path_random(p, count)];
}

int path_next(struct path *p)
{
	if (p->depth-- > 0)
		return shape_choose(p)(p) + 1;
	p->leaf(p);
	return 1;
}

/* Several of one stack: what the unwinder remembers of the last one is used, too. */
static void leaf(struct path *p)
{
	compare_stacks(&comparison);
	if (comparison_count(&comparison) < wanted && path_random(p, 2)) {
		p->depth = (int)path_random(p, 4);
		path_next(p);
	}
}

/* The smallest stack that a thread can have. */
static void *small_stack(void *arg)
{
	(void)arg;
	cuprobe_unwind_init(comparison.unwinding);
	compare_stacks(&comparison);
	compare_stacks(&comparison);
	return NULL;
}

static int small_stack_walk(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	err = pthread_create(&thread, &attr, small_stack, NULL);
	pthread_attr_destroy(&attr);
	return err ? err : pthread_join(thread, NULL);
}

static void no_leaf(struct path *p)
{
	(void)p;
}

static void timer_handler(int signal_number)
{
	(void)signal_number;
	compare_stacks(&interrupted);
}

/* Signals that come at any instruction: function entries and exits, too. */
static void interrupt(struct path *p)
{
	const struct sigaction action = {.sa_handler = timer_handler, .sa_flags = SA_RESTART};
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};

	interrupts = true;
	p->leaf = no_leaf;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (comparison_count(&interrupted) < wanted / 100) {
		p->depth = (int)path_random(p, DEPTH);
		path_next(p);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

int main(int argc, char **argv)
{
	static struct cuprobe_unwinding unwinding, in_handler;
	struct path p = {.leaf = leaf};
	bool right;

	wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
	p.random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	comparison.unwinding = &unwinding;
	interrupted.unwinding = &in_handler;
	if (small_stack_walk())
		return 1;
	cuprobe_unwind_init(&unwinding);
	cuprobe_unwind_init(&in_handler);
	while (comparison_count(&comparison) < wanted) {
		p.depth = (int)path_random(&p, DEPTH);
		path_next(&p);
	}
	interrupt(&p);
	right = comparison_report(&comparison, "calls") && !comparison.guessed;
	return comparison_report(&interrupted, "interrupts") && right ? 0 : 1;
}
