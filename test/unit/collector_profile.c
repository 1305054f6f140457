/* SPDX-License-Identifier: Apache-2.0 */
/* GPU time comes to the launch that it belongs to, in whatever order they come, and none is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/decode.h"
#include "src/collector/model.h"
#include "src/collector/profile.h"
#include "src/collector/stacks.h"
#include "src/collector/unfold.h"
#include "test/golden/synthetic.h"

#define NOW_NS 2000000000000ull

struct world {
	struct model *model;
	struct profile *profile;
	struct synthetic process;
	__u32 kernel_name;
};

static int on_event(void *arg, const struct event *e)
{
	return profile_event(arg, e);
}

static int to_profile(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct world *w = arg;
	const struct event_sink sink = {on_event, w->profile};

	return decode_batch(w->model, h, data, &sink);
}

static void open_world(struct world *w, bool nvtx, bool capture)
{
	struct profile_opts opts = {.nvtx = nvtx, .capture = capture};

	*w = (struct world){0};
	assert_int_equal(model_open(&w->model), 0);
	opts.model = w->model;
	assert_int_equal(profile_open(&w->profile, &opts), 0);
	w->process = (struct synthetic){
		.pid = 7, .start_ns = 1, .now_ns = NOW_NS, .target = {to_profile, w}};
	w->kernel_name = synthetic_string(&w->process, "_Z4gemmPf");
}

static void close_world(struct world *w)
{
	profile_free(w->profile);
	model_free(w->model);
}

static void launch(struct world *w, __u32 correlation, __u64 node, __u32 stack, __u32 weight)
{
	struct cuprobe_launch l = {.time_ns = NOW_NS - 5000,
				   .graph_node_id = node,
				   .correlation = correlation,
				   .thread = 8,
				   .stack = stack,
				   .weight = weight,
				   .domain_api = 211};

	synthetic_fire(&w->process, CUPROBE_PROBE_launch, &l, sizeof(l), 1, NOW_NS);
}

static void kernel(struct world *w, __u32 correlation, __u64 node, __u64 gpu_ns)
{
	struct cuprobe_kernel k = {.start_ns = NOW_NS - gpu_ns,
				   .end_ns = NOW_NS,
				   .correlation = correlation,
				   .graph_node_id = node,
				   .stream = 7,
				   .name = w->kernel_name};

	synthetic_fire(&w->process, CUPROBE_PROBE_kernel, &k, sizeof(k), 1, NOW_NS);
}

static void stack(struct world *w, __u32 id)
{
	struct cuprobe_stack s = {.id = id, .frames = 1, .count = 1};

	s.frame[0].pc = 1000 + id;
	s.frame[0].kind = CUPROBE_FRAME_NATIVE;
	synthetic_fire(&w->process, CUPROBE_PROBE_stack, &s, sizeof(s), 1, NOW_NS);
}

/* The sample of a stack; 0: of launches without one, ~0: of no launch. */
static const struct sample *sample_of(const struct world *w, __u32 id)
{
	for (const struct sample *s = profile_samples(w->profile); s; s = s->next) {
		__u32 its = s->origin.stack ? s->origin.stack->id : 0;

		if ((s->origin.known ? its : ~0u) == id)
			return s;
	}
	fail_msg("no sample of stack %u", id);
	return NULL;
}

static unsigned int sample_count(const struct world *w)
{
	unsigned int count = 0;

	for (const struct sample *s = profile_samples(w->profile); s; s = s->next)
		count++;
	return count;
}

static void any_order_will_do(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, false, false);
	launch(&w, 1, 0, 11, CUPROBE_LAUNCH_WEIGHT_ONE);
	kernel(&w, 1, 0, 100);
	kernel(&w, 2, 0, 1000);
	launch(&w, 2, 0, 11, CUPROBE_LAUNCH_WEIGHT_ONE * 5 / 2);
	launch(&w, 3, 0, 12, CUPROBE_LAUNCH_WEIGHT_ONE);
	stack(&w, 11);
	kernel(&w, 3, 0, 7);
	launch(&w, 4, 0, 13, CUPROBE_LAUNCH_WEIGHT_ONE); /* led to nothing */
	assert_int_equal(profile_finish(w.profile), 0);
	assert_int_equal(sample_count(&w), 2);
	assert_int_equal(sample_of(&w, 11)->gpu_ns, 1100);
	assert_int_equal(sample_of(&w, 11)->works, 2);
	assert_int_equal(sample_of(&w, 11)->launches, CUPROBE_LAUNCH_WEIGHT_ONE * 7 / 2);
	assert_int_equal(sample_of(&w, 12)->gpu_ns, 7);
	assert_string_equal(sample_of(&w, 11)->work->name, "gemm(float*)");
	assert_string_equal(profile_api_name(w.profile, sample_of(&w, 11)), "cudaLaunchKernel");
	close_world(&w);
}

static void a_graph_has_one_launch_and_many_kernels(void **state)
{
	__u64 works = 0, launches = 0;
	struct world w;

	(void)state;
	open_world(&w, false, false);
	kernel(&w, 5, 71, 10);
	launch(&w, 5, 0, 1, CUPROBE_LAUNCH_WEIGHT_ONE);
	for (int i = 0; i < 99; i++)
		kernel(&w, 5, 72, 10);
	w.kernel_name = synthetic_string(&w.process, "another");
	kernel(&w, 5, 73, 10);
	assert_int_equal(profile_finish(w.profile), 0);
	for (const struct sample *s = profile_samples(w.profile); s; s = s->next) {
		works += s->works;
		launches += s->launches;
	}
	assert_int_equal(sample_count(&w), 2);
	assert_int_equal(works, 101);
	assert_int_equal(launches, CUPROBE_LAUNCH_WEIGHT_ONE);
	close_world(&w);
}

static void a_graph_may_have_any_number_of_kernels(void **state)
{
	struct world w;
	__u32 first;

	(void)state;
	open_world(&w, false, false);
	launch(&w, 5, 0, 1, CUPROBE_LAUNCH_WEIGHT_ONE);
	first = synthetic_string(&w.process, "a kernel");
	for (int i = 1; i < 50; i++)
		synthetic_string(&w.process, "another");
	for (__u32 i = 0; i < 3 * 50; i++) {
		w.kernel_name = first + i % 50;
		kernel(&w, 5, 71 + i % 50, 10);
	}
	assert_int_equal(profile_finish(w.profile), 0);
	assert_int_equal(sample_count(&w), 50);
	for (const struct sample *s = profile_samples(w.profile); s; s = s->next) {
		assert_int_equal(s->works, 3);
		assert_int_equal(s->gpu_ns, 30);
	}
	close_world(&w);
}

static void nodes_can_come_from_their_capture(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, false, true);
	launch(&w, 0, 71, 21, CUPROBE_LAUNCH_WEIGHT_ONE);
	launch(&w, 5, 0, 1, CUPROBE_LAUNCH_WEIGHT_ONE);
	kernel(&w, 5, 71, 10);
	kernel(&w, 5, 71, 10);
	kernel(&w, 5, 72, 1); /* captured before anybody looked */
	assert_int_equal(profile_finish(w.profile), 0);
	assert_int_equal(sample_of(&w, 21)->gpu_ns, 20);
	assert_int_equal(sample_of(&w, 1)->gpu_ns, 1);
	close_world(&w);
}

static void what_has_no_launch_is_kept(void **state)
{
	struct profile_totals totals;
	struct world w;

	(void)state;
	open_world(&w, false, false);
	kernel(&w, 0, 0, 1);
	kernel(&w, 9, 0, 10);
	launch(&w, 10, 0, 0, CUPROBE_LAUNCH_WEIGHT_ONE);
	kernel(&w, 10, 0, 100);
	assert_int_equal(profile_finish(w.profile), 0);
	totals = profile_totals(w.profile);
	assert_int_equal(sample_of(&w, ~0u)->gpu_ns, 11);
	assert_int_equal(sample_of(&w, 0)->gpu_ns, 100);
	assert_int_equal(totals.gpu_ns, 111);
	assert_int_equal(totals.unlaunched_ns, 11);
	assert_int_equal(totals.unstacked_ns, 100);
	assert_int_equal(totals.works, 3);
	close_world(&w);
}

/* More launches than are held: those that came first have their work by then. */
static void memory_is_bounded(void **state)
{
	const __u32 many = LAUNCHES_MOST + 1000;
	struct world w;

	(void)state;
	open_world(&w, false, false);
	for (__u32 i = 1; i <= many; i++) {
		launch(&w, i, 0, 1, CUPROBE_LAUNCH_WEIGHT_ONE);
		kernel(&w, i, 0, 1);
	}
	kernel(&w, 1, 0, 1); /* too late */
	assert_int_equal(profile_finish(w.profile), 0);
	assert_int_equal(sample_count(&w), 2);
	assert_int_equal(sample_of(&w, 1)->gpu_ns, many);
	assert_int_equal(sample_of(&w, ~0u)->gpu_ns, 1);
	close_world(&w);
}

static void nvtx(struct world *w, __u8 kind, const char *message, __u64 time_ns, __s32 level)
{
	struct cuprobe_nvtx n = {.time_ns = time_ns, .thread = 8, .kind = kind, .level = level};

	n.message = *message ? synthetic_string(&w->process, message) : 0;
	synthetic_fire(&w->process, CUPROBE_PROBE_nvtx, &n, sizeof(n), 1, NOW_NS);
}

static void api(struct world *w, __u32 correlation, __u64 start_ns)
{
	struct cuprobe_api a = {.start_ns = start_ns,
				.end_ns = start_ns + 1,
				.thread = 8,
				.correlation = correlation,
				.cbid = 211,
				.domain = CUPROBE_API_RUNTIME};

	a.name = synthetic_string(&w->process, "cudaLaunchKernel_v7000");
	synthetic_fire(&w->process, CUPROBE_PROBE_api, &a, sizeof(a), 1, NOW_NS);
}

static void assert_path(struct world *w, __u32 id, enum unfold_by by, bool reverse,
			const char *expected)
{
	struct unfold u = {0};
	char text[512] = "";

	assert_int_equal(unfold_sample(&u, w->profile, sample_of(w, id), by, reverse), 0);
	for (unsigned int i = 0; i < u.count; i++) {
		strcat(text, i ? ";" : "");
		strcat(text, u.path[i]->text);
	}
	assert_string_equal(text, expected);
	unfold_free(&u);
}

static void ranges_are_around_what_they_enclose(void **state)
{
	const __u64 t = NOW_NS - 1000000;
	struct world w;

	(void)state;
	open_world(&w, true, false);
	nvtx(&w, CUPROBE_NVTX_PUSH, "step", t, 0);
	nvtx(&w, CUPROBE_NVTX_PUSH, "layer", t + 10, 1);
	nvtx(&w, CUPROBE_NVTX_POP, "", t + 20, 1);
	nvtx(&w, CUPROBE_NVTX_POP, "", t + 40, 0);
	for (__u32 i = 1; i <= 3; i++) {
		api(&w, i, t + 5 + 10 * i);
		launch(&w, i, 0, i, CUPROBE_LAUNCH_WEIGHT_ONE);
		kernel(&w, i, 0, 10 * i);
		stack(&w, i);
	}
	api(&w, 4, t + 50);
	launch(&w, 4, 0, 4, CUPROBE_LAUNCH_WEIGHT_ONE);
	kernel(&w, 4, 0, 1);
	assert_int_equal(profile_finish(w.profile), 0);
	assert_path(&w, 1, UNFOLD_BY_NVTX, false,
		    "step;layer;[unknown];cudaLaunchKernel;gemm(float*)");
	assert_path(&w, 2, UNFOLD_BY_NVTX, true, "step;gemm(float*);cudaLaunchKernel;[unknown]");
	assert_path(
		&w, 4, UNFOLD_BY_NVTX, false,
		"[no NVTX range];[a stack that was not received];cudaLaunchKernel;gemm(float*)");
	close_world(&w);
}

static void samples_are_grouped_by_what_is_asked_for(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, false, false);
	launch(&w, 1, 0, 1, CUPROBE_LAUNCH_WEIGHT_ONE);
	kernel(&w, 1, 0, 5);
	stack(&w, 1);
	kernel(&w, 2, 0, 5);
	assert_int_equal(profile_finish(w.profile), 0);
	assert_path(&w, 1, UNFOLD_BY_KERNEL, false, "[unknown];cudaLaunchKernel;gemm(float*)");
	assert_path(&w, 1, UNFOLD_BY_STREAM, false,
		    "GPU 0 stream 7;[unknown];cudaLaunchKernel;gemm(float*)");
	assert_path(&w, 1, UNFOLD_BY_DEVICE, true, "GPU 0;gemm(float*);cudaLaunchKernel;[unknown]");
	assert_path(&w, 1, UNFOLD_BY_THREAD, false,
		    "thread 8;[unknown];cudaLaunchKernel;gemm(float*)");
	assert_path(&w, 1, UNFOLD_BY_PROCESS, false,
		    "process 7;[unknown];cudaLaunchKernel;gemm(float*)");
	assert_path(&w, ~0u, UNFOLD_BY_THREAD, false,
		    "[a thread that is not known];[unattributed];gemm(float*)");
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_will_do),
		cmocka_unit_test(a_graph_has_one_launch_and_many_kernels),
		cmocka_unit_test(a_graph_may_have_any_number_of_kernels),
		cmocka_unit_test(nodes_can_come_from_their_capture),
		cmocka_unit_test(what_has_no_launch_is_kept),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(ranges_are_around_what_they_enclose),
		cmocka_unit_test(samples_are_grouped_by_what_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
