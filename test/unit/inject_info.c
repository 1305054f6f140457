/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/outlet_fake.h"

#include "src/inject/batch.h"
#include "src/inject/info.h"

static void context_put(__u32 id, __u32 device)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_CONTEXT,
				    .context = {.id = id, .device = device}};

	cuprobe_info_put(&info);
}

static void stream_put(__u32 context, __u32 id, __s32 priority)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_STREAM,
				    .stream = {.id = id, .context = context, .priority = priority}};

	cuprobe_info_put(&info);
}

static size_t info_count(void)
{
	cuprobe_batch_fire(CUPROBE_PROBE_info);
	return fake[CUPROBE_PROBE_info].count;
}

static void publishes_news_once(void **state)
{
	size_t before = info_count();

	(void)state;
	context_put(1, 0);
	context_put(1, 0);
	assert_int_equal(info_count(), before + 1);
	context_put(1, 5);
	assert_int_equal(info_count(), before + 2);
	assert_int_equal(cuprobe_info_context_device(1), 5);
}

static void keeps_streams_of_two_contexts_apart(void **state)
{
	(void)state;
	stream_put(1, 7, -1);
	stream_put(2, 7, -2);
	assert_int_equal(cuprobe_info_stream_priority(1, 7), -1);
	assert_int_equal(cuprobe_info_stream_priority(2, 7), -2);
	assert_int_equal(cuprobe_info_stream_priority(1, 7), -1);
	assert_int_equal(cuprobe_info_stream_priority(3, 7), CUPROBE_NO_PRIORITY);
	assert_int_equal(cuprobe_info_stream_priority(CUPROBE_NO_ID, CUPROBE_NO_ID),
			 CUPROBE_NO_PRIORITY);
	assert_int_equal(cuprobe_info_context_device(99), CUPROBE_NO_ID);
}

static void knows_thousands_of_streams(void **state)
{
	(void)state;
	for (__u32 id = 100; id < 40100; id++)
		stream_put(4, id, (__s32)(id % 5));
	for (__u32 id = 100; id < 40100; id++)
		assert_int_equal(cuprobe_info_stream_priority(4, id), id % 5);
}

static void replays_everything_it_knows(void **state)
{
	size_t before = info_count(), contexts = 0, streams = 0;

	(void)state;
	cuprobe_info_replay_begin();
	while (cuprobe_info_replay(100))
		;
	for (size_t i = before; i < info_count(); i++) {
		const struct cuprobe_info *info = fake_record(CUPROBE_PROBE_info, i);

		contexts += info->type == CUPROBE_INFO_CONTEXT;
		streams += info->type == CUPROBE_INFO_STREAM;
	}
	assert_int_equal(contexts, 1);
	assert_int_equal(streams, 40002);
	assert_false(cuprobe_info_replay(100));
	fake_ledgers_balance();
}

static void tells_of_any_number_but_keeps_no_more_than_can_be_replayed(void **state)
{
	size_t before = info_count();

	(void)state;
	for (__u32 id = 0; id < 100000; id++)
		stream_put(5, id, 0);
	assert_int_equal(info_count(), before + 100000);
	before = info_count();
	cuprobe_info_replay_begin();
	while (cuprobe_info_replay(100))
		;
	assert_int_equal(info_count(), before + 65536);
	fake_ledgers_balance();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(publishes_news_once),
		cmocka_unit_test(keeps_streams_of_two_contexts_apart),
		cmocka_unit_test(knows_thousands_of_streams),
		cmocka_unit_test(replays_everything_it_knows),
		cmocka_unit_test(tells_of_any_number_but_keeps_no_more_than_can_be_replayed),
	};

	fake_attach(CUPROBE_PROBE_info);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
