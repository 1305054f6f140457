/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/outlet_fake.h"

#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/strings.h"

static void memset_add(__u32 value)
{
	struct cuprobe_memset *record = cuprobe_batch_add(CUPROBE_PROBE_memset);

	*record = (struct cuprobe_memset){.value = value};
}

static void fires_a_full_batch_and_keeps_the_order(void **state)
{
	const __u32 fits = CUPROBE_BATCH_BYTES / sizeof(struct cuprobe_memset);

	(void)state;
	for (__u32 i = 0; i < 2 * fits + 1; i++)
		memset_add(i);
	assert_int_equal(fake[CUPROBE_PROBE_memset].batches, 2);
	assert_int_equal(cuprobe_batch_pending(CUPROBE_PROBE_memset), 1);
	fake_ledgers_balance();
	cuprobe_batch_fire(CUPROBE_PROBE_memset);
	for (__u32 i = 0; i < 2 * fits + 1; i++) {
		const struct cuprobe_memset *record = fake_record(CUPROBE_PROBE_memset, i);

		assert_int_equal(record->value, i);
	}
	fake_ledgers_balance();
}

static void fires_by_age(void **state)
{
	size_t before = fake[CUPROBE_PROBE_memset].count;
	__u64 now;

	(void)state;
	memset_add(1);
	now = cuprobe_clock_now();
	cuprobe_batch_fire_aged(now - 1000000000ull);
	assert_int_equal(fake[CUPROBE_PROBE_memset].count, before);
	cuprobe_batch_fire_aged(now);
	assert_int_equal(fake[CUPROBE_PROBE_memset].count, before + 1);
}

static void fires_definitions_before_what_refers_to_them(void **state)
{
	(void)state;
	fake_fired = 0;
	memset_add(cuprobe_strings_id("a name"));
	cuprobe_batch_fire(CUPROBE_PROBE_memset);
	assert_int_equal(fake_order[0], CUPROBE_PROBE_string);
	assert_int_equal(fake_order[1], CUPROBE_PROBE_memset);
}

static void fires_launches_before_their_work(void **state)
{
	(void)state;
	fake_fired = 0;
	memset_add(1);
	*(struct cuprobe_launch *)cuprobe_batch_add(CUPROBE_PROBE_launch) =
		(struct cuprobe_launch){.correlation = 1};
	cuprobe_batch_fire(CUPROBE_PROBE_memset);
	assert_int_equal(fake_order[0], CUPROBE_PROBE_launch);
	assert_int_equal(fake_order[1], CUPROBE_PROBE_memset);
}

static void discards_and_counts_when_the_consumer_has_left(void **state)
{
	size_t before = fake[CUPROBE_PROBE_memset].count;
	struct cuprobe_status_ledger ledger;

	(void)state;
	memset_add(7);
	fake[CUPROBE_PROBE_memset].consumers = 0;
	cuprobe_batch_fire(CUPROBE_PROBE_memset);
	fake[CUPROBE_PROBE_memset].consumers = 1;
	cuprobe_ledger_read(CUPROBE_PROBE_memset, &ledger);
	assert_int_equal(fake[CUPROBE_PROBE_memset].count, before);
	assert_int_equal(ledger.discarded, 1);
	fake_ledgers_balance();
}

static void counts_what_is_lost_as_produced(void **state)
{
	struct cuprobe_status_ledger before, after;

	(void)state;
	cuprobe_ledger_read(CUPROBE_PROBE_kernel, &before);
	cuprobe_ledger_lose(CUPROBE_PROBE_kernel, 5);
	cuprobe_ledger_read(CUPROBE_PROBE_kernel, &after);
	assert_int_equal(after.lost, before.lost + 5);
	assert_int_equal(after.produced, before.produced + 5);
	fake_ledgers_balance();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_a_full_batch_and_keeps_the_order),
		cmocka_unit_test(fires_by_age),
		cmocka_unit_test(fires_definitions_before_what_refers_to_them),
		cmocka_unit_test(fires_launches_before_their_work),
		cmocka_unit_test(discards_and_counts_when_the_consumer_has_left),
		cmocka_unit_test(counts_what_is_lost_as_produced),
	};

	fake_attach(CUPROBE_PROBE_memset);
	fake_attach(CUPROBE_PROBE_string);
	fake_attach(CUPROBE_PROBE_launch);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
