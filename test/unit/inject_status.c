/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/outlet_fake.h"

#include "src/inject/batch.h"
#include "src/inject/notice.h"
#include "src/inject/status.h"

static const struct cuprobe_status *status_at(size_t index)
{
	return fake_record(CUPROBE_PROBE_status, index);
}

static size_t status_count(void)
{
	cuprobe_batch_fire(CUPROBE_PROBE_status);
	return fake[CUPROBE_PROBE_status].count;
}

static void tells_states_and_messages_in_order(void **state)
{
	size_t first = status_count();

	(void)state;
	cuprobe_notice_message(CUPROBE_WARNING, 35, "do this", "kind %d", 7);
	cuprobe_notice_state(CUPROBE_STATE_YIELDED, 5, "torch");
	assert_true(cuprobe_status_take_notices());
	assert_false(cuprobe_status_take_notices());
	assert_int_equal(status_count(), first + 2);
	assert_int_equal(status_at(first)->type, CUPROBE_STATUS_MESSAGE);
	assert_int_equal(status_at(first)->message.severity, 2);
	assert_int_equal(status_at(first)->message.code, 35);
	assert_int_not_equal(status_at(first)->message.text, status_at(first)->message.remedy);
	assert_int_equal(status_at(first + 1)->type, CUPROBE_STATUS_STATE);
	assert_int_equal(status_at(first + 1)->state.state, CUPROBE_STATE_YIELDED);
	assert_int_equal(status_at(first + 1)->state.active_probes, 5);
	assert_int_not_equal(status_at(first + 1)->state.detail, 0);
}

static void keeps_for_later_what_nobody_heard(void **state)
{
	size_t first = status_count();

	(void)state;
	fake[CUPROBE_PROBE_status].consumers = 0;
	cuprobe_notice_message(CUPROBE_ERROR, -2, NULL, "nobody hears this");
	cuprobe_notice_state(CUPROBE_STATE_FAILED, 0, "no libcupti");
	cuprobe_status_take_notices();
	fake[CUPROBE_PROBE_status].consumers = 1;
	assert_int_equal(status_count(), first);
	cuprobe_status_replay_begin();
	while (cuprobe_status_replay(1))
		;
	assert_true(status_count() > first + 1);
	assert_int_equal(status_at(first)->state.state, CUPROBE_STATE_FAILED);
	assert_int_equal(status_at(status_count() - 1)->message.code, -2);
}

static void keeps_the_newest_messages_of_many(void **state)
{
	size_t first = status_count();
	int newest = 0;

	(void)state;
	for (int code = 1; code <= 200; code++) {
		cuprobe_notice_message(CUPROBE_NOTE, code, NULL, "message");
		cuprobe_status_take_notices();
	}
	first = status_count();
	cuprobe_status_replay_begin();
	while (cuprobe_status_replay(8))
		;
	for (size_t i = first + 1; i < status_count(); i++)
		newest = status_at(i)->message.code > newest ? status_at(i)->message.code : newest;
	assert_int_equal(newest, 200);
	assert_in_range(status_count() - first, 2, 64);
}

static void publishes_ledgers_that_are_true_when_read(void **state)
{
	const struct cuprobe_status_ledger *own;
	size_t first = status_count();

	(void)state;
	cuprobe_ledger_lose(CUPROBE_PROBE_kernel, 3);
	cuprobe_status_ledgers();
	assert_int_equal(status_count(), first + CUPROBE_PROBE_COUNT);
	for (size_t i = first; i < status_count(); i++) {
		const struct cuprobe_status_ledger *l = &status_at(i)->ledger;

		assert_int_equal(status_at(i)->type, CUPROBE_STATUS_LEDGER);
		assert_int_equal(l->produced,
				 l->fired + l->discarded + l->invalid + l->lost + l->pending);
		assert_int_equal(l->lost, l->probe == CUPROBE_PROBE_kernel ? 3 : 0);
	}
	own = &status_at(status_count() - 1)->ledger;
	assert_int_equal(own->probe, CUPROBE_PROBE_status);
	assert_int_equal(own->fired, status_count());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_states_and_messages_in_order),
		cmocka_unit_test(keeps_for_later_what_nobody_heard),
		cmocka_unit_test(keeps_the_newest_messages_of_many),
		cmocka_unit_test(publishes_ledgers_that_are_true_when_read),
	};

	fake_attach(CUPROBE_PROBE_status);
	fake_attach(CUPROBE_PROBE_string);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
