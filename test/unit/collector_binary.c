/* SPDX-License-Identifier: Apache-2.0 */
/* What lies at an address: asked of this very program, and of perf maps. */
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/collector/decode.h"
#include "src/collector/model.h"
#include "src/collector/perf_map.h"
#include "src/collector/stacks.h"
#include "src/collector/symbol_job.h"
#include "src/collector/symbolizer.h"
#include "src/collector/symbols.h"
#include "test/golden/synthetic.h"

__attribute__((noinline)) void *return_address(void);
__attribute__((noinline)) void *return_address(void)
{
	return __builtin_return_address(0);
}

static inline __attribute__((always_inline)) void *address_inside(void)
{
	void *address = return_address();

	__asm__ volatile("" : "+r"(address));
	return address;
}

__attribute__((noinline)) void *address_of_caller(void);
__attribute__((noinline)) void *address_of_caller(void)
{
	return address_inside();
}

static char *symbols_of(const __u64 *pcs, unsigned int count, struct json maps)
{
	struct symbol_job *job = symbol_job_new(getpid(), 5, 2);
	struct symbol_cache cache = {0};
	char *json;

	assert_non_null(job);
	assert_int_equal(symbol_job_add(job, pcs, count, maps), 0);
	assert_int_equal(symbol_job_run(job, &cache), 0);
	json = strdup(job->json);
	symbol_job_free(job);
	symbol_cache_clear(&cache);
	return json;
}

static void names_functions_with_those_inlined_first(void **state)
{
	const __u64 pcs[] = {(__u64)address_of_caller(), (__u64)gnu_get_libc_version + 1};
	char *json = symbols_of(pcs, 2, (struct json){0}), *inlined, *outer;

	(void)state;
	assert_non_null(strstr(json, "\"start_ns\":5,\"image\":2"));
	inlined = strstr(json, "\"function\":\"address_inside\"");
	outer = strstr(json, "\"function\":\"address_of_caller\"");
	assert_non_null(inlined);
	assert_non_null(outer);
	assert_true(inlined < outer);
	assert_non_null(strstr(inlined, "test/unit/collector_binary.c"));
	assert_non_null(strstr(json, "libc.so.6\",\"build_id\":\""));
	free(json);
}

static void says_nothing_of_what_is_nowhere(void **state)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const __u64 pcs[] = {(__u64)page + 8, 1, ~0ull};
	char *json = symbols_of(pcs, 3, (struct json){0});

	(void)state;
	assert_non_null(strstr(json, "\"modules\":[]"));
	assert_non_null(strstr(json, "{\"pc\":1,\"lines\":[]}"));
	munmap(page, 4096);
	free(json);
}

/* As it is remembered of a process that is gone; another file under the name is not believed. */
static void knows_a_mapping_that_is_no_more(void **state)
{
	const __u64 pc = 0x123456000 + 64;
	char maps[512], *json, path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int bytes;

	(void)state;
	assert_true(n > 0);
	path[n] = '\0';
	bytes = snprintf(maps, sizeof(maps),
			 "[{\"start\":4886716416,\"end\":4886720512,\"offset\":0,"
			 "\"path\":\"%s\",\"build_id\":\"00\"}]",
			 path);
	json = symbols_of(&pc, 1, json_open(maps, (size_t)bytes));
	assert_non_null(strstr(json, "\"module\":0,\"lines\":[]"));
	assert_non_null(strstr(json, "\"build_id\":\"\""));
	free(json);
}

static int to_model(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	return decode_batch(arg, h, data, NULL);
}

static int apply_symbols(void *arg, const char *json, size_t bytes)
{
	return symbols_apply(arg, json, bytes);
}

static void fire_stack(struct synthetic *s, __u32 id, void *pc)
{
	struct cuprobe_stack stack = {.id = id, .frames = 1, .count = 1};

	stack.frame[0].pc = (__u64)pc;
	stack.frame[0].kind = CUPROBE_FRAME_NATIVE;
	synthetic_fire(s, CUPROBE_PROBE_stack, &stack, sizeof(stack), 1, 1000);
}

static const char *name_of(struct process *p, __u32 id)
{
	const struct symbol *symbol;
	struct stack *stack;

	assert_int_equal(process_stack(p, id, &stack), 0);
	process_settle_stacks(p);
	symbol = stack->frame[0]->symbol;
	return symbol && symbol->count ? symbol->lines[symbol->count - 1].function : "";
}

/* What lives is looked up at the end, what is dead at once; what comes later is not forgotten. */
static void a_recording_names_its_stacks(void **state)
{
	struct model *m;
	struct symbolizer *s;
	struct synthetic self = {.pid = (__u32)getpid(), .start_ns = 1, .now_ns = 1000};
	struct synthetic dead = {.pid = 0x7ffffff, .start_ns = 1, .now_ns = 1000};

	(void)state;
	assert_int_equal(model_open(&m), 0);
	self.target = dead.target = (struct synthetic_target){to_model, m};
	assert_int_equal(symbolizer_open(&s, m, &(struct symbolizer_handler){apply_symbols, m}), 0);
	fire_stack(&self, 1, address_of_caller());
	fire_stack(&dead, 1, address_of_caller());
	assert_int_equal(symbolizer_look(s), 0);
	assert_string_equal(name_of(model_processes(m), 1), "");
	fire_stack(&self, 2, (char *)gnu_get_libc_version + 1);
	assert_int_equal(symbolizer_look(s), 0);
	fire_stack(&self, 3, address_of_caller());
	assert_int_equal(symbolizer_finish(s), 0);
	assert_string_equal(name_of(model_processes(m), 1), "address_of_caller");
	assert_string_equal(name_of(model_processes(m), 2), "gnu_get_libc_version");
	assert_string_equal(name_of(model_processes(m), 3), "address_of_caller");
	assert_string_equal(name_of(model_processes(m)->next, 1), "");
	symbolizer_free(s);
	model_free(m);
}

static void reads_perf_maps(void **state)
{
	static const char text[] = "1000 100 first\n2000 10 with spaces [x]\n\nnot a line\n"
				   "5000\n1080 8 later\n3000 0 empty\nffffffffffffff00 ff last";
	struct perf_map *m;
	int fd = memfd_create("map", 0);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(perf_map_read(&m, fd), 0);
	assert_string_equal(perf_map_find(m, 0x1000), "first");
	assert_string_equal(perf_map_find(m, 0x10ff), "first");
	assert_string_equal(perf_map_find(m, 0x1087), "later");
	assert_string_equal(perf_map_find(m, 0x2005), "with spaces [x]");
	assert_string_equal(perf_map_find(m, 0xffffffffffffff80), "last");
	assert_null(perf_map_find(m, 0x1100));
	assert_null(perf_map_find(m, 0x3000));
	assert_null(perf_map_find(m, 0));
	perf_map_free(m);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_functions_with_those_inlined_first),
		cmocka_unit_test(says_nothing_of_what_is_nowhere),
		cmocka_unit_test(knows_a_mapping_that_is_no_more),
		cmocka_unit_test(a_recording_names_its_stacks),
		cmocka_unit_test(reads_perf_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
