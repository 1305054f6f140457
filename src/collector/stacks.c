/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/strings.h"
#include "src/collector/symbols.h"

static int stacks_reserve(struct stacks *s, size_t bytes)
{
	if (s->bytes + bytes > STACKS_LARGEST)
		return -ENOSPC;
	s->bytes += bytes;
	return 0;
}

int stacks_get(struct stacks *s, __u32 id, struct stack **ret)
{
	struct stack *stack = map_find(&s->by_id, id);
	int err;

	if (stack) {
		*ret = stack;
		return 0;
	}
	err = stacks_reserve(s, sizeof(*stack));
	if (err)
		return err;
	stack = calloc(1, sizeof(*stack));
	if (!stack || map_insert(&s->by_id, id, stack)) {
		free(stack);
		return -ENOMEM;
	}
	stack->id = id;
	stack->next = s->all;
	s->all = stack;
	*ret = stack;
	return 0;
}

static __u64 frame_hash(const struct cuprobe_frame *raw)
{
	__u64 hash = raw->pc * 0x9e3779b97f4a7c15ull + raw->kind;

	hash = (hash ^ raw->function) * 0xff51afd7ed558ccdull;
	hash = (hash ^ raw->file) * 0xc4ceb9fe1a85ec53ull;
	return hash ^ raw->line;
}

static bool frame_is(const void *frame, const void *wanted)
{
	const struct frame *f = frame;

	return !memcmp(&f->raw, wanted, sizeof(f->raw));
}

static int frame_new(struct stacks *s, const struct cuprobe_frame *raw, __u64 key,
		     struct frame **ret)
{
	int err = stacks_reserve(s, sizeof(**ret));
	struct frame *f;

	if (err)
		return err;
	f = calloc(1, sizeof(*f));
	if (!f || map_insert(&s->by_hash, key, f)) {
		free(f);
		return -ENOMEM;
	}
	f->raw = *raw;
	f->next = s->frames;
	s->frames = f;
	*ret = f;
	return 0;
}

static int frame_get(struct stacks *s, const struct cuprobe_frame *raw, struct frame **ret)
{
	__u64 key = frame_hash(raw);

	*ret = map_search(&s->by_hash, &key, frame_is, raw);
	return *ret ? 0 : frame_new(s, raw, key, ret);
}

static int stack_begin(struct stacks *s, struct stack *stack, __u16 frames)
{
	int err = stacks_reserve(s, frames * sizeof(*stack->frame));

	if (err)
		return err;
	stack->frame = calloc(frames, sizeof(*stack->frame));
	if (!stack->frame)
		return -ENOMEM;
	stack->frames = frames;
	return 0;
}

int stacks_add(struct stacks *s, const struct cuprobe_stack *piece)
{
	struct stack *stack;
	int err = stacks_get(s, piece->id, &stack);

	if (!err && !stack->frames && !piece->first)
		err = stack_begin(s, stack, piece->frames);
	if (err || piece->frames != stack->frames || piece->first != stack->have)
		return err;
	for (__u32 i = 0; i < piece->count && !err; i++)
		err = frame_get(s, &piece->frame[i], &stack->frame[piece->first + i]);
	if (!err)
		stack->have = (__u16)(piece->first + piece->count);
	return err;
}

static const char *string_text(const struct strings *strings, __u32 id)
{
	const struct string *string = strings_find(strings, id);

	return string ? string->text : NULL;
}

void stacks_settle(struct stacks *s, const struct strings *strings, const struct symbols *symbols)
{
	for (struct frame *f = s->frames; f != s->before; f = f->next) {
		if (f->raw.kind == CUPROBE_FRAME_PYTHON) {
			f->function = string_text(strings, f->raw.function);
			f->file = string_text(strings, f->raw.file);
		} else {
			f->symbol = symbols_find(symbols, f->raw.pc);
		}
	}
}

void stacks_forget(struct stacks *s)
{
	map_clear(&s->by_id, NULL);
	map_clear(&s->by_hash, NULL);
	s->before = s->frames;
}

void stacks_free(struct stacks *s)
{
	struct stack *next_stack;
	struct frame *next;

	for (struct stack *stack = s->all; stack; stack = next_stack) {
		next_stack = stack->next;
		free(stack->frame);
		free(stack);
	}
	for (struct frame *f = s->frames; f; f = next) {
		next = f->next;
		free(f);
	}
	map_clear(&s->by_id, NULL);
	map_clear(&s->by_hash, NULL);
	*s = (struct stacks){0};
}
