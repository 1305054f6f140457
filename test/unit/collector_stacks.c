/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks from pieces, and what their frames are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/decode.h"
#include "src/collector/model.h"
#include "src/collector/stacks.h"
#include "src/collector/symbols.h"
#include "test/golden/synthetic.h"

#define NOW_NS 2000000000000ull

struct world {
	struct model *model;
	struct synthetic process;
};

static int to_model(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	return decode_batch(arg, h, data, NULL);
}

static void open_world(struct world *w)
{
	*w = (struct world){0};
	assert_int_equal(model_open(&w->model), 0);
	w->process = (struct synthetic){
		.pid = 7, .start_ns = 1, .now_ns = NOW_NS, .target = {to_model, w->model}};
}

static struct process *the_process(const struct world *w)
{
	return model_processes(w->model);
}

/* A piece whose frame n has pc base + n. */
static void piece(struct world *w, __u32 id, __u16 frames, __u16 first, __u32 count, __u64 base)
{
	struct cuprobe_stack s = {.id = id, .frames = frames, .first = first, .count = count};

	for (__u32 i = 0; i < count; i++) {
		s.frame[i].pc = base + first + i;
		s.frame[i].kind = CUPROBE_FRAME_NATIVE;
	}
	synthetic_fire(&w->process, CUPROBE_PROBE_stack, &s, sizeof(s), 1, NOW_NS);
}

static struct stack *stack_of(const struct world *w, __u32 id)
{
	struct stack *stack = NULL;

	assert_int_equal(process_stack(the_process(w), id, &stack), 0);
	return stack;
}

static void puts_pieces_together(void **state)
{
	struct world w;
	struct stack *stack;

	(void)state;
	open_world(&w);
	piece(&w, 1, 25, 0, 10, 100);
	piece(&w, 1, 25, 20, 5, 100); /* out of turn: waits for the replay */
	piece(&w, 1, 25, 10, 10, 100);
	stack = stack_of(&w, 1);
	assert_int_equal(stack->have, 20);
	piece(&w, 1, 25, 0, 10, 900); /* the replay: what is there holds */
	piece(&w, 1, 25, 20, 5, 100);
	assert_int_equal(stack->have, 25);
	for (__u64 i = 0; i < 25; i++)
		assert_int_equal(stack->frame[i]->raw.pc, 100 + i);
	piece(&w, 2, 1, 0, 1, 100);
	assert_ptr_equal(stack_of(&w, 2)->frame[0], stack->frame[0]);
	model_free(w.model);
}

static void a_stack_may_be_asked_for_before_it_comes(void **state)
{
	struct world w;
	struct stack *stack;

	(void)state;
	open_world(&w);
	piece(&w, 1, 1, 0, 1, 100);
	stack = stack_of(&w, 5);
	assert_int_equal(stack->frames, 0);
	piece(&w, 5, 3, 0, 3, 200);
	assert_int_equal(stack->have, 3);
	model_free(w.model);
}

static void one_process_cannot_take_all_memory(void **state)
{
	struct world w;
	__u64 refused = 0;

	(void)state;
	open_world(&w);
	for (__u32 id = 1; id < 2000 && !refused; id++) {
		piece(&w, id, 0xffff, 0, 10, id);
		refused = the_process(&w)->ledgers[CUPROBE_PROBE_stack].refused;
	}
	assert_true(refused);
	model_free(w.model);
}

static const char symbols[] =
	"{\"pid\":7,\"start_ns\":1,\"image\":0,"
	"\"modules\":[{\"start\":100,\"end\":200,\"offset\":0,\"path\":\"/a\",\"build_id\":\"ff\"},"
	"{\"path\":\"/b\"}],"
	"\"symbols\":[{\"pc\":100,\"module\":0,\"lines\":[{\"line\":3,\"function\":\"_Z1fi\","
	"\"file\":\"f.c\"},{\"line\":4,\"function\":\"main\"}]},"
	"{\"pc\":101,\"module\":1,\"lines\":[]},{\"pc\":102,\"module\":9},{\"lines\":[]},{}]}";

static void frames_get_their_symbols(void **state)
{
	const struct symbol *symbol;
	struct world w;
	struct stack *stack;

	(void)state;
	open_world(&w);
	piece(&w, 1, 4, 0, 4, 100);
	assert_int_equal(symbols_apply(w.model, symbols, sizeof(symbols) - 1), 0);
	process_settle_stacks(the_process(&w));
	stack = stack_of(&w, 1);
	symbol = stack->frame[0]->symbol;
	assert_int_equal(symbol->count, 2);
	assert_string_equal(symbol->lines[0].function, "_Z1fi");
	assert_string_equal(symbol->lines[0].readable, "f(int)");
	assert_int_equal(symbol->lines[0].line, 3);
	assert_string_equal(symbol->lines[1].readable, "main");
	assert_string_equal(symbol->module->path, "/a");
	assert_string_equal(symbol->module->build_id, "ff");
	assert_string_equal(stack->frame[1]->symbol->module->path, "/b");
	assert_null(stack->frame[2]->symbol->module);
	assert_null(stack->frame[3]->symbol);
	model_free(w.model);
}

/* After an exec the same numbers and addresses mean something else. */
static void each_program_has_its_own(void **state)
{
	struct cuprobe_stack s = {.id = 1, .frames = 1, .count = 1};
	struct stack *before, *after;
	struct world w;

	(void)state;
	open_world(&w);
	s.frame[0].kind = CUPROBE_FRAME_PYTHON;
	s.frame[0].function = synthetic_string(&w.process, "first");
	synthetic_fire(&w.process, CUPROBE_PROBE_stack, &s, sizeof(s), 1, NOW_NS);
	before = stack_of(&w, 1);
	memset(w.process.seq, 0, sizeof(w.process.seq));
	w.process.next_string = 0;
	synthetic_string(&w.process, "second");
	synthetic_fire(&w.process, CUPROBE_PROBE_stack, &s, sizeof(s), 1, NOW_NS);
	assert_int_equal(symbols_apply(w.model, symbols, sizeof(symbols) - 1), 0);
	process_settle_stacks(the_process(&w));
	after = stack_of(&w, 1);
	assert_string_equal(before->frame[0]->function, "first");
	assert_string_equal(after->frame[0]->function, "second");
	piece(&w, 2, 1, 0, 1, 100);
	process_settle_stacks(the_process(&w));
	assert_null(stack_of(&w, 2)->frame[0]->symbol); /* they were the first program's */
	model_free(w.model);
}

static void broken_texts_do_no_harm(void **state)
{
	char text[sizeof(symbols)];
	unsigned int seed = 11;
	struct model *m;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t bytes = (size_t)rand_r(&seed) % sizeof(text);

		memcpy(text, symbols, sizeof(text));
		for (int i = rand_r(&seed) % 4; i > 0; i--)
			text[(size_t)rand_r(&seed) % sizeof(text)] = (char)rand_r(&seed);
		assert_int_equal(model_open(&m), 0);
		symbols_apply(m, text, bytes);
		model_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_pieces_together),
		cmocka_unit_test(a_stack_may_be_asked_for_before_it_comes),
		cmocka_unit_test(one_process_cannot_take_all_memory),
		cmocka_unit_test(frames_get_their_symbols),
		cmocka_unit_test(each_program_has_its_own),
		cmocka_unit_test(broken_texts_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
