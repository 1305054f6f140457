/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of the tables, beside figures computed in the plainest way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/busy.h"
#include "src/collector/decode.h"
#include "src/collector/model.h"
#include "src/collector/names.h"
#include "src/collector/spread.h"
#include "src/collector/stats.h"
#include "test/golden/synthetic.h"

#define VALUES 20001

static int by_value(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

static void check_spread(const struct spread *s, __u64 *values, size_t count)
{
	double mean = 0, squares = 0, median, deviation;

	qsort(values, count, sizeof(*values), by_value);
	for (size_t i = 0; i < count; i++)
		mean += (double)values[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += ((double)values[i] - mean) * ((double)values[i] - mean);
	deviation = sqrt(squares / (double)(count - 1));
	median = (double)values[count / 2];
	assert_int_equal(s->count, count);
	assert_int_equal(s->least, values[0]);
	assert_int_equal(s->greatest, values[count - 1]);
	assert_true(fabs(s->mean - mean) <= 1e-9 * mean);
	assert_true(fabs(spread_deviation(s) - deviation) <= 1e-9 * deviation);
	assert_true(fabs((double)spread_median(s) - median) <= median / 128 + 0.5);
}

static void spread_is_exact_and_its_median_within_bound(void **state)
{
	static __u64 values[VALUES];
	struct spread whole = {0}, parts[2] = {{0}, {0}};
	unsigned int seed = 5;

	(void)state;
	for (size_t i = 0; i < VALUES; i++) {
		values[i] = (__u64)rand_r(&seed) << (rand_r(&seed) % 12) >> (rand_r(&seed) % 24);
		assert_int_equal(spread_add(&whole, values[i]), 0);
		assert_int_equal(spread_add(&parts[i % 3 == 0], values[i]), 0);
	}
	check_spread(&whole, values, VALUES);
	assert_int_equal(spread_merge(&parts[0], &parts[1]), 0);
	check_spread(&parts[0], values, VALUES);
	spread_free(&whole);
	spread_free(&parts[0]);
	spread_free(&parts[1]);
}

static void spread_takes_any_value(void **state)
{
	struct spread s = {0};

	(void)state;
	assert_int_equal(spread_median(&s), 0);
	assert_int_equal(spread_add(&s, ~0ull), 0);
	assert_int_equal(spread_add(&s, ~0ull), 0);
	assert_int_equal(s.sum, ~0ull);
	assert_int_equal(spread_median(&s), ~0ull);
	for (int bit = 0; bit < 64; bit++)
		assert_int_equal(spread_add(&s, 1ull << bit), 0);
	assert_int_equal(spread_add(&s, 0), 0);
	assert_int_equal(s.least, 0);
	spread_free(&s);
}

#define SPAN 100000

static void busy_is_the_union_in_any_order(void **state)
{
	static unsigned char covered[SPAN];
	struct busy one = {0}, other = {0};
	unsigned int seed = 9;
	__u64 expected = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		__u64 start = (__u64)rand_r(&seed) % SPAN;
		__u64 end = start + (__u64)rand_r(&seed) % 4;

		end = end > SPAN ? SPAN : end;
		for (__u64 t = start; t < end; t++)
			covered[t] = 1;
		assert_int_equal(busy_add(i % 2 ? &one : &other, start, end), 0);
	}
	for (int t = 0; t < SPAN; t++)
		expected += covered[t];
	assert_int_equal(busy_merge(&one, &other), 0);
	assert_int_equal(busy_total(&one), expected);
	busy_free(&one);
	busy_free(&other);
}

/* More separate intervals than are kept, each some thousand places from where it belongs. */
static void busy_stays_exact_and_small_when_long(void **state)
{
	struct busy b = {0};
	__u64 count = 1 << 20;

	(void)state;
	for (__u64 i = 0; i < count; i++) {
		__u64 place = i ^ 0x7ff;

		assert_int_equal(busy_add(&b, 1000 + place * 10, 1000 + place * 10 + 4), 0);
	}
	assert_int_equal(busy_total(&b), 4 * count);
	assert_true(b.kept_room <= 2 * (BUSY_KEPT + 32768));
	busy_free(&b);
}

/* A copy of the row of that name, which must be there. */
static struct stats_row row_of(const struct stats *s, enum stats_section section, const char *name)
{
	size_t count;
	const struct stats_row *rows = stats_rows(s, section, &count);

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(rows[i].name, name))
			return rows[i];
	}
	fail_msg("no row '%s'", name);
	return (struct stats_row){0};
}

struct pipe {
	struct model *model;
	struct stats *stats;
};

static int to_stats(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct pipe *p = arg;
	const struct event_sink sink = {stats_event, p->stats};

	return decode_batch(p->model, h, data, &sink);
}

static void rows_join_processes_and_images_by_name(void **state)
{
	struct stats_row add, copy;
	struct stats_device *devices;
	struct pipe p;
	const struct synthetic_target target = {to_stats, &p};
	size_t count;

	(void)state;
	assert_int_equal(model_open(&p.model), 0);
	assert_int_equal(stats_open(&p.stats, p.model, false), 0);
	assert_int_equal(synthetic_demo(&target), 0);
	assert_int_equal(stats_finish(p.stats), 0);
	add = row_of(p.stats, STATS_KERNELS, "vectorAdd(float const*, float const*, float*, int)");
	assert_int_equal(add.times.count, 10 + 5);
	assert_int_equal(add.times.sum, (8 + 17) * 5 * 1000 + 5 * 6000);
	assert_int_not_equal(row_of(p.stats, STATS_KERNELS, "afterTheExec()").times.count, 0);
	assert_int_not_equal(row_of(p.stats, STATS_APIS, "cudaMemcpyAsync").times.count, 0);
	assert_int_not_equal(row_of(p.stats, STATS_APIS, "cuMemAlloc_v2").times.count, 0);
	copy = row_of(p.stats, STATS_COPIES, "HtoD (Pinned -> Device)");
	assert_int_equal(copy.bytes, 4 << 20);
	assert_int_equal(stats_graph_launches(p.stats), 3);
	devices = stats_devices(p.stats, &count);
	assert_int_equal(count, 2); /* two processes, each with both */
	assert_int_equal(devices[1].kernels, 2 + 1);
	stats_free(p.stats);
	model_free(p.model);
}

static void api_names_lose_only_versions(void **state)
{
	static const char *const names[][2] = {
		{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
		{"cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"},
		{"cudaMemcpy_ptds_v7000", "cudaMemcpy"},
		{"cuMemAlloc_v2", "cuMemAlloc_v2"},
		{"cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync_v2"},
		{"_v7000", "_v7000"},
		{"7000", "7000"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(api_name_bytes(names[i][0], strlen(names[i][0])),
				 strlen(names[i][1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread_is_exact_and_its_median_within_bound),
		cmocka_unit_test(spread_takes_any_value),
		cmocka_unit_test(busy_is_the_union_in_any_order),
		cmocka_unit_test(busy_stays_exact_and_small_when_long),
		cmocka_unit_test(rows_join_processes_and_images_by_name),
		cmocka_unit_test(api_names_lose_only_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
