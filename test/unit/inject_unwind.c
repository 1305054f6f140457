/* SPDX-License-Identifier: Apache-2.0 */
/* What the unwinder does with what is damaged. Stacks that are sound: test/unwind. */
#include "src/inject/unwind.h"

#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/inject/unwind_cfi.h"
#include "src/inject/unwind_rules.h"

#define ROUNDS 3000
#define LOOKS_A_ROUND 20

static uint64_t random_state = 1;

static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Memory that ends where nothing can be read; what lies below cannot be read either. */
static char *fenced(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t whole = (bytes + page - 1) / page * page;
	char *memory = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + page, whole, PROT_READ | PROT_WRITE), 0);
	return memory + page + whole - bytes;
}

/* The unwind information of this program, moved so that nothing lies behind it. */
static struct {
	struct dl_phdr_info module;
	ElfW(Phdr) segments[2];
	char *copy, *fence;
	const char *original;
	size_t bytes;
	uint64_t code, code_bytes;
} moved;

/*
 * Copies the first `bytes` of it, and by words: a checked memcpy() would find what other tools put
 * between variables.
 */
__attribute__((no_sanitize("address"))) static void information_copy(size_t bytes)
{
	const volatile uint64_t *from = (const void *)moved.original;

	moved.copy = moved.fence - bytes;
	for (size_t i = 0; i < bytes / sizeof(*from); i++)
		memcpy(moved.copy + i * sizeof(*from), (uint64_t[]){from[i]}, sizeof(*from));
	/* Addresses count from where they stand: those of the code move along. */
	moved.module.dlpi_addr = (ElfW(Addr))moved.copy - moved.segments[0].p_vaddr;
	moved.segments[0].p_filesz = bytes;
}

static const ElfW(Phdr) *
	segment_find(const struct dl_phdr_info *module, ElfW(Word) type, ElfW(Addr) address)
{
	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &module->dlpi_phdr[i];

		if (s->p_type == type && (!address || address - s->p_vaddr < s->p_filesz))
			return s;
	}
	abort();
}

static int first_module_move(struct dl_phdr_info *module, size_t size, void *unused)
{
	const ElfW(Phdr) *header = segment_find(module, PT_GNU_EH_FRAME, 0);
	const ElfW(Phdr) *holds = segment_find(module, PT_LOAD, header->p_vaddr);
	const ElfW(Phdr) *code =
		segment_find(module, PT_LOAD, (ElfW(Addr))cuprobe_unwind - module->dlpi_addr);

	(void)size;
	(void)unused;
	moved.bytes = holds->p_filesz / 8 * 8;
	moved.original = (const char *)module->dlpi_addr + holds->p_vaddr;
	moved.fence = fenced(moved.bytes) + moved.bytes;
	moved.code = module->dlpi_addr + code->p_vaddr;
	moved.code_bytes = code->p_filesz;
	moved.segments[0] = *holds;
	moved.segments[1] = *header;
	moved.module = *module;
	moved.module.dlpi_phdr = moved.segments;
	moved.module.dlpi_phnum = 2;
	return 1;
}

static struct cuprobe_rule moved_rule(uint64_t address)
{
	return cuprobe_cfi_rule(&moved.module,
				address + (uint64_t)moved.copy - (uint64_t)moved.original);
}

static bool rule_is_known(uint64_t address)
{
	return moved_rule(address).kind != CUPROBE_RULE_CHAIN;
}

static int information_move(void **state)
{
	(void)state;
	dl_iterate_phdr(first_module_move, NULL);
	information_copy(moved.bytes);
	return 0;
}

static void finds_rules_in_sound_information(void **state)
{
	(void)state;
	assert_true(rule_is_known((uint64_t)cuprobe_unwind));
	assert_true(rule_is_known((uint64_t)finds_rules_in_sound_information + 1));
	assert_false(rule_is_known(moved.code - 1));
}

static void code_ask(int times)
{
	for (int i = 0; i < times; i++)
		moved_rule(moved.code + random_number() % moved.code_bytes);
}

static void damaged_information_never_faults(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		information_copy(moved.bytes);
		for (uint64_t n = random_number() % 2000; n; n--)
			moved.copy[random_number() % moved.bytes] = (char)random_number();
		code_ask(LOOKS_A_ROUND);
	}
}

static void cut_information_never_faults(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		information_copy(random_number() % moved.bytes);
		code_ask(LOOKS_A_ROUND);
	}
}

#define STACK_WORDS 4096

/* A word as stacks have them: an address of code, of the stack, near it, or anything. */
static uint64_t stack_word(uint64_t stack)
{
	switch (random_number() % 8) {
	case 0 ... 2:
		return moved.code + random_number() % moved.code_bytes;
	case 3 ... 5:
		return stack + random_number() % (STACK_WORDS * 8) / 8 * 8;
	case 6:
		return stack + STACK_WORDS * 8 - 64 + random_number() % 128;
	default:
		return random_number();
	}
}

static void damaged_stacks_never_fault(void **state)
{
	static struct cuprobe_unwinding u;
	uint64_t *stack = (void *)fenced(STACK_WORDS * sizeof(*stack));

	(void)state;
	cuprobe_unwind_init(&u);
	u.own_low = (uint64_t)stack;
	u.own_high = u.own_low + STACK_WORDS * sizeof(*stack);
	for (int i = 0; i < STACK_WORDS; i++)
		stack[i] = stack_word(u.own_low);
	for (int round = 0; round < 20 * ROUNDS; round++) {
		struct cuprobe_registers at = {stack_word(u.own_low), stack_word(u.own_low),
					       stack_word(u.own_low)};

		stack[random_number() % STACK_WORDS] = stack_word(u.own_low);
		cuprobe_unwind(&u, at);
		assert_in_range(u.depth, 1, CUPROBE_UNWIND_FRAMES);
	}
}

static void a_stack_that_is_not_there_is_marked(void **state)
{
	static struct cuprobe_unwinding u;
	struct cuprobe_registers at = {(uint64_t)a_stack_that_is_not_there_is_marked + 4,
				       (uint64_t)fenced(4096) + 4096, 0};

	(void)state;
	cuprobe_unwind_init(&u);
	cuprobe_unwind(&u, at);
	assert_int_equal(u.depth, 1);
	assert_int_equal(u.end, CUPROBE_UNWIND_BROKEN);
}

/* Where handlers of signals return to; the kernel's struct has it, that of libc has not. */
static uint64_t signal_return(void)
{
	struct {
		uint64_t handler, flags, restorer, mask;
	} action = {0};

	assert_ptr_not_equal(signal(SIGUSR1, SIG_IGN), SIG_ERR);
	assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, sizeof(action.mask)), 0);
	return action.restorer;
}

/* It leads to where the main thread's stack has not grown to. */
static void a_forged_signal_frame_is_marked(void **state)
{
	static struct cuprobe_unwinding u;
	char *stack = fenced(4096);
	struct cuprobe_registers at = {signal_return(), (uint64_t)stack, 0};

	(void)state;
	cuprobe_unwind_init(&u);
	*(uint64_t *)(void *)(stack + CUPROBE_SIGNAL_SP) = (u.own_high & ~7ull) - (64u << 20);
	*(uint64_t *)(void *)(stack + CUPROBE_SIGNAL_PC) =
		(uint64_t)a_forged_signal_frame_is_marked + 4;
	cuprobe_unwind(&u, at);
	assert_int_equal(u.depth, 1);
	assert_int_equal(cuprobe_unwind_at(&u, 0)->rule.kind, CUPROBE_RULE_SIGNAL);
	assert_int_equal(u.end, CUPROBE_UNWIND_BROKEN);
}

static struct cuprobe_unwinding deep;

static __attribute__((noinline)) uint64_t recurse(int times)
{
	volatile uint64_t hash = 0;

	if (times)
		hash = recurse(times - 1);
	else
		hash = cuprobe_unwind(&deep, CUPROBE_REGISTERS_OF_CALLER());
	return hash;
}

static void of_deep_stacks_the_innermost_frames_are_kept(void **state)
{
	(void)state;
	cuprobe_unwind_init(&deep);
	recurse(100);
	assert_int_equal(deep.end, CUPROBE_UNWIND_TOP);
	for (int i = 0; i < 2; i++) {
		recurse(2 * CUPROBE_UNWIND_FRAMES);
		assert_int_equal(deep.end, CUPROBE_UNWIND_BROKEN);
		assert_int_equal(deep.depth, CUPROBE_UNWIND_FRAMES);
		assert_int_equal(cuprobe_unwind_at(&deep, 0)->pc,
				 cuprobe_unwind_at(&deep, CUPROBE_UNWIND_FRAMES - 1)->pc);
	}
	recurse(100);
	assert_int_equal(deep.end, CUPROBE_UNWIND_TOP);
}

static void equal_stacks_have_equal_hashes(void **state)
{
	uint64_t hash[3];

	(void)state;
	cuprobe_unwind_init(&deep);
	for (volatile int i = 0; i < 3; i++)
		hash[i] = recurse(i == 1 ? 11 : 10);
	assert_int_equal(hash[0], hash[2]);
	assert_int_not_equal(hash[0], hash[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_rules_in_sound_information),
		cmocka_unit_test(damaged_information_never_faults),
		cmocka_unit_test(cut_information_never_faults),
		cmocka_unit_test(damaged_stacks_never_fault),
		cmocka_unit_test(a_stack_that_is_not_there_is_marked),
		cmocka_unit_test(a_forged_signal_frame_is_marked),
		cmocka_unit_test(of_deep_stacks_the_innermost_frames_are_kept),
		cmocka_unit_test(equal_stacks_have_equal_hashes),
	};

	return cmocka_run_group_tests(tests, information_move, NULL);
}
