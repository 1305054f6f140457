/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unwind/compare.h"

#include <stdio.h>
#include <unwind.h>

#include "src/inject/unwind.h"

#define SHOWN 3

static _Unwind_Reason_Code frame_take(struct _Unwind_Context *context, void *arg)
{
	struct comparison *c = arg;
	int before = 0;
	uint64_t pc = _Unwind_GetIPInfo(context, &before);

	if (c->count < COMPARISON_FRAMES && pc)
		c->pc[c->count++] = pc + (before ? 1 : 0);
	return _URC_NO_REASON;
}

static void show(const struct cuprobe_unwinding *u, const uint64_t *pc, uint32_t count)
{
	uint32_t depth = u->depth;

	printf("differs (%u frames here, end %u; %u there):\n", depth, u->end, count);
	for (uint32_t i = 0; i < depth || i < count; i++)
		printf("  %2u %12llx (rule %u) %12llx\n", i,
		       i < depth ? (unsigned long long)cuprobe_unwind_at(u, i)->pc : 0,
		       i < depth ? cuprobe_unwind_at(u, i)->rule.kind : 0,
		       i < count ? (unsigned long long)pc[i] : 0);
}

/* From the first mark on nothing is sure. */
static bool is_guess(const struct cuprobe_unwinding *u, uint32_t frames)
{
	for (uint32_t i = 0; i < frames; i++) {
		if (cuprobe_unwind_at(u, i)->rule.kind == CUPROBE_RULE_CHAIN)
			return true;
	}
	return frames == u->depth && u->end == CUPROBE_UNWIND_BROKEN;
}

/* libgcc cannot go on where it finds no unwind information. */
static bool is_end(uint64_t pc)
{
	return !_Unwind_FindEnclosingFunction((void *)(pc - 1));
}

static void judge(struct comparison *c, const uint64_t *pc, uint32_t count)
{
	const struct cuprobe_unwinding *u = c->unwinding;
	uint32_t depth = u->depth, same = 0;

	while (same < depth && same < count && cuprobe_unwind_at(u, same)->pc == pc[same])
		same++;
	c->frames += same;
	if (same == count && same == depth && u->end == CUPROBE_UNWIND_TOP)
		c->equal++;
	else if (same == count && is_guess(u, same) && is_end(pc[same - 1]))
		c->marked++;
	else if (is_guess(u, same))
		c->guessed++;
	else if (c->different++ < SHOWN)
		show(u, pc, count);
}

__attribute__((noinline)) void compare_stacks(struct comparison *c)
{
	c->count = 0;
	cuprobe_unwind(c->unwinding, CUPROBE_REGISTERS_OF_CALLER());
	_Unwind_Backtrace(frame_take, c);
	/* The first is this function, which the other walk does not see. */
	judge(c, c->pc + 1, c->count - 1);
}

bool comparison_report(const struct comparison *c, const char *what)
{
	printf("%s: %llu frames; %llu stacks equal, %llu marked, %llu guessed, %llu different\n",
	       what, (unsigned long long)c->frames, (unsigned long long)c->equal,
	       (unsigned long long)c->marked, (unsigned long long)c->guessed,
	       (unsigned long long)c->different);
	return !c->different;
}
