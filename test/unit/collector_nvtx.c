/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX in the command: which ranges come out of events in which order, and with which GPU work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/decode.h"
#include "src/collector/model.h"
#include "src/collector/nvtx_names.h"
#include "src/collector/nvtx_ranges.h"
#include "test/golden/synthetic.h"

#define SECOND 1000000000ull
#define T0 (1000 * SECOND)

struct seen {
	__u32 message, domain, kind;
	__u64 start_ns, end_ns, gpu_ns, kernels, first_ns, last_ns;
	unsigned int streams;
	bool unfinished, gpu_known, failed;
};

struct world {
	struct model *model;
	struct nvtx_ranges *ranges;
	struct synthetic s;
	struct seen seen[128];
	unsigned int count, marks;
	__u64 fired_ns;
};

static int take_range(void *arg, const struct nvtx_range *r)
{
	struct world *w = arg;
	struct seen *seen = &w->seen[w->count++ % 128];

	*seen = (struct seen){.message = r->start.message,
			      .domain = r->start.domain,
			      .kind = r->start.kind,
			      .start_ns = r->start.time_ns,
			      .end_ns = r->end_ns,
			      .unfinished = r->unfinished,
			      .failed = r->failed,
			      .gpu_known = r->gpu_known};
	for (const struct nvtx_gpu *g = r->gpu; g; g = g->next) {
		seen->streams++;
		seen->gpu_ns += g->gpu_ns;
		seen->kernels += g->kernels;
		seen->first_ns = g->first_ns;
		seen->last_ns = g->last_ns;
	}
	return 0;
}

static int take_mark(void *arg, struct process *p, const struct cuprobe_nvtx *mark)
{
	struct world *w = arg;

	(void)p;
	(void)mark;
	w->marks++;
	return 0;
}

static int take_event(void *arg, const struct event *e)
{
	struct world *w = arg;

	return nvtx_ranges_event(w->ranges, e);
}

static int take_batch(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct world *w = arg;
	const struct event_sink sink = {take_event, w};

	return decode_batch(w->model, h, data, &sink);
}

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct nvtx_ranges_handler handler = {
		.range = take_range, .mark = take_mark, .arg = w};

	*state = w;
	w->s = (struct synthetic){.pid = 10, .start_ns = 5, .target = {take_batch, w}};
	w->fired_ns = T0 + SECOND / 10;
	return model_open(&w->model) || nvtx_ranges_open(&w->ranges, &handler) ? -1 : 0;
}

static int end(void **state)
{
	struct world *w = *state;

	nvtx_ranges_free(w->ranges);
	model_free(w->model);
	free(w);
	return 0;
}

static void nvtx(struct world *w, __u32 kind, __u32 thread, __u64 time, __u32 message, __s32 level)
{
	const struct cuprobe_nvtx n = {.time_ns = T0 + time,
				       .kind = (__u8)kind,
				       .thread = thread,
				       .message = message,
				       .level = level};

	synthetic_fire(&w->s, CUPROBE_PROBE_nvtx, &n, sizeof(n), 1, w->fired_ns);
}

static void range(struct world *w, __u32 kind, __u32 thread, __u64 time, __u64 id)
{
	const struct cuprobe_nvtx n = {.time_ns = T0 + time,
				       .kind = (__u8)kind,
				       .thread = thread,
				       .range = id,
				       .message = (__u32)id};

	synthetic_fire(&w->s, CUPROBE_PROBE_nvtx, &n, sizeof(n), 1, w->fired_ns);
}

static void launch(struct world *w, __u32 thread, __u64 time, __u32 correlation)
{
	const struct cuprobe_api a = {.start_ns = T0 + time,
				      .end_ns = T0 + time + 1,
				      .thread = thread,
				      .correlation = correlation,
				      .domain = CUPROBE_API_RUNTIME,
				      .name = 77};
	struct cuprobe_string s = {
		.id = 77, .total_bytes = 22, .bytes = 22, .text = "cudaLaunchKernel_v7000"};

	synthetic_fire(&w->s, CUPROBE_PROBE_string, &s, sizeof(s), 1, w->fired_ns);
	synthetic_fire(&w->s, CUPROBE_PROBE_api, &a, sizeof(a), 1, w->fired_ns);
}

static void kernel(struct world *w, __u32 correlation, __u32 stream, __u64 time, __u64 duration)
{
	const struct cuprobe_kernel k = {.start_ns = T0 + time,
					 .end_ns = T0 + time + duration,
					 .context = 1,
					 .stream = stream,
					 .correlation = correlation};

	synthetic_fire(&w->s, CUPROBE_PROBE_kernel, &k, sizeof(k), 1, w->fired_ns);
}

static const struct seen *find(const struct world *w, __u32 message)
{
	static const struct seen none;

	for (unsigned int i = 0; i < w->count; i++) {
		if (w->seen[i].message == message)
			return &w->seen[i];
	}
	fail_msg("no range with message %u", message);
	return &none;
}

static void finish(struct world *w)
{
	assert_int_equal(w->s.err, 0);
	assert_int_equal(nvtx_ranges_finish(w->ranges, 0), 0);
}

static void pushes_end_with_their_pops(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	nvtx(w, CUPROBE_NVTX_PUSH, 1, 20, 2, 1);
	nvtx(w, CUPROBE_NVTX_POP, 1, 30, 0, 1);
	nvtx(w, CUPROBE_NVTX_POP, 1, 40, 0, 0);
	nvtx(w, CUPROBE_NVTX_MARK, 1, 50, 3, 0);
	finish(w);
	assert_int_equal(w->count, 2);
	assert_int_equal(find(w, 1)->end_ns, T0 + 40);
	assert_int_equal(find(w, 2)->end_ns, T0 + 30);
	assert_false(find(w, 1)->unfinished);
	assert_int_equal(w->marks, 1);
}

static void an_end_that_arrives_before_its_start_is_joined(void **state)
{
	struct world *w = *state;

	range(w, CUPROBE_NVTX_END, 2, 30, 9);
	range(w, CUPROBE_NVTX_START, 1, 10, 9);
	finish(w);
	assert_int_equal(w->count, 1);
	assert_int_equal(find(w, 9)->end_ns, T0 + 30);
	assert_int_equal(nvtx_ranges_counts(w->ranges).ends_without_start, 0);
}

static void a_range_that_comes_too_late_has_gpu_work_that_is_not_known(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_MARK, 1, 1000, 0, 0);
	w->fired_ns = T0 + 3 * SECOND;
	nvtx(w, CUPROBE_NVTX_MARK, 1, 3 * SECOND, 0, 0);
	range(w, CUPROBE_NVTX_START, 1, 10, 7);
	range(w, CUPROBE_NVTX_END, 1, 20, 7);
	finish(w);
	assert_int_equal(w->count, 1);
	assert_int_equal(find(w, 7)->start_ns, T0 + 10);
	assert_int_equal(find(w, 7)->end_ns, T0 + 20);
	assert_int_equal(w->marks, 2);
	assert_false(find(w, 7)->gpu_known);
}

static void an_acquisition_ends_with_what_became_of_it(void **state)
{
	struct world *w = *state;

	range(w, CUPROBE_NVTX_ACQUIRE, 1, 10, 7);
	range(w, CUPROBE_NVTX_ACQUIRE_FAILED, 1, 20, 7);
	range(w, CUPROBE_NVTX_ACQUIRE, 1, 30, 8);
	launch(w, 1, 35, 100);
	kernel(w, 100, 7, 36, 5);
	range(w, CUPROBE_NVTX_ACQUIRED, 1, 40, 8);
	range(w, CUPROBE_NVTX_RELEASE, 1, 50, 8);
	finish(w);
	assert_int_equal(w->count, 2);
	assert_true(find(w, 7)->failed);
	assert_int_equal(find(w, 7)->end_ns, T0 + 20);
	assert_false(find(w, 8)->failed);
	assert_int_equal(find(w, 8)->end_ns, T0 + 40);
	assert_int_equal(find(w, 8)->kernels, 0);
	assert_int_equal(w->marks, 1);
}

static void an_acquisition_that_was_given_up_ends_with_the_next(void **state)
{
	struct world *w = *state;

	range(w, CUPROBE_NVTX_ACQUIRE, 1, 10, 7);
	range(w, CUPROBE_NVTX_ACQUIRE, 1, 30, 7);
	range(w, CUPROBE_NVTX_ACQUIRED, 1, 40, 7);
	finish(w);
	assert_int_equal(w->count, 2);
	assert_true(w->seen[0].unfinished);
	assert_int_equal(w->seen[0].end_ns, T0 + 30);
	assert_int_equal(w->seen[1].start_ns, T0 + 30);
	assert_false(w->seen[1].unfinished);
}

static void what_has_no_beginning_is_counted_and_not_shown(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_POP, 1, 10, 0, -1);
	nvtx(w, CUPROBE_NVTX_POP, 1, 20, 0, 3);
	range(w, CUPROBE_NVTX_END, 1, 30, 9);
	range(w, CUPROBE_NVTX_END, 1, 30, 0);
	finish(w);
	assert_int_equal(w->count, 0);
	assert_int_equal(nvtx_ranges_counts(w->ranges).pops_without_push, 2);
	assert_int_equal(nvtx_ranges_counts(w->ranges).ends_without_start, 2);
}

static void a_lost_pop_does_not_shift_the_rest(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	nvtx(w, CUPROBE_NVTX_PUSH, 1, 20, 2, 1); /* its pop is lost */
	nvtx(w, CUPROBE_NVTX_PUSH, 1, 40, 3, 1);
	nvtx(w, CUPROBE_NVTX_POP, 1, 50, 0, 1);
	nvtx(w, CUPROBE_NVTX_POP, 1, 60, 0, 0);
	finish(w);
	assert_int_equal(w->count, 3);
	assert_int_equal(find(w, 2)->end_ns, T0 + 40);
	assert_true(find(w, 2)->unfinished);
	assert_int_equal(find(w, 3)->end_ns, T0 + 50);
	assert_int_equal(find(w, 1)->end_ns, T0 + 60);
}

static void a_thread_that_ends_ends_its_ranges(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	nvtx(w, CUPROBE_NVTX_THREAD_END, 1, 20, 0, 0);
	nvtx(w, CUPROBE_NVTX_PUSH, 2, 10, 2, 0);
	nvtx(w, CUPROBE_NVTX_MARK, 2, 99, 0, 0);
	finish(w);
	assert_int_equal(find(w, 1)->end_ns, T0 + 20);
	assert_int_equal(find(w, 2)->end_ns, T0 + 99);
	assert_true(find(w, 1)->unfinished && find(w, 2)->unfinished);
}

static void work_belongs_to_the_ranges_around_its_launch(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	nvtx(w, CUPROBE_NVTX_PUSH, 1, 20, 2, 1);
	launch(w, 1, 25, 100);
	nvtx(w, CUPROBE_NVTX_POP, 1, 30, 0, 1);
	launch(w, 1, 35, 101);
	launch(w, 2, 36, 102); /* another thread's */
	nvtx(w, CUPROBE_NVTX_POP, 1, 40, 0, 0);
	launch(w, 1, 45, 103); /* after it */
	kernel(w, 100, 7, 1000, 50);
	kernel(w, 101, 7, 1100, 60);
	kernel(w, 102, 7, 1200, 70);
	kernel(w, 103, 7, 1300, 80);
	finish(w);
	assert_int_equal(find(w, 2)->gpu_ns, 50);
	assert_int_equal(find(w, 2)->kernels, 1);
	assert_int_equal(find(w, 1)->gpu_ns, 110);
	assert_int_equal(find(w, 1)->first_ns, T0 + 1000);
	assert_int_equal(find(w, 1)->last_ns, T0 + 1160);
	assert_int_equal(nvtx_ranges_counts(w->ranges).strays, 0);
}

static void records_in_any_order_give_the_same(void **state)
{
	struct world *w = *state;

	kernel(w, 100, 7, 1000, 50);
	kernel(w, 100, 8, 1000, 10);
	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	nvtx(w, CUPROBE_NVTX_POP, 1, 40, 0, 0);
	launch(w, 1, 25, 100);
	launch(w, 1, 26, 100); /* the driver's record of the same launch */
	kernel(w, 100, 7, 2000, 50);
	finish(w);
	assert_int_equal(w->count, 1);
	assert_int_equal(find(w, 1)->kernels, 3);
	assert_int_equal(find(w, 1)->gpu_ns, 110);
	assert_int_equal(find(w, 1)->streams, 2);
}

static void work_of_any_thread_belongs_to_a_started_range(void **state)
{
	struct world *w = *state;

	range(w, CUPROBE_NVTX_START, 1, 10, 9);
	launch(w, 1, 20, 100);
	launch(w, 2, 30, 101);
	range(w, CUPROBE_NVTX_END, 3, 40, 9);
	launch(w, 1, 50, 102);
	kernel(w, 100, 7, 1000, 10);
	kernel(w, 101, 7, 1100, 10);
	kernel(w, 102, 7, 1200, 10);
	finish(w);
	assert_int_equal(find(w, 9)->kernels, 2);
}

static void started_ranges_beyond_the_limit_say_that_they_know_nothing(void **state)
{
	struct world *w = *state;

	for (__u32 i = 1; i <= RANGES_TRACKED + 1; i++)
		range(w, CUPROBE_NVTX_START, 1, i, i);
	launch(w, 1, 500, 100);
	kernel(w, 100, 7, 1000, 10);
	finish(w);
	assert_true(find(w, 1)->gpu_known);
	assert_int_equal(find(w, 1)->kernels, 1);
	assert_false(find(w, RANGES_TRACKED + 1)->gpu_known);
}

static void work_without_a_launch_is_a_stray(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	kernel(w, 55, 7, 1000, 10);
	nvtx(w, CUPROBE_NVTX_POP, 1, 40, 0, 0);
	finish(w);
	assert_int_equal(find(w, 1)->kernels, 0);
	assert_int_equal(nvtx_ranges_counts(w->ranges).strays, 1);
}

static void ranges_come_out_while_the_recording_goes_on(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	launch(w, 1, 20, 100);
	nvtx(w, CUPROBE_NVTX_POP, 1, 30, 0, 0);
	kernel(w, 100, 7, 1000, 10);
	assert_int_equal(w->count, 0);
	w->fired_ns = T0 + 3 * SECOND;
	nvtx(w, CUPROBE_NVTX_MARK, 1, 3 * SECOND, 0, 0);
	assert_int_equal(w->count, 1);
	assert_int_equal(find(w, 1)->kernels, 1);
}

static void a_launch_waits_for_work_that_comes_late(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	launch(w, 1, 20, 100);
	nvtx(w, CUPROBE_NVTX_POP, 1, 30, 0, 0);
	w->fired_ns = T0 + 6 * SECOND;
	nvtx(w, CUPROBE_NVTX_MARK, 1, 6 * SECOND, 0, 0);
	assert_int_equal(w->count, 0);
	kernel(w, 100, 7, 5 * SECOND, 10);
	w->fired_ns = T0 + 8 * SECOND;
	nvtx(w, CUPROBE_NVTX_MARK, 1, 8 * SECOND, 0, 0);
	assert_int_equal(w->count, 1);
	assert_int_equal(find(w, 1)->kernels, 1);
}

static void calls_are_waited_for(void **state)
{
	struct world *w = *state;

	launch(w, 1, 5, 99);
	kernel(w, 99, 7, 900, 10);
	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	nvtx(w, CUPROBE_NVTX_POP, 1, 30, 0, 0);
	w->fired_ns = T0 + SECOND;
	nvtx(w, CUPROBE_NVTX_PUSH, 1, SECOND, 2, 0);
	assert_int_equal(w->count, 0); /* the calls made at that time have not come yet */
	launch(w, 1, 25, 100);
	kernel(w, 100, 7, 1000, 10);
	launch(w, 1, SECOND, 101);
	w->fired_ns = T0 + SECOND * 6 / 5;
	nvtx(w, CUPROBE_NVTX_MARK, 1, SECOND * 6 / 5, 0, 0);
	assert_int_equal(w->count, 1);
	assert_int_equal(find(w, 1)->kernels, 1);
}

static void a_call_that_comes_too_late_belongs_to_no_range(void **state)
{
	struct world *w = *state;

	nvtx(w, CUPROBE_NVTX_PUSH, 1, 10, 1, 0);
	nvtx(w, CUPROBE_NVTX_POP, 1, 30, 0, 0);
	nvtx(w, CUPROBE_NVTX_PUSH, 1, 40, 2, 0);
	w->fired_ns = T0 + 20 * SECOND;
	nvtx(w, CUPROBE_NVTX_MARK, 1, 20 * SECOND, 0, 0);
	kernel(w, 100, 7, 1000, 10);
	launch(w, 1, 20, 100);
	finish(w);
	assert_int_equal(find(w, 1)->kernels, 0);
	assert_int_equal(find(w, 2)->kernels, 0);
	assert_int_equal(nvtx_ranges_counts(w->ranges).strays, 1);
}

static void names_are_the_newest(void **state)
{
	struct world *w = *state;
	struct cuprobe_info info = {
		.type = CUPROBE_INFO_NAME,
		.name = {.object = CUPROBE_OBJECT_STREAM, .id = 7, .context = 1},
	};
	struct process *p;

	info.name.name = synthetic_string(&w->s, "old");
	synthetic_fire(&w->s, CUPROBE_PROBE_info, &info, sizeof(info), 1, w->fired_ns);
	info.name.name = synthetic_string(&w->s, "new");
	synthetic_fire(&w->s, CUPROBE_PROBE_info, &info, sizeof(info), 1, w->fired_ns);
	info = (struct cuprobe_info){.type = CUPROBE_INFO_NVTX_DOMAIN};
	info.nvtx_domain.id = 3;
	info.nvtx_domain.name = synthetic_string(&w->s, "domain");
	synthetic_fire(&w->s, CUPROBE_PROBE_info, &info, sizeof(info), 1, w->fired_ns);
	p = model_process(w->model, 10, 5);
	assert_string_equal(process_object_name(p, CUPROBE_OBJECT_STREAM, 1, 7), "new");
	assert_null(process_object_name(p, CUPROBE_OBJECT_STREAM, 2, 7));
	assert_string_equal(process_nvtx_domain(p, 3), "domain");
}

static void junk_from_other_processes_does_no_harm(void **state)
{
	struct world *w = *state;

	for (unsigned int i = 0; i < 20000; i++) {
		struct cuprobe_nvtx n;

		for (size_t at = 0; at < sizeof(n); at++)
			((__u8 *)&n)[at] = (__u8)(i * 31 + at * 7 + (i >> 3));
		n.time_ns = T0 + (i * 7919) % (SECOND / 2);
		n.kind = (__u8)(i % 9);
		synthetic_fire(&w->s, CUPROBE_PROBE_nvtx, &n, sizeof(n), 1, w->fired_ns);
	}
	finish(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pushes_end_with_their_pops),
		TEST(an_end_that_arrives_before_its_start_is_joined),
		TEST(a_range_that_comes_too_late_has_gpu_work_that_is_not_known),
		TEST(an_acquisition_ends_with_what_became_of_it),
		TEST(an_acquisition_that_was_given_up_ends_with_the_next),
		TEST(what_has_no_beginning_is_counted_and_not_shown),
		TEST(a_lost_pop_does_not_shift_the_rest),
		TEST(a_thread_that_ends_ends_its_ranges),
		TEST(work_belongs_to_the_ranges_around_its_launch),
		TEST(records_in_any_order_give_the_same),
		TEST(work_of_any_thread_belongs_to_a_started_range),
		TEST(started_ranges_beyond_the_limit_say_that_they_know_nothing),
		TEST(work_without_a_launch_is_a_stray),
		TEST(ranges_come_out_while_the_recording_goes_on),
		TEST(a_launch_waits_for_work_that_comes_late),
		TEST(calls_are_waited_for),
		TEST(a_call_that_comes_too_late_belongs_to_no_range),
		TEST(names_are_the_newest),
		TEST(junk_from_other_processes_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
