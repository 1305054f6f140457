/* SPDX-License-Identifier: Apache-2.0 */
/* The provider parcagpu: which launches are told, and which kernels come after them. */
#include "test/unit/parcagpu_fake.h"

#include <pthread.h>
#include <unistd.h>

#include "src/inject/clock.h"
#include "src/inject/cupti_records.h"
#include "src/inject/env.h"
#include "src/inject/info.h"
#include "src/inject/parca_filter.h"
#include "src/inject/parca_kernels.h"
#include "src/inject/parca_launch.h"
#include "src/inject/parca_nvtx.h"
#include "src/inject/parca_pc.h"
#include "src/inject/parca_told.h"
#include "src/inject/pc_ring.h"
#include "src/inject/strings.h"
#include "test/unit/outlet_fake.h"

#define RUNTIME CUPTI_CB_DOMAIN_RUNTIME_API
#define DRIVER CUPTI_CB_DOMAIN_DRIVER_API
#define AGENT (PARCAGPU_BIT(cuda_correlation) | PARCAGPU_BIT(activity_batch))

static __u32 last_correlation = 100;

static void call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, CUpti_ApiCallbackSite site,
		 __u32 correlation, int result)
{
	const CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = domain == RUNTIME ? "cudaLaunchKernel" : "cuLaunchKernel",
		.functionReturnValue = &result,
		.correlationId = correlation,
	};

	cuprobe_parca_launch(domain, cbid, &data, cbid == 311 || cbid == 514);
}

static __u32 launch(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	__u32 correlation = ++last_correlation;

	call(domain, cbid, CUPTI_API_ENTER, correlation, 0);
	call(domain, cbid, CUPTI_API_EXIT, correlation, 0);
	return correlation;
}

static void kernel(__u32 correlation, __u32 graph_id, const char *name)
{
	struct parcagpu_kernel record = {
		.kind = 10,
		.start_ns = cuprobe_clock_now(),
		.end_ns = cuprobe_clock_now() + 5,
		.correlation = correlation,
		.graph_id = graph_id,
		.graph_node_id = graph_id ? 77 : 0,
		.name = name,
	};

	cuprobe_parca_kernel((const __u8 *)&record);
}

/* What the pump does: one buffer of CUPTI's at a time, then what has come is fired. */
static void buffer_begin(void)
{
	cuprobe_decoding = (struct cuprobe_decoding){.latest_ns = ~0ull};
	cuprobe_parca_kernels_begin();
}

static void unlimited(void)
{
	cuprobe_env.parca_rate = cuprobe_env.parca_graph_rate = CUPROBE_RATE_UNLIMITED;
}

static int setup(void **state)
{
	(void)state;
	cuprobe_outlet = &fake_outlet;
	parca_attach(0);
	parca_attach(AGENT);
	unlimited();
	return 0;
}

static void tells_launches_with_the_outermost_id(void **state)
{
	__u32 both = ++last_correlation;

	(void)state;
	launch(RUNTIME, 211);
	launch(DRIVER, 307);
	call(RUNTIME, 211, CUPTI_API_ENTER, both, 0);
	call(DRIVER, 307, CUPTI_API_ENTER, both, 0);
	call(DRIVER, 307, CUPTI_API_EXIT, both, 0);
	assert_int_equal(parca.launches, 2);
	call(RUNTIME, 211, CUPTI_API_EXIT, both, 0);
	assert_int_equal(parca.launches, 3);
	assert_int_equal(parca.launch[0].cbid, 211);
	assert_int_equal(parca.launch[1].cbid, -307);
	assert_string_equal(parca.launch[1].name, "cuLaunchKernel");
	assert_int_equal(parca.launch[2].cbid, 211);
	assert_int_equal(parca.launch[2].correlation, both);
}

static void tells_nothing_of_launches_that_fail(void **state)
{
	(void)state;
	call(RUNTIME, 211, CUPTI_API_ENTER, ++last_correlation, 0);
	call(RUNTIME, 211, CUPTI_API_EXIT, last_correlation, 719);
	assert_int_equal(parca.launches, 0);
	assert_int_equal(cuprobe_parca_filter_look(last_correlation), CUPROBE_PARCA_UNKNOWN);
	call(RUNTIME, 211, CUPTI_API_EXIT, ++last_correlation, 0); /* began before anybody came */
	assert_int_equal(parca.launches, 0);
}

/* The native probe `launch` has them shown. Told to nobody, they would let their kernels pass. */
static void tells_nobody_who_is_not_there(void **state)
{
	__u32 correlation;

	(void)state;
	parca_attach(PARCAGPU_BIT(activity_batch));
	correlation = launch(RUNTIME, 211);
	assert_int_equal(parca.launches, 0);
	assert_int_equal(cuprobe_parca_filter_look(correlation), CUPROBE_PARCA_UNKNOWN);
}

static void *ten_launches(void *unused)
{
	(void)unused;
	for (int i = 0; i < 10; i++) {
		launch(RUNTIME, 211);
		launch(RUNTIME, 311);
	}
	return NULL;
}

static void limits_each_thread_by_itself(void **state)
{
	pthread_t thread;

	(void)state;
	cuprobe_env.parca_rate = 10; /* one in 100 s */
	cuprobe_env.parca_graph_rate = 20;
	for (size_t i = 1; i <= 3; i++) {
		assert_int_equal(pthread_create(&thread, NULL, ten_launches, NULL), 0);
		pthread_join(thread, NULL);
		assert_int_equal(parca.launches, 2 * i); /* a kernel and a graph */
	}
	cuprobe_env.parca_rate = 4000000;
	ten_launches(NULL);
	assert_in_range(parca.launches, 7, 18);
}

static void lets_kernels_follow_their_launch(void **state)
{
	__u32 told = launch(RUNTIME, 211), graph = launch(RUNTIME, 311),
	      coming = ++last_correlation;

	(void)state;
	call(RUNTIME, 211, CUPTI_API_ENTER, coming, 0);
	buffer_begin();
	kernel(told, 0, "one");
	kernel(told, 0, "once only");
	kernel(5, 0, "of a launch that was not told");
	kernel(coming, 0, "early");
	for (int i = 0; i < 3; i++)
		kernel(graph, 9, "node");
	cuprobe_parca_kernels_fire();
	assert_int_equal(parca.kernels, 4);
	assert_string_equal(parca.kernel_name[0], "one");
	assert_string_equal(parca.kernel_name[3], "node");

	call(RUNTIME, 211, CUPTI_API_EXIT, coming, 0);
	buffer_begin();
	for (int i = 0; i < 1000; i++)
		kernel(graph, 9, "node");
	cuprobe_parca_kernels_fire();
	assert_int_equal(parca.kernels, 1005);
	assert_string_equal(parca.kernel_name[1004], "early");
	assert_int_equal(parca.largest, PARCAGPU_BATCH);
	assert_int_equal(parca.executed, 0);
}

static void keeps_fields_where_they_are_read(void **state)
{
	__u8 record[216];
	__u64 now = cuprobe_clock_now();

	(void)state;
	memset(record, 0xee, sizeof(record));
	memcpy(record, &(__u32){10}, 4);
	memcpy(record + 16, &(__u64){now}, 8);
	memcpy(record + 24, &(__u64){now + 7}, 8);
	memcpy(record + 92, &(__u32){launch(DRIVER, 514)}, 4);
	memcpy(record + 104, &(const char *){"a kernel"}, 8);
	memcpy(record + 144, &(__u64){0x700000003}, 8);
	buffer_begin();
	cuprobe_decoding.offset_ns = 1000;
	cuprobe_parca_kernel(record);
	cuprobe_parca_kernels_fire();
	assert_int_equal(parca.kernels, 1);
	assert_int_equal(parca.kernel[0].start_ns, now + 1000);
	assert_int_equal(parca.kernel[0].end_ns, now + 1007);
	assert_string_equal(parca.kernel_name[0], "a kernel");
	assert_int_equal(parca.kernel[0].graph_node_id, 0x700000003);
	assert_int_equal(parca.kernel[0].graph_id, 0xeeeeeeee);
	assert_memory_equal(parca.kernel[0].shape, record + 52, 40);
}

static void leaves_out_impossible_times(void **state)
{
	struct parcagpu_kernel record = {.kind = 10, .correlation = launch(RUNTIME, 211)};

	(void)state;
	buffer_begin();
	cuprobe_parca_kernel((const __u8 *)&record);
	cuprobe_parca_kernels_fire();
	assert_int_equal(parca.kernels, 0);
}

static void gives_all_kernels_where_nobody_is_told_of_launches(void **state)
{
	(void)state;
	parca_attach(PARCAGPU_BIT(activity_batch) | PARCAGPU_BIT(kernel_executed));
	buffer_begin();
	kernel(3, 0, "of a probe that is just being left");
	cuprobe_parca_kernels_fire();
	assert_int_equal(parca.kernels, 0);
	assert_int_equal(usleep(1100000), 0);
	buffer_begin();
	kernel(3, 0, "any");
	kernel(3, 0, "any");
	cuprobe_parca_kernels_fire();
	assert_int_equal(parca.kernels, 2);
	assert_int_equal(parca.executed, 2);
	buffer_begin();
	kernel(3, 0, "of a launch before somebody came who is told of launches");
	parca.attached |= PARCAGPU_BIT(cuda_correlation);
	cuprobe_parca_kernels_fire();
	assert_int_equal(parca.kernels, 2);
}

static void forgets_what_was_told_to_others(void **state)
{
	__u32 correlation = launch(RUNTIME, 311);

	(void)state;
	parca_attach(0);
	parca_attach(AGENT);
	buffer_begin();
	kernel(correlation, 9, "node");
	cuprobe_parca_kernels_fire();
	assert_int_equal(parca.kernels, 0);
}

static void forgets_the_oldest_when_records_never_come(void **state)
{
	__u32 first = last_correlation + 1, known = 0;

	(void)state;
	for (__u32 i = 0; i < 2000000; i++)
		assert_true(cuprobe_parca_filter_add(first + i));
	for (__u32 i = 0; i < 2000000; i++)
		known += cuprobe_parca_filter_look(first + i) != CUPROBE_PARCA_UNKNOWN;
	assert_in_range(known, 60000, 65536);
	for (__u32 i = 0; i < 20000; i++)
		assert_int_equal(cuprobe_parca_filter_look(first + 1999999 - i),
				 CUPROBE_PARCA_COMING);
	last_correlation += 2000000;
}

static void forgets_no_launch_that_is_far_from_the_next(void **state)
{
	__u32 first = last_correlation + 1;

	(void)state;
	cuprobe_parca_filter_renew();
	for (__u32 distance = 1; distance <= 1u << 16; distance *= 2) {
		for (__u32 i = 0; i < 2000; i++)
			assert_true(cuprobe_parca_filter_add(first + i * distance));
		for (__u32 i = 0; i < 2000; i++)
			assert_int_equal(cuprobe_parca_filter_look(first + i * distance),
					 CUPROBE_PARCA_COMING);
	}
}

static void nvtx_mark(__u64 time_ns, const char *message)
{
	const struct cuprobe_nvtx event = {.time_ns = time_ns, .kind = CUPROBE_NVTX_MARK};

	cuprobe_parca_nvtx(&event, message, strlen(message));
}

static void gives_events_when_complete_or_old(void **state)
{
	__u64 now = cuprobe_clock_now();

	(void)state;
	parca_attach(PARCAGPU_BIT(nvtx_event_batch));
	for (int i = 0; i < 257; i++)
		nvtx_mark(now, "mark");
	assert_int_equal(parca.events, 256);
	cuprobe_parca_nvtx_pump(false);
	assert_int_equal(parca.events, 256);
	nvtx_mark(now - 100000000, "old");
	cuprobe_parca_nvtx_pump(false);
	assert_int_equal(parca.events, 258);
	assert_string_equal(parca.event[257], "old");
	assert_int_equal(parca.event_batches, 2);
}

static void cuts_messages_at_a_character(void **state)
{
	char message[300];

	(void)state;
	parca_attach(PARCAGPU_BIT(nvtx_event_batch));
	memset(message, 'a', sizeof(message));
	memcpy(message + 254, "\u00e9", 3);
	nvtx_mark(1, message);
	cuprobe_parca_nvtx_pump(true);
	assert_int_equal(strlen(parca.event[0]), 254);
}

static void tells_errors_and_warnings(void **state)
{
	struct cuprobe_status_message message = {.severity = 3};
	char longest[400];

	(void)state;
	parca_attach(PARCAGPU_BIT(error));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[399] = '\0';
	message.text = cuprobe_strings_id(longest);
	cuprobe_parca_error(&message);
	assert_int_equal(parca.errors, 0);
	message.severity = 2;
	cuprobe_parca_error(&message);
	assert_int_equal(parca.errors, 1);
	assert_int_equal(strlen(parca.error), PARCAGPU_MESSAGE - 1);
	message.text = cuprobe_strings_id("what");
	message.remedy = cuprobe_strings_id("do");
	cuprobe_parca_error(&message);
	assert_string_equal(parca.error, "what: do");
}

static void pc_sample(__u64 offset, __u32 stall, const char *function)
{
	const struct cuprobe_pc_item item = {
		.item = CUPROBE_PC_ITEM_SAMPLE,
		.sample = {.crc = 5,
			   .pc_offset = offset,
			   .samples = 3,
			   .function = function,
			   .stall = stall,
			   .correlation = 9},
	};

	cuprobe_parca_pc(&item);
}

static void gives_samples_with_all_that_is_read(void **state)
{
	(void)state;
	parca_attach(PARCAGPU_BIT(pc_sample_batch));
	for (__u32 stall = 1; stall < 70; stall++)
		pc_sample(16, stall, "function");
	for (__u64 i = 0; i < 300; i++)
		pc_sample(32 + i, 2, "function");
	pc_sample(0, 2, NULL);
	cuprobe_parca_pc_fire();
	assert_int_equal(parca.pcs, 301);
	assert_int_equal(parca.pc[0].stall_count, 63);
	assert_int_equal(parca.pc[300].stall_count, 1);
	assert_int_equal(parca.pc[300].correlation, 9);
	assert_int_equal(parca.pc_samples, 903);
	pc_sample(16, 1, "function"); /* where 63 reasons were, and all are read again */
	cuprobe_parca_pc_fire();
	assert_int_equal(parca.pc[301].stalls[0].samples, 3);
	for (int i = 1; i < PARCAGPU_STALLS; i++)
		assert_int_equal(parca.pc[301].stalls[i].samples, 0);
}

static void maps_reasons_by_their_number(void **state)
{
	struct cuprobe_pc_item item = {.item = CUPROBE_PC_ITEM_REASON,
				       .reason = {.index = 7, .name = "seven"}};
	static const char nothing[PARCAGPU_REASON_BYTES];

	(void)state;
	parca_attach(PARCAGPU_BIT(stall_reason_map));
	cuprobe_parca_pc(&item);
	item.reason.index = 64;
	cuprobe_parca_pc(&item);
	cuprobe_parca_pc_fire();
	cuprobe_parca_pc_fire();
	assert_int_equal(parca.maps, 1);
	assert_int_equal(parca.map_count, 8);
	assert_memory_equal(parca.map[6], nothing, sizeof(nothing));
	assert_string_equal(parca.map[7], "seven");
	cuprobe_parca_reasons_replay();
	assert_int_equal(parca.maps, 2);
}

static void tells_a_configuration_when_all_of_it_is_known(void **state)
{
	struct cuprobe_pc_item item = {
		.item = CUPROBE_PC_ITEM_CONFIG, .device = 1, .config.period_log2 = 18};
	struct cuprobe_info info = {.type = CUPROBE_INFO_DEVICE};

	(void)state;
	parca_attach(PARCAGPU_BIT(gpu_config));
	cuprobe_parca_pc(&item);
	cuprobe_parca_pc_fire();
	assert_int_equal(parca.configs, 0);
	info.device =
		(struct cuprobe_info_device){.id = 1, .clock_khz = 1980000, .multiprocessors = 132};
	cuprobe_info_put(&info);
	cuprobe_parca_pc_fire();
	cuprobe_parca_pc_fire();
	assert_int_equal(parca.configs, 1);
	assert_int_equal(parca.config[0], 1);
	assert_int_equal(parca.config[1], 18);
	assert_int_equal(parca.config[2], 1980000);
	assert_int_equal(parca.config[3], 132);
}

static void limits_no_launches_while_samples_refer_to_them(void **state)
{
	(void)state;
	cuprobe_env.parca_rate = cuprobe_env.parca_graph_rate = 1;
	cuprobe_env.parca_pc_rate = 0;
	parca_attach(AGENT | PARCAGPU_BIT(pc_sample_batch));
	ten_launches(NULL);
	assert_int_equal(parca.launches, 20);
	cuprobe_env.parca_pc_rate = CUPROBE_RATE_UNSET;
	parca_attach(AGENT | PARCAGPU_BIT(pc_sample_batch));
	ten_launches(NULL);
	assert_in_range(parca.launches, 0, 2);
}

static void needs_what_is_attached(void **state)
{
	(void)state;
	parca.attached = 0;
	assert_int_equal(cuprobe_parca_look(), 0);
	parca.attached = PARCAGPU_BIT(cuda_correlation);
	assert_int_equal(cuprobe_parca_look(), CUPROBE_PARCA_ATTACHED | CUPROBE_PARCA_LAUNCHES);
	parca.attached = PARCAGPU_BIT(kernel_executed);
	assert_int_equal(cuprobe_parca_look(), CUPROBE_PARCA_ATTACHED | CUPROBE_PARCA_KERNELS |
						       CUPROBE_PROBE_BIT(CUPROBE_PROBE_kernel));
	parca.attached = PARCAGPU_BIT(nvtx_event_batch) | PARCAGPU_BIT(cubin_unloaded);
	assert_int_equal(cuprobe_parca_look(), CUPROBE_PARCA_ATTACHED |
						       CUPROBE_PROBE_BIT(CUPROBE_PROBE_nvtx) |
						       CUPROBE_PROBE_BIT(CUPROBE_PROBE_module));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(tells_launches_with_the_outermost_id),
		TEST(tells_nothing_of_launches_that_fail),
		TEST(tells_nobody_who_is_not_there),
		TEST(limits_each_thread_by_itself),
		TEST(lets_kernels_follow_their_launch),
		TEST(keeps_fields_where_they_are_read),
		TEST(leaves_out_impossible_times),
		TEST(gives_all_kernels_where_nobody_is_told_of_launches),
		TEST(forgets_what_was_told_to_others),
		TEST(forgets_the_oldest_when_records_never_come),
		TEST(forgets_no_launch_that_is_far_from_the_next),
		TEST(gives_events_when_complete_or_old),
		TEST(cuts_messages_at_a_character),
		TEST(tells_errors_and_warnings),
		TEST(gives_samples_with_all_that_is_read),
		TEST(maps_reasons_by_their_number),
		TEST(tells_a_configuration_when_all_of_it_is_known),
		TEST(limits_no_launches_while_samples_refer_to_them),
		TEST(needs_what_is_attached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
