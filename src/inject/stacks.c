/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/stacks.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/env.h"
#include "src/inject/hash.h"
#include "src/inject/ledger.h"
#include "src/inject/memory.h"
#include "src/inject/notice.h"
#include "src/inject/outlet.h"
#include "src/inject/python.h"
#include "src/inject/python_splice.h"
#include "src/inject/unwind.h"
#include "src/inject/unwind_rules.h"

#define STORE_BYTES ((size_t)64 << 20)
#define MOST 131072u	   /* stacks */
#define SLOTS_LOG 18	   /* twice as many */
#define ID_BITS 24	   /* of a slot: the rest is the upper part of the hash */
#define CHAIN (1ull << 63) /* in a stored pc: the caller was found by the frame pointer */
#define STACKS_BYTES ((MOST + 1) * sizeof(*table.stacks))
#define SLOTS_BYTES (sizeof(*table.slots) << SLOTS_LOG)
#define FRAMES_MOST (CUPROBE_UNWIND_FRAMES + CUPROBE_STACKS_PYTHON + 1)

struct stack {
	__u16 native, python; /* native 0: another thread was faster */
	bool broken;
	__u64 pc[]; /* then the Python frames */
};

static struct {
	char *store;
	_Atomic __u64 used;
	struct stack *_Atomic *stacks; /* by id; release pairs with the pump's acquire */
	atomic_uint last;	       /* id */
	_Atomic __u64 *slots;
	atomic_bool ready; /* release pairs with the pump's acquire */
} table;

/* The pump's. */
static __u32 defined, replayed, replay_end;
static bool full_told;

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool table_is_ready(void)
{
	return atomic_load_explicit(&table.ready, memory_order_acquire);
}

int cuprobe_stacks_init(void)
{
	if (table_is_ready())
		return 0;
	table.store = reserve(STORE_BYTES);
	table.stacks = reserve(STACKS_BYTES);
	table.slots = reserve(SLOTS_BYTES);
	if (!table.store || !table.stacks || !table.slots) {
		cuprobe_memory_free(table.store, STORE_BYTES);
		cuprobe_memory_free(table.stacks, STACKS_BYTES);
		cuprobe_memory_free(table.slots, SLOTS_BYTES);
		return -ENOMEM;
	}
	atomic_store_explicit(&table.ready, true, memory_order_release);
	return 0;
}

static __u64 python_hash(__u64 hash, const struct cuprobe_python_frame *python, __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		__u64 name = (__u64)python[i].function << 32 | python[i].file;
		__u64 place = (__u64)python[i].line << 32 | python[i].evaluation;

		hash = cuprobe_hash_append(hash,
					   cuprobe_hash_mix(cuprobe_hash_mix(0, name), place));
	}
	return cuprobe_hash_mix(hash, count);
}

/* The slot with that hash, or the empty one where it belongs. `ret_word` is what it holds. */
static _Atomic __u64 *slot_find(__u64 hash, __u64 *ret_word)
{
	const __u64 mask = (1 << SLOTS_LOG) - 1;

	for (__u64 i = hash & mask;; i = (i + 1) & mask) {
		*ret_word = atomic_load_explicit(&table.slots[i], memory_order_acquire);
		if (!*ret_word || !((*ret_word ^ hash) >> ID_BITS))
			return &table.slots[i];
	}
}

static __u32 word_id(__u64 word)
{
	return (__u32)word & ((1u << ID_BITS) - 1);
}

static size_t stack_bytes(__u32 native, __u32 python)
{
	return sizeof(struct stack) + native * sizeof(__u64) +
	       python * sizeof(struct cuprobe_python_frame);
}

static struct cuprobe_python_frame *stack_python(struct stack *stack)
{
	return (struct cuprobe_python_frame *)&stack->pc[stack->native];
}

/* A complete copy in the store; NULL when that is full. */
static struct stack *stack_keep(const struct cuprobe_unwinding *u,
				const struct cuprobe_python_frame *python, __u32 count)
{
	__u32 native = u->depth;
	size_t bytes = stack_bytes(native, count);
	__u64 at =
		atomic_fetch_add_explicit(&table.used, (bytes + 7) & ~7ull, memory_order_relaxed);
	struct stack *stack = (void *)(table.store + at);

	if (at + bytes > STORE_BYTES)
		return NULL;
	stack->native = (__u16)native;
	stack->python = (__u16)count;
	stack->broken = u->end == CUPROBE_UNWIND_BROKEN;
	for (__u32 i = 0; i < native; i++) {
		const struct cuprobe_unwind_place *place = cuprobe_unwind_at(u, i);

		stack->pc[i] = place->pc | (place->rule.kind == CUPROBE_RULE_CHAIN ? CHAIN : 0);
	}
	memcpy(stack_python(stack), python, count * sizeof(*python));
	return stack;
}

/* Gives the stack an id, unless another thread has just done so. */
static __u32 stack_add(struct stack *stack, __u64 hash)
{
	__u32 id = atomic_fetch_add_explicit(&table.last, 1, memory_order_relaxed) + 1;
	__u64 word, mine = hash >> ID_BITS << ID_BITS | id;
	_Atomic __u64 *slot;

	if (id > MOST)
		return 0;
	do {
		slot = slot_find(hash, &word);
	} while (!word && !atomic_compare_exchange_strong_explicit(
				  slot, &word, mine, memory_order_release, memory_order_relaxed));
	if (word)
		stack->native = 0;
	atomic_store_explicit(&table.stacks[id], stack, memory_order_release);
	return word ? word_id(word) : id;
}

/* A walk, and what its stack is known by. */
struct taken {
	__u64 hash;
	__u32 python; /* frames */
};

static __u32 taken_find(struct taken *ret, struct cuprobe_stacks_thread *t,
			struct cuprobe_registers at)
{
	__u64 hash = python_hash(cuprobe_unwind(&t->unwinding, at), t->python, ret->python), word;
	struct cuprobe_stacks_recent *recent = &t->recent[hash % CUPROBE_STACKS_RECENT];

	ret->hash = hash;
	if (recent->id && recent->hash == hash)
		return recent->id;
	slot_find(hash, &word);
	*recent = (struct cuprobe_stacks_recent){hash, word_id(word)};
	return recent->id;
}

static __u32 taken_new(struct taken *taken, struct cuprobe_stacks_thread *t,
		       struct cuprobe_registers at)
{
	struct stack *stack;
	__u32 id;

	/* Before a stack is taken for a new one: it may come from the rules of a library that is
	 * gone. */
	cuprobe_rules_check();
	id = taken_find(taken, t, at);
	t->unwinding.learned = true;
	if (id)
		return id;
	stack = stack_keep(&t->unwinding, t->python, taken->python);
	id = stack ? stack_add(stack, taken->hash) : 0;
	if (!id)
		cuprobe_ledger_lose(CUPROBE_PROBE_stack, 1);
	return id;
}

__u32 cuprobe_stacks_take(struct cuprobe_stacks_thread *t, struct cuprobe_registers at)
{
	struct taken taken = {0};
	__u32 id;

	if (!cuprobe_env.native_stacks)
		taken.python =
			cuprobe_python_walk(&t->python_memory, t->python, CUPROBE_STACKS_PYTHON);
	id = taken_find(&taken, t, at);
	return id ? id : taken_new(&taken, t, at);
}

static __u32 native_frames(struct cuprobe_frame *ret, const struct stack *stack)
{
	__u32 count = stack->native;

	for (__u32 i = 0; i < count; i++)
		ret[i] =
			(struct cuprobe_frame){.pc = stack->pc[i] & ~CHAIN,
					       .kind = stack->pc[i] & CHAIN ? CUPROBE_FRAME_POINTER
									    : CUPROBE_FRAME_NATIVE};
	if (stack->broken)
		ret[count++] = (struct cuprobe_frame){.kind = CUPROBE_FRAME_BROKEN};
	return count;
}

/* Returns the number of records. */
static __u32 frames_define(__u32 id, const struct cuprobe_frame *frames, __u32 count)
{
	__u32 records = 0;

	for (__u32 first = 0; first < count; first += CUPROBE_STACK_PIECE, records++) {
		struct cuprobe_stack *record = cuprobe_batch_add(CUPROBE_PROBE_stack);
		__u32 left = count - first;

		*record = (struct cuprobe_stack){
			.id = id,
			.frames = (__u16)count,
			.first = (__u16)first,
			.count = left < CUPROBE_STACK_PIECE ? left : CUPROBE_STACK_PIECE,
		};
		memcpy(record->frame, frames + first, record->count * sizeof(*frames));
	}
	return records;
}

static __u32 stack_define(__u32 id, struct stack *stack)
{
	static struct cuprobe_frame native[CUPROBE_UNWIND_FRAMES + 1], all[FRAMES_MOST];
	__u32 count = native_frames(native, stack);

	if (!stack->native)
		return 0;
	count = cuprobe_python_splice(all, FRAMES_MOST, native, count, stack_python(stack),
				      stack->python);
	return frames_define(id, all, count);
}

/* The stack, once it is complete; NULL for ids that were not given out. */
static struct stack *stack_ready(__u32 id)
{
	if (!table_is_ready() || id > MOST)
		return NULL;
	return atomic_load_explicit(&table.stacks[id], memory_order_acquire);
}

static void full_tell(void)
{
	if (full_told || !table_is_ready() ||
	    atomic_load(&cuprobe_ledger[CUPROBE_PROBE_stack].lost) == 0)
		return;
	full_told = true;
	cuprobe_notice_message(
		CUPROBE_WARNING, 0, NULL,
		"there are too many distinct stacks: launches from further ones have "
		"none");
}

/* Without a listener nothing is defined: who comes later gets a replay. */
void cuprobe_stacks_pump(void)
{
	bool wanted = cuprobe_outlet->consumers(CUPROBE_PROBE_stack);
	struct stack *stack;

	while ((stack = stack_ready(defined + 1))) {
		defined++;
		if (wanted)
			stack_define(defined, stack);
	}
	full_tell();
}

void cuprobe_stacks_replay_begin(void)
{
	replayed = 0;
	replay_end = defined;
}

bool cuprobe_stacks_replay(__u32 records)
{
	__u32 done = 0;

	while (replayed < replay_end && done < records) {
		replayed++;
		done += stack_define(replayed, stack_ready(replayed));
	}
	return replayed < replay_end;
}
