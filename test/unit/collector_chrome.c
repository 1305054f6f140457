/* SPDX-License-Identifier: Apache-2.0 */
/* The Chrome trace: what each kind of record becomes, lanes, flows and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/collector/capture.h"
#include "src/collector/decode.h"
#include "src/collector/model.h"
#include "src/collector/sink.h"

#define CHECKER SOURCE_DIR "/test/golden/check_chrome.py"
#define START 5000000000ull /* base: 4 s */

struct trace {
	struct model *model;
	struct session_info info;
	struct sink *sink;
	struct event_sink to_sink;
	__u64 seq[8][CUPROBE_PROBE_COUNT];
	char dir[32], path[64];
	char *text;
};

static int to_sink(void *arg, const struct event *e)
{
	return sink_chrome.event(arg, e);
}

static int setup(void **state)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct sink_opts opts = {0};

	strcpy(t->dir, "/tmp/chrome.XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	snprintf(t->path, sizeof(t->path), "%s/trace.json", t->dir);
	assert_int_equal(model_open(&t->model), 0);
	t->info.start_ns = START;
	t->info.realtime_offset_ns = 1000000000000000000ull;
	opts.path = t->path;
	opts.info = &t->info;
	opts.model = t->model;
	assert_int_equal(sink_chrome.open(&t->sink, &opts), 0);
	t->to_sink = (struct event_sink){to_sink, t->sink};
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct trace *t = *state;

	sink_chrome.close(t->sink, false);
	model_free(t->model);
	unlink(t->path);
	rmdir(t->dir);
	free(t->text);
	free(t);
	return 0;
}

static void feed(struct trace *t, __u32 pid, enum cuprobe_probe_id probe, const void *record,
		 __u32 bytes)
{
	struct cuprobe_batch_header h = {
		.time_ns = 3600 * START,
		.process_start_ns = pid,
		.seq = t->seq[pid % 8][probe]++,
		.pid = pid,
		.tid = pid,
		.bytes = bytes,
		.count = 1,
		.probe = probe,
	};

	assert_int_equal(decode_batch(t->model, &h, record, &t->to_sink), 0);
}

#define FEED(t, pid, kind, ...)                                                                    \
	feed(t, pid, CUPROBE_PROBE_##kind, &(struct cuprobe_##kind){__VA_ARGS__},                  \
	     sizeof(struct cuprobe_##kind))

static void define(struct trace *t, __u32 pid, __u32 id, const char *text, __u32 bytes)
{
	struct cuprobe_string s = {.id = id, .total_bytes = bytes, .bytes = bytes};

	memcpy(s.text, text, bytes);
	feed(t, pid, CUPROBE_PROBE_string, &s, sizeof(s));
}

static void announce(struct trace *t, __u32 pid)
{
	struct cuprobe_info process = {.type = CUPROBE_INFO_PROCESS};
	struct cuprobe_info device = {.type = CUPROBE_INFO_DEVICE};

	define(t, pid, 1, "/usr/bin/train", 14);
	define(t, pid, 2, "NVIDIA H200", 11);
	define(t, pid, 3, "cudaLaunchKernel_v7000", 22);
	define(t, pid, 4, "cuLaunchKernel", 14);
	define(t, pid, 5, "_Z3addPfS_", 10);
	process.process.executable = 1;
	process.process.rank = 3;
	process.process.world_size = 8;
	feed(t, pid, CUPROBE_PROBE_info, &process, sizeof(process));
	device.device = (struct cuprobe_info_device){
		.name = 2,
		.memory_bytes = 150754820096,
		.compute_major = 9,
		.multiprocessors = 132,
		.warp_size = 32,
		.max_warps_per_multiprocessor = 64,
		.max_blocks_per_multiprocessor = 32,
		.registers_per_block = 65536,
		.registers_per_multiprocessor = 65536,
		.shared_bytes_per_multiprocessor = 233472,
	};
	feed(t, pid, CUPROBE_PROBE_info, &device, sizeof(device));
}

static void kernel(struct trace *t, __u32 pid, __u32 context, __u32 stream, __u32 correlation,
		   __u64 start_us, __u64 end_us)
{
	FEED(t, pid, kernel, .start_ns = START + start_us * 1000, .end_ns = START + end_us * 1000,
	     .context = context, .stream = stream, .correlation = correlation, .name = 5,
	     .grid = {132, 1, 1}, .block = {256, 1, 1}, .registers_per_thread = 32, .channel = 9,
	     .channel_type = 1, .priority = CUPROBE_NO_PRIORITY);
}

static void api(struct trace *t, __u32 pid, __u8 domain, __u32 correlation, __u64 start_us,
		__u64 end_us)
{
	FEED(t, pid, api, .start_ns = START + start_us * 1000, .end_ns = START + end_us * 1000,
	     .thread = pid + 1, .correlation = correlation, .cbid = 211,
	     .name = domain == CUPROBE_API_RUNTIME ? 3 : 4, .domain = domain);
}

/* Closes the trace, reads it, and lets the checker see it. */
static const char *finish(struct trace *t)
{
	char command[256];
	long bytes;
	FILE *f;

	assert_int_equal(sink_chrome.close(t->sink, true), 0);
	t->sink = NULL;
	snprintf(command, sizeof(command), "python3 " CHECKER " %s >&2", t->path);
	assert_int_equal(system(command), 0);
	f = fopen(t->path, "r");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	bytes = ftell(f);
	rewind(f);
	t->text = calloc(1, (size_t)bytes + 1);
	if (!t->text)
		abort();
	assert_int_equal(fread(t->text, 1, (size_t)bytes, f), bytes);
	fclose(f);
	return t->text;
}

static __attribute__((noinline)) void has(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	print_error("not there: %s\nin: %s", part, text);
	fail();
}

static unsigned int occurrences(const char *text, const char *part)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		n++;
	return n;
}

static void writes_a_launch_as_kineto_does(void **state)
{
	struct trace *t = *state;
	const char *text;

	announce(t, 1001);
	api(t, 1001, CUPROBE_API_RUNTIME, 42, 10, 14);
	kernel(t, 1001, 1, 7, 42, 20, 23);
	text = finish(t);
	has(text,
	    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1001,"
	    "\"tid\":1002,\"ts\":1000010.000,\"dur\":4.000,\"args\":{\"cbid\":211,"
	    "\"correlation\":42}},\n"
	    "{\"ph\":\"s\",\"id\":42,\"pid\":1001,\"tid\":1002,\"ts\":1000010.000,"
	    "\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n");
	has(text, "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"add(float*, float*)\",\"pid\":0,"
		  "\"tid\":7,\"ts\":1000020.000,\"dur\":3.000,\"args\":{\"queued\":0,\"device\":0,"
		  "\"context\":1,\"stream\":7,\"correlation\":42,\"registers per thread\":32,"
		  "\"shared memory\":0,\"blocks per SM\":1,\"warps per SM\":8,\"grid\":[132,1,1],"
		  "\"block\":[256,1,1],\"est. achieved occupancy %\":13,\"graph id\":0,"
		  "\"graph node id\":0,\"channel\":9,\"channel_type\":1}},\n"
		  "{\"ph\":\"f\",\"id\":42,\"pid\":0,\"tid\":7,\"ts\":1000020.000,\"cat\":\"ac2g\","
		  "\"name\":\"ac2g\",\"bp\":\"e\"},\n");
	has(text, "\"distributedInfo\":{\"rank\": 3,\"world_size\": 8},\n");
	has(text, "\"baseTimeNanoseconds\":1000000004000000000,");
	has(text, "\"name\":\"NVIDIA H200\",\"totalGlobalMem\":150754820096,\"computeMajor\":9,");
}

static void starts_one_flow_for_a_call_through_both_domains(void **state)
{
	struct trace *t = *state;
	const char *text;

	announce(t, 1001);
	api(t, 1001, CUPROBE_API_DRIVER, 1, 11, 13);
	api(t, 1001, CUPROBE_API_RUNTIME, 1, 10, 14);
	api(t, 1001, CUPROBE_API_RUNTIME, 2, 20, 24);
	api(t, 1001, CUPROBE_API_DRIVER, 2, 21, 23);
	api(t, 1001, CUPROBE_API_DRIVER, 3, 31, 33); /* the driver alone */
	for (__u32 i = 1; i <= 3; i++)
		kernel(t, 1001, 1, 7, i, 40 * i, 41 * i);
	text = finish(t);
	assert_int_equal(occurrences(text, "\"ph\":\"s\""), 3);
	has(text, "\"ph\":\"s\",\"id\":1,\"pid\":1001,\"tid\":1002,\"ts\":1000010.000");
	has(text, "\"ph\":\"s\",\"id\":2,\"pid\":1001,\"tid\":1002,\"ts\":1000020.000");
	has(text, "\"ph\":\"s\",\"id\":3,\"pid\":1001,\"tid\":1002,\"ts\":1000031.000");
	assert_int_equal(occurrences(text, "\"cbid\":211,\"correlation\":"), 3);
	assert_int_equal(occurrences(text, "\"cbid\":211,\"runtime correlation\":"), 2);
}

static void holds_driver_calls_back_for_a_while_only(void **state)
{
	struct trace *t = *state;

	announce(t, 1001);
	for (__u32 i = 1; i <= 70000; i++)
		api(t, 1001, CUPROBE_API_DRIVER, i, 10 * i, 10 * i + 5);
	api(t, 1001, CUPROBE_API_DRIVER, 70000, 700001, 700002);
	assert_int_equal(occurrences(finish(t), "\"ph\":\"s\""), 70000);
}

static void ends_a_flow_at_each_kernel_of_a_graph(void **state)
{
	struct trace *t = *state;

	announce(t, 1001);
	kernel(t, 1001, 1, 7, 9, 20, 21);
	kernel(t, 1001, 1, 7, 9, 22, 23);
	kernel(t, 1001, 1, 13, 9, 22, 24);
	api(t, 1001, CUPROBE_API_RUNTIME, 9, 10, 14);
	assert_int_equal(occurrences(finish(t), "\"ph\":\"f\",\"id\":9,"), 3);
}

static void keeps_two_processes_on_one_gpu_apart(void **state)
{
	struct trace *t = *state;
	const char *text;

	for (__u32 pid = 1001; pid <= 2001; pid += 1000) {
		announce(t, pid);
		api(t, pid, CUPROBE_API_RUNTIME, 42, 10, 14);
		kernel(t, pid, 1, 7, 42, 20, 23);
	}
	text = finish(t);
	has(text, "\"ph\":\"s\",\"id\":42,\"pid\":1001,");
	has(text, "\"ph\":\"s\",\"id\":4294967338,\"pid\":2001,");
	has(text, "\"ph\":\"f\",\"id\":42,\"pid\":0,\"tid\":7,");
	has(text, "\"ph\":\"f\",\"id\":4294967338,\"pid\":10000000,\"tid\":7,");
	has(text, "\"name\":\"GPU 0 of train 1001\"");
	has(text, "\"name\":\"GPU 0 of train 2001\"");
	assert_int_equal(occurrences(text, "\"sort_index\":5000000"), 2);
}

static void keeps_equal_streams_of_two_contexts_apart(void **state)
{
	struct trace *t = *state;
	const char *text;

	announce(t, 1001);
	kernel(t, 1001, 1, 7, 1, 10, 20);
	kernel(t, 1001, 2, 7, 2, 15, 25);
	text = finish(t);
	has(text, "\"name\":\"stream 7 of context 1\"");
	has(text, "\"name\":\"stream 7 of context 2\"");
	has(text, "\"args\":{\"queued\":0,\"device\":0,\"context\":2,\"stream\":7,");
}

static void moves_slices_that_overlap_partly_to_a_further_lane(void **state)
{
	struct trace *t = *state;
	const char *text;

	announce(t, 1001);
	kernel(t, 1001, 1, 7, 1, 10, 20);
	kernel(t, 1001, 1, 7, 2, 19, 30); /* begins before the one before has ended */
	kernel(t, 1001, 1, 7, 3, 30, 40);
	for (__u64 i = 0; i < 40; i++) /* threads that wait for one stream, in any order */
		FEED(t, 1001, sync, .start_ns = START + (i * 7919 % 40) * 1000 + 1,
		     .end_ns = START + (i * 7919 % 40) * 1000 + 2500, .kind = 3, .stream = 7,
		     .context = 1, .event = CUPROBE_NO_ID);
	text = finish(t);
	has(text, "\"name\":\"stream 7 (overlapping 1)\"");
	has(text, "\"name\":\"stream 7 (sync)\"");
	has(text, "\"name\":\"stream 7 (sync) (overlapping 2)\"");
	assert_null(strstr(text, "\"name\":\"stream 7 (sync) (overlapping 3)\""));
}

static void writes_copies_and_memsets_as_kineto_does(void **state)
{
	struct trace *t = *state;
	const char *text;

	FEED(t, 1001, memcpy, .start_ns = START, .end_ns = START + 1000, .bytes = 24640,
	     .context = 1, .stream = 7, .correlation = 5, .copy_kind = 1, .src_kind = 2,
	     .dst_kind = 3, .src_device = CUPROBE_NO_ID, .src_context = CUPROBE_NO_ID,
	     .dst_device = CUPROBE_NO_ID, .dst_context = CUPROBE_NO_ID);
	FEED(t, 1001, memcpy, .start_ns = START + 2000, .end_ns = START + 2000, .bytes = 4,
	     .context = 1, .stream = 7, .correlation = 6, .copy_kind = 10, .src_kind = 3,
	     .dst_kind = 3, .src_device = 0, .src_context = 1, .dst_device = 1, .dst_context = 2);
	FEED(t, 1001, memset, .start_ns = START + 3000, .end_ns = START + 6000, .bytes = 1000,
	     .context = 1, .stream = 7, .correlation = 7, .memory_kind = 3);
	text = finish(t);
	has(text, "\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> Device)\",");
	has(text, "\"bytes\":24640,\"memory bandwidth (GB/s)\":24.64,");
	has(text, "\"name\":\"Memcpy PtoP (Device -> Device)\",");
	has(text, "\"fromDevice\":0,\"inDevice\":0,\"toDevice\":1,");
	has(text, "\"bytes\":4,\"graph id\"");
	has(text, "\"cat\":\"gpu_memset\",\"name\":\"Memset (Device)\",");
	has(text, "\"memory bandwidth (GB/s)\":0.333333,");
}

static void tells_which_stream_a_wait_waited_for(void **state)
{
	struct trace *t = *state;
	const char *text;

	FEED(t, 1001, sync, .kind = CUPROBE_SYNC_EVENT_RECORD, .context = 1, .stream = 13,
	     .correlation = 70, .event = 5);
	FEED(t, 1001, sync, .start_ns = START, .end_ns = START + 10,
	     .kind = CUPROBE_SYNC_STREAM_WAIT_EVENT, .context = 1, .stream = 7, .correlation = 71,
	     .event = 5);
	FEED(t, 1001, sync, .start_ns = START, .end_ns = START + 10,
	     .kind = CUPROBE_SYNC_CONTEXT_SYNCHRONIZE, .context = 1, .stream = CUPROBE_NO_ID,
	     .correlation = 72, .event = CUPROBE_NO_ID);
	text = finish(t);
	has(text,
	    "\"cat\":\"cuda_sync\",\"name\":\"Stream Wait Event\",\"pid\":0,\"tid\":1000007,");
	has(text, "\"wait_on_stream\":13,\"wait_on_cuda_event_record_corr_id\":70,"
		  "\"wait_on_cuda_event_id\":5,\"on stream\":7,");
	has(text, "\"name\":\"context 1 (sync)\"");
}

static void counts_memory_by_kind(void **state)
{
	struct trace *t = *state;
	const char *text;

	FEED(t, 1001, memory, .time_ns = START, .bytes = 4096, .op = 1, .memory_kind = 3);
	FEED(t, 1001, memory, .time_ns = START + 1, .bytes = 64, .op = 1, .memory_kind = 2);
	FEED(t, 1001, memory, .time_ns = START + 2, .bytes = 4096, .op = 2, .memory_kind = 3);
	text = finish(t);
	has(text, "\"ts\":1000000.001,\"args\":{\"Pinned\":64,\"Device\":4096}},");
	has(text, "\"ts\":1000000.002,\"args\":{\"Pinned\":64,\"Device\":0}},");
}

static void writes_overhead_and_unified_memory(void **state)
{
	struct trace *t = *state;
	const char *text;

	FEED(t, 1001, overhead, .start_ns = START, .end_ns = START + 10, .kind = 1 << 16,
	     .thread = 1002);
	FEED(t, 1001, unified_memory, .start_ns = START, .end_ns = START + 1000, .kind = 1,
	     .value = 65536, .address = 0x7f0000000000, .src_device = CUPROBE_NO_ID);
	FEED(t, 1001, unified_memory, .start_ns = START, .kind = 3, .value = 1,
	     .src_device = CUPROBE_NO_ID, .dst_device = CUPROBE_NO_ID);
	text = finish(t);
	has(text, "\"cat\":\"overhead\",\"name\":\"Buffer Flush\",\"pid\":10000000,");
	has(text,
	    "\"address\":\"0x7f0000000000\",\"bytes\":65536,\"memory bandwidth (GB/s)\":65.536");
	has(text, "\"ts\":1000000.000,\"dur\":0.000,");
}

static void takes_names_of_any_bytes(void **state)
{
	static const char hostile[] = "a\"b\\c\n\x01;\xff\xc3\xa9\xed\xa0\x80\xe2\x82";
	struct trace *t = *state;
	char *longest = malloc(300000), *text;

	announce(t, 1001);
	define(t, 1001, 6, hostile, sizeof(hostile) - 1);
	memset(longest, 'x', 300000);
	for (__u32 at = 0; at < 300000; at += 240) {
		struct cuprobe_string s = {
			.id = 7, .total_bytes = 300000, .offset = at, .bytes = 240};

		memcpy(s.text, longest + at, 240);
		feed(t, 1001, CUPROBE_PROBE_string, &s, sizeof(s));
	}
	for (__u32 id = 6; id <= 9; id++)
		FEED(t, 1001, kernel, .start_ns = START + 2 * id, .end_ns = START + 2 * id + 1,
		     .context = 1, .stream = 7, .name = id == 9 ? 0 : id);
	text = (char *)finish(t);
	has(text, "\"name\":\"a\\\"b\\\\c\\n\\u0001;\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd"
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",");
	has(text, "\"name\":\"?8\",");
	has(text, "\"name\":\"unnamed\",");
	has(text, "xxxxxx\",\"pid\":0,");
	free(longest);
}

static void cuts_what_began_before_the_base(void **state)
{
	struct trace *t = *state;

	announce(t, 1001);
	FEED(t, 1001, api, .start_ns = 10, .end_ns = START, .thread = 1001, .name = 3,
	     .domain = CUPROBE_API_RUNTIME);
	has(finish(t), "\"ts\":0.000,\"dur\":1000000.000,");
}

static void is_sound_without_any_event(void **state)
{
	has(finish(*state), "\"distributedInfo\":{\"rank\": 0},");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_a_launch_as_kineto_does),
		TEST(starts_one_flow_for_a_call_through_both_domains),
		TEST(holds_driver_calls_back_for_a_while_only),
		TEST(ends_a_flow_at_each_kernel_of_a_graph),
		TEST(keeps_two_processes_on_one_gpu_apart),
		TEST(keeps_equal_streams_of_two_contexts_apart),
		TEST(moves_slices_that_overlap_partly_to_a_further_lane),
		TEST(writes_copies_and_memsets_as_kineto_does),
		TEST(tells_which_stream_a_wait_waited_for),
		TEST(counts_memory_by_kind),
		TEST(writes_overhead_and_unified_memory),
		TEST(takes_names_of_any_bytes),
		TEST(cuts_what_began_before_the_base),
		TEST(is_sound_without_any_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
