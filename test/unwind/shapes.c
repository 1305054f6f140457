/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled again and again; SHAPES is the name of its table. */
#include "test/unwind/shapes.h"

#include <alloca.h>
#include <stdlib.h>
#include <string.h>

extern const struct shapes SHAPES;

/* Keeps a value alive and where it is; the call before it is no tail call then. */
#define KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

static __attribute__((noinline)) int plain(struct path *p)
{
	volatile int here = p->depth;

	return path_next(p) + here;
}

static __attribute__((noinline)) int tail(struct path *p)
{
	return path_next(p);
}

static __attribute__((noinline)) int grows(struct path *p)
{
	char *memory = alloca(16 + path_random(p, 900));
	int result;

	memory[0] = 1;
	KEEP(memory);
	result = path_next(p);
	KEEP(memory);
	return result + memory[0];
}

static __attribute__((noinline)) int aligns(struct path *p)
{
	_Alignas(64) char memory[64] = {1};
	int result;

	KEEP(memory);
	result = path_next(p);
	KEEP(memory);
	return result + memory[0];
}

static __attribute__((noinline)) int aligns_and_grows(struct path *p)
{
	_Alignas(64) char fixed[64] = {1};
	char *memory = alloca(16 + path_random(p, 300));
	int result;

	memory[0] = 1;
	KEEP(fixed);
	KEEP(memory);
	result = path_next(p);
	KEEP(fixed);
	return result + memory[0];
}

/* The frame pointer is a register as others are. */
static __attribute__((noinline)) int uses_registers(struct path *p)
{
	uint64_t a = p->random, b = a * 3, c = b ^ 5, d = c * 7, e = d ^ 9, f = e * 11, g = f ^ 13;
	int result = path_next(p);

	KEEP(a);
	KEEP(b);
	KEEP(c);
	KEEP(d);
	KEEP(e);
	KEEP(f);
	return result + (int)(a ^ b ^ c ^ d ^ e ^ f ^ g);
}

static __attribute__((noinline)) int is_big(struct path *p)
{
	char memory[20000];
	int result;

	memory[0] = 1;
	KEEP(memory);
	result = path_next(p);
	KEEP(memory);
	return result + memory[0];
}

static __attribute__((noinline)) int recurses(struct path *p, int times)
{
	volatile int here = times;

	return (times ? recurses(p, times - 1) : path_next(p)) + here;
}

static int recurses_some(struct path *p)
{
	return recurses(p, (int)path_random(p, 12)) + 1;
}

static struct path *compared;

static int compare(const void *a, const void *b)
{
	struct path *p = compared;

	compared = NULL;
	if (p)
		path_next(p);
	return memcmp(a, b, sizeof(int));
}

/* Through the PLT, and back from code of another library. */
static __attribute__((noinline)) int is_called_back(struct path *p)
{
	int pair[2] = {2, 1};

	compared = p;
	qsort(pair, 2, sizeof(*pair), compare);
	return pair[0];
}

/* SHAPES_REALIGNING come last. */
static shape *const all[] = {plain,	    tail,	    grows,  uses_registers,  is_big,
			     recurses_some, is_called_back, aligns, aligns_and_grows};

const struct shapes SHAPES = {all, sizeof(all) / sizeof(all[0])};
