/* SPDX-License-Identifier: Apache-2.0 */
/* Consumers of the provider parcagpu come and go while threads launch, native ones beside them. */
#include "test/unit/workload.h"

#include "src/inject/env.h"
#include "src/inject/parca.h"

#define CYCLES 30
#define THREADS 6
#define LAUNCHES (1u << 22)

static atomic_uint attached_probes, kernels, orphans, launches;
static atomic_bool told[LAUNCHES]; /* by correlation id */

static __u32 attached(void)
{
	return atomic_load(&attached_probes);
}

static void correlation(__u32 id, __s32 cbid, const char *name)
{
	(void)cbid;
	(void)name;
	atomic_store(&told[id % LAUNCHES], true);
	atomic_fetch_add(&launches, 1);
}

static void executed(const struct parcagpu_kernel *kernel)
{
	(void)kernel;
}

static void batch(const struct parcagpu_kernel *const *records, __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		if (!atomic_load(&told[records[i]->correlation % LAUNCHES]))
			atomic_fetch_add(&orphans, 1);
	}
	atomic_fetch_add(&kernels, count);
}

static const struct parcagpu provider = {
	.attached = attached,
	.cuda_correlation = correlation,
	.kernel_executed = executed,
	.activity_batch = batch,
};

static void gives_no_kernel_without_its_launch(void **state)
{
	const __u32 agent = PARCAGPU_BIT(cuda_correlation) | PARCAGPU_BIT(activity_batch) |
			    PARCAGPU_BIT(kernel_executed);

	(void)state;
	setenv("PARCAGPU_RATE_LIMIT", "1000000", 1);
	cuprobe_parcagpu = &provider;
	workload_init();
	workload_start(THREADS);
	for (int i = 0; i < CYCLES; i++) {
		atomic_store(&attached_probes, agent);
		if (i % 3 == 1)
			atomic_fetch_or(&workload.wanted, 1u << CUPROBE_PROBE_kernel);
		workload_sleep_ms(i % 5 ? 100 : 300);
		atomic_store(&attached_probes, 0);
		workload_sleep_ms(i % 2 ? 60 : 5);
		if (i % 3 == 2)
			atomic_fetch_and(&workload.wanted, ~(1u << CUPROBE_PROBE_kernel));
	}
	atomic_store(&workload.wanted, CUPROBE_METADATA_PROBES);
	assert_true(workload_await(CUPROBE_STATE_DORMANT, WORKLOAD_PATIENCE_MS));
	workload_stop();
	cuprobe_control_finish(2000000000);
	assert_true(atomic_load(&launches) > 1000);
	assert_true(atomic_load(&kernels) > 1000);
	assert_true(atomic_load(&kernels) <= atomic_load(&launches));
	assert_int_equal(atomic_load(&orphans), 0);
	assert_true(workload_balances());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_no_kernel_without_its_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
