/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's reading of CPython on an interpreter that is none: this program exports what one
 * exports, as a 3.12 that can be made any other version. Each case is a process of its own, as an
 * interpreter is found once. test/python does the same on real ones.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/inject/notice.h"
#include "src/inject/python.h"
#include "src/inject/python_check.h"
#include "src/inject/python_code.h"
#include "src/inject/python_layout.h"
#include "src/inject/python_splice.h"
#include "src/inject/python_texts.h"

#define EXPORTED __attribute__((visibility("default")))

/* Types are told apart by address only. */
EXPORTED char PyCode_Type[64], PyUnicode_Type[64], PyBytes_Type[64];
EXPORTED __u64 _PyRuntime[128];
EXPORTED const char *Py_GetVersion(void);
EXPORTED const void *PyGILState_GetThisThreadState(void);
EXPORTED int Py_IsFinalizing(void);
EXPORTED const void *PyInterpreterState_Main(void);
EXPORTED const void *PyInterpreterState_ThreadHead(const void *interpreter);
EXPORTED int _PyEval_EvalFrameDefault(void);

static const char *version = "3.12.1 (made up)";
static int finalizing;

/* Objects as 3.12 lays them out. */
static union object {
	char bytes[256];
	__u64 words[32];
} thread, cframe, frames[4], code[2], name, file, table;

const char *Py_GetVersion(void)
{
	return version;
}

const void *PyGILState_GetThisThreadState(void)
{
	return &thread;
}

int Py_IsFinalizing(void)
{
	return finalizing;
}

const void *PyInterpreterState_Main(void)
{
	return NULL;
}

const void *PyInterpreterState_ThreadHead(const void *interpreter)
{
	return interpreter;
}

int _PyEval_EvalFrameDefault(void)
{
	return finalizing;
}

static void pointer_set(union object *object, size_t offset, const void *to)
{
	object->words[offset / 8] = (__u64)to;
}

static void text_set(union object *object, const char *text)
{
	memset(object, 0, sizeof(*object));
	pointer_set(object, 8, PyUnicode_Type);
	object->words[2] = strlen(text);
	object->words[3] = ~0ull;
	object->bytes[32] = 1 << 2 | 1 << 5 | 1 << 6; /* one byte a character, compact, ASCII */
	strcpy(object->bytes + 40, text);
}

static void code_set(union object *object, __u32 number)
{
	memset(object, 0, sizeof(*object));
	pointer_set(object, 8, PyCode_Type);
	object->words[2] = 20; /* units of code */
	memcpy(object->bytes + 68, &(int){100}, sizeof(int));
	memcpy(object->bytes + 92, &number, sizeof(number));
	pointer_set(object, 112, &file);
	pointer_set(object, 128, &name);
	pointer_set(object, 136, &table);
	memcpy(object->bytes + 176, &(int){1}, sizeof(int));
}

/* `unit` is where in the code the frame is. */
static void frame_set(union object *frame, const union object *of, int unit, int owner,
		      const union object *previous)
{
	memset(frame, 0, sizeof(*frame));
	pointer_set(frame, 0, of);
	pointer_set(frame, 8, previous);
	pointer_set(frame, 56, of ? of->bytes + 192 + 2 * unit : NULL);
	frame->bytes[70] = (char)owner;
}

/* A function that C called, with one that it called in its loop: and the same below, once more. */
static void interpreter_set(void)
{
	static const __u8 lines[] = {0x80 | 13 << 3 | 7, 0, 0x80 | 13 << 3 | 7, 2};

	text_set(&name, "Class.method");
	text_set(&file, "/some/where.py");
	memset(&table, 0, sizeof(table));
	pointer_set(&table, 8, PyBytes_Type);
	table.words[2] = sizeof(lines);
	memcpy(table.bytes + 32, lines, sizeof(lines));
	code_set(&code[0], 7);
	code_set(&code[1], 8);
	frame_set(&frames[3], &code[1], 2, 0, NULL);
	frame_set(&frames[2], NULL, 0, 3, &frames[3]);
	frame_set(&frames[1], &code[0], 9, 0, &frames[2]);
	frame_set(&frames[0], &code[1], 1, 0, &frames[1]);
	pointer_set(&cframe, 0, &frames[0]);
	pointer_set(&thread, 56, &cframe);
}

/* The same objects, as an interpreter from 3.13 on tells of them: offsets in words of _PyRuntime.
 */
static void offsets_set(int minor, const __u8 (*offsets)[2], size_t count)
{
	memset(_PyRuntime, 0, sizeof(_PyRuntime));
	memcpy(_PyRuntime, "xdebugpy", 8);
	_PyRuntime[1] = 0x030005f0ull | (__u64)minor << 16;
	for (size_t i = 0; i < count; i++)
		_PyRuntime[offsets[i][0]] = offsets[i][1];
	pointer_set(&thread, 72, &frames[0]);
}

/* The words are where 3.13.0 and 3.14.10 have them. */
static void offsets_13_set(void)
{
	static const __u8 offsets[][2] = {
		{23, 72},  {29, 8},   {30, 0},	{31, 56}, {33, 70},  {35, 112},
		{37, 128}, {38, 136}, {39, 68}, {41, 96}, {43, 192}, {45, 8},
		{65, 16},  {66, 32},  {68, 32}, {69, 16}, {70, 40},
	};

	offsets_set(13, offsets, sizeof(offsets) / sizeof(offsets[0]));
}

static void offsets_14_set(void)
{
	static const __u8 offsets[][2] = {
		{26, 72},  {32, 8},   {33, 0},	{34, 56}, {36, 70},  {40, 112},
		{42, 128}, {43, 136}, {44, 68}, {46, 96}, {48, 192}, {51, 8},
		{75, 16},  {76, 32},  {78, 32}, {79, 16}, {80, 40},
	};

	offsets_set(14, offsets, sizeof(offsets) / sizeof(offsets[0]));
}

/* Runs the case in a process of its own; its exit status is the case's. */
static void apart(int (*test)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(test());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* True when there is one message, and it says so. */
static bool told(const char *what)
{
	struct cuprobe_notice notice, more;

	return cuprobe_notice_take(&notice) && strstr(notice.text, what) &&
	       !cuprobe_notice_take(&more);
}

static __thread struct cuprobe_python_memory memory;

static __u32 walk(struct cuprobe_python_frame *ret, __u32 most)
{
	cuprobe_python_look();
	return cuprobe_python_walk(&memory, ret, most);
}

#define FAIL_UNLESS(condition)                                                                     \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static int reads_functions_files_lines_and_evaluations_case(void)
{
	struct cuprobe_python_frame f[8];

	FAIL_UNLESS(walk(f, 8) == 3);
	FAIL_UNLESS(!strcmp(cuprobe_python_text_get(f[0].function), "Class.method"));
	FAIL_UNLESS(!strcmp(cuprobe_python_text_get(f[0].file), "/some/where.py"));
	FAIL_UNLESS(f[0].line == 100 && f[1].line == 101 && f[2].line == 100);
	FAIL_UNLESS(!f[0].evaluation && !f[1].evaluation && f[2].evaluation == 1);
	FAIL_UNLESS(f[0].function == f[2].function && f[0].file == f[2].file);
	FAIL_UNLESS(walk(f, 2) == 2);
	FAIL_UNLESS(cuprobe_python_evaluates((__u64)_PyEval_EvalFrameDefault + 1));
	FAIL_UNLESS(!cuprobe_python_evaluates((__u64)_PyEval_EvalFrameDefault - 1));
	frame_set(&frames[0], &code[1], 0, 0, &frames[1]); /* not begun */
	FAIL_UNLESS(walk(f, 8) == 2 && f[0].line == 101);
	finalizing = 1;
	FAIL_UNLESS(!walk(f, 8));
	return 0;
}

static int stops_where_a_frame_makes_no_sense_case(void)
{
	struct cuprobe_python_frame f[8];
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	FAIL_UNLESS(walk(f, 8) == 3);
	pointer_set(&frames[1], 8, (void *)0x1234567);
	FAIL_UNLESS(walk(f, 8) == 2);
	pointer_set(&frames[1], 8, &frames[0]); /* goes round */
	FAIL_UNLESS(walk(f, 8) == 8);
	pointer_set(&frames[1], 56, page);
	FAIL_UNLESS(walk(f, 8) == 1);
	pointer_set(&frames[0], 0, &name);
	FAIL_UNLESS(walk(f, 8) == 0);
	interpreter_set();
	code_set(&code[1], 9);
	pointer_set(&code[1], 128, &table); /* no text */
	pointer_set(&code[1], 136, &name);  /* no table */
	FAIL_UNLESS(walk(f, 8) == 3 && !f[0].function && f[0].file && !f[0].line);
	return 0;
}

static int notices_a_code_object_in_the_place_of_another_case(void)
{
	struct cuprobe_python_frame f[8];

	FAIL_UNLESS(walk(f, 8) == 3);
	text_set(&name, "another");
	FAIL_UNLESS(walk(f, 8) == 3);
	FAIL_UNLESS(!strcmp(cuprobe_python_text_get(f[0].function), "Class.method"));
	code_set(&code[1], 10); /* another code object in its place */
	FAIL_UNLESS(walk(f, 8) == 3);
	FAIL_UNLESS(!strcmp(cuprobe_python_text_get(f[0].function), "another"));
	FAIL_UNLESS(!strcmp(cuprobe_python_text_get(f[1].function), "Class.method"));
	code_set(&code[1], 0); /* numbers have run out */
	FAIL_UNLESS(walk(f, 8) == 3);
	text_set(&name, "anoth!r");
	FAIL_UNLESS(walk(f, 8) == 3);
	FAIL_UNLESS(!strcmp(cuprobe_python_text_get(f[0].function), "anoth!r"));
	return 0;
}

/* The kernel is asked first, so that nothing of this is followed. */
static int gives_up_when_structures_are_others_than_the_versions_case(void)
{
	struct cuprobe_python_frame f[8];
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pointer_set(&frames[3], 8, page);
	for (int i = 0; i < 120; i++)
		FAIL_UNLESS(!walk(f, 8));
	FAIL_UNLESS(told("its structures are not those of its version"));
	interpreter_set();
	FAIL_UNLESS(!walk(f, 8));
	return 0;
}

/* Between two checks the threads may have come to rest. */
static int tries_again_while_threads_run_case(void)
{
	struct cuprobe_python_frame f[8];

	pointer_set(&cframe, 0, NULL);
	FAIL_UNLESS(!walk(f, 8));
	pointer_set(&cframe, 0, &table);
	FAIL_UNLESS(!walk(f, 8));
	interpreter_set();
	pointer_set(&code[0], 8, PyBytes_Type);
	FAIL_UNLESS(!walk(f, 8));
	interpreter_set();
	pointer_set(&name, 8, PyBytes_Type);
	FAIL_UNLESS(!walk(f, 8));
	interpreter_set();
	pointer_set(&frames[3], 56, code[1].bytes + 192 + 40);
	FAIL_UNLESS(!walk(f, 8));
	interpreter_set();
	FAIL_UNLESS(walk(f, 8) == 3);
	return 0;
}

static int says_that_a_version_is_not_known_case(void)
{
	struct cuprobe_python_frame f[8];

	version = "3.15.0 (made up)";
	FAIL_UNLESS(!walk(f, 8) && !walk(f, 8));
	FAIL_UNLESS(told("Python 3.15.0 are left out: the version is not known"));
	return 0;
}

static int leaves_free_threading_builds_out_case(void)
{
	struct cuprobe_python_frame f[8];

	version = "3.14.0 free-threading build (made up)";
	offsets_14_set();
	FAIL_UNLESS(!walk(f, 8) && !walk(f, 8));
	FAIL_UNLESS(told("Python 3.14.0 are left out: it is a free-threading build"));
	return 0;
}

static int knows_free_threading_builds_by_their_offsets_too_case(void)
{
	struct cuprobe_python_frame f[8];

	version = "3.14.5 (made up)";
	offsets_14_set();
	_PyRuntime[2] = 1;
	FAIL_UNLESS(!walk(f, 8) && !walk(f, 8));
	FAIL_UNLESS(told("Python 3.14.5 are left out: it is a free-threading build"));
	return 0;
}

static int follows_the_offsets_of_3_13_case(void)
{
	struct cuprobe_python_frame f[8];

	version = "3.13.5 (made up)";
	offsets_13_set();
	FAIL_UNLESS(walk(f, 8) == 3);
	FAIL_UNLESS(!strcmp(cuprobe_python_text_get(f[0].function), "Class.method"));
	FAIL_UNLESS(f[1].line == 101 && f[2].evaluation == 1);
	return 0;
}

static int follows_the_offsets_of_3_14_case(void)
{
	struct cuprobe_python_frame f[8];

	version = "3.14.5 (made up)";
	offsets_14_set();
	pointer_set(&frames[0], 0, code[1].bytes + 1); /* tagged */
	frames[2].bytes[70] = 4;		       /* another of C's own */
	FAIL_UNLESS(walk(f, 8) == 3);
	FAIL_UNLESS(f[0].function && f[1].line == 101 && f[2].evaluation == 1);
	return 0;
}

static int believes_no_senseless_offsets_case(void)
{
	struct cuprobe_python_frame f[8];

	version = "3.13.5 (made up)";
	offsets_13_set();
	_PyRuntime[68] = 36;
	FAIL_UNLESS(!walk(f, 8) && !walk(f, 8));
	FAIL_UNLESS(told("its own offsets make no sense"));
	return 0;
}

static int believes_no_offsets_of_another_version_case(void)
{
	struct cuprobe_python_frame f[8];

	version = "3.13.5 (made up)";
	offsets_14_set();
	FAIL_UNLESS(!walk(f, 8) && told("its own offsets make no sense"));
	return 0;
}

#define LOOP 0x5000 /* where the evaluation loop is */

static const struct cuprobe_python_frame python[] = {
	{.line = 1, .evaluation = 0},
	{.line = 2, .evaluation = 0},
	{.line = 3, .evaluation = 2},
	{.line = 4, .evaluation = 3},
};

/* Frames in words: pcs of native ones in hexadecimal, lines of Python ones as L1. */
static void assert_spliced(const char *expected, __u32 most, __u32 python_count,
			   const struct cuprobe_frame *native, __u32 native_count)
{
	struct cuprobe_frame spliced[16];
	char text[200] = "";
	__u32 count =
		cuprobe_python_splice(spliced, most, native, native_count, python, python_count);

	for (__u32 i = 0; i < count; i++) {
		size_t at = strlen(text);

		if (spliced[i].kind == CUPROBE_FRAME_PYTHON)
			snprintf(text + at, sizeof(text) - at, " L%u", spliced[i].line);
		else
			snprintf(text + at, sizeof(text) - at, " %llx", spliced[i].pc);
	}
	assert_string_equal(text, expected);
}

static void puts_frames_where_their_loops_are(void **state)
{
	static const struct cuprobe_frame native[] = {
		{.pc = 0x10, .kind = 1},     {.pc = LOOP + 9, .kind = 1},
		{.pc = 0x20, .kind = 1},     {.pc = LOOP + 256, .kind = 1},
		{.pc = LOOP, .kind = 1},     {.pc = LOOP + 8, .kind = 3},
		{.pc = LOOP + 7, .kind = 1}, {.pc = 0x30, .kind = 1},
	};

	(void)state;
	cuprobe_python_evaluation[0] = (struct python_piece){LOOP, 256};
	assert_spliced(" 10 L1 L2 20 5100 5000 L3 L4 30", 16, 4, native, 8);
	assert_spliced(" 10 5009 20 5100 5000 5008 5007 30", 16, 0, native, 8);
	assert_spliced(" 10 L1 L2 20 L3 L4", 16, 4, native, 3); /* cut */
	assert_spliced(" 10 L1 L2 20", 4, 4, native, 8);
	assert_spliced(" L1 L2 L3 L4", 16, 4, native, 0);
}

#define CASE(name)                                                                                 \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		interpreter_set();                                                                 \
		apart(name##_case);                                                                \
	}

CASE(reads_functions_files_lines_and_evaluations)
CASE(stops_where_a_frame_makes_no_sense)
CASE(notices_a_code_object_in_the_place_of_another)
CASE(gives_up_when_structures_are_others_than_the_versions)
CASE(tries_again_while_threads_run)
CASE(says_that_a_version_is_not_known)
CASE(leaves_free_threading_builds_out)
CASE(knows_free_threading_builds_by_their_offsets_too)
CASE(follows_the_offsets_of_3_13)
CASE(follows_the_offsets_of_3_14)
CASE(believes_no_senseless_offsets)
CASE(believes_no_offsets_of_another_version)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_functions_files_lines_and_evaluations),
		cmocka_unit_test(stops_where_a_frame_makes_no_sense),
		cmocka_unit_test(notices_a_code_object_in_the_place_of_another),
		cmocka_unit_test(gives_up_when_structures_are_others_than_the_versions),
		cmocka_unit_test(tries_again_while_threads_run),
		cmocka_unit_test(says_that_a_version_is_not_known),
		cmocka_unit_test(leaves_free_threading_builds_out),
		cmocka_unit_test(knows_free_threading_builds_by_their_offsets_too),
		cmocka_unit_test(follows_the_offsets_of_3_13),
		cmocka_unit_test(follows_the_offsets_of_3_14),
		cmocka_unit_test(believes_no_senseless_offsets),
		cmocka_unit_test(believes_no_offsets_of_another_version),
		cmocka_unit_test(puts_frames_where_their_loops_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
