/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of batches, and that no batch, however bad, does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/decode.h"
#include "src/collector/model.h"
#include "test/golden/synthetic.h"

#define NOW_NS 2000000000000ull

struct seen {
	__u64 events, sum;
	struct cuprobe_kernel last;
};

static int on_event(void *arg, const struct event *e)
{
	struct seen *seen = arg;

	seen->events++;
	seen->sum += e->record != NULL;
	if (e->probe == CUPROBE_PROBE_kernel)
		seen->last = *e->kernel;
	return 0;
}

static struct cuprobe_batch_header header(enum cuprobe_probe_id probe, __u32 bytes, __u32 count)
{
	return (struct cuprobe_batch_header){
		.time_ns = NOW_NS,
		.process_start_ns = 1,
		.pid = 7,
		.tid = 7,
		.bytes = bytes,
		.count = count,
		.probe = (__u16)probe,
	};
}

static struct cuprobe_kernel kernel(__u64 start_ns, __u64 end_ns)
{
	return (struct cuprobe_kernel){.start_ns = start_ns, .end_ns = end_ns, .name = 1};
}

static void decode_one(struct model *m, const struct cuprobe_batch_header *h, const void *data,
		       struct seen *seen)
{
	const struct event_sink sink = {on_event, seen};

	assert_int_equal(decode_batch(m, h, data, &sink), 0);
}

static void malformed_batches_are_counted_and_ignored(void **state)
{
	static __u64 data[CUPROBE_BATCH_BYTES / 8 + 1];
	const struct cuprobe_batch_header bad[] = {
		header(CUPROBE_PROBE_kernel, 0, 1),
		header(CUPROBE_PROBE_kernel, 160, 0),
		header(CUPROBE_PROBE_kernel, 160, 2),	  /* records too small */
		header(CUPROBE_PROBE_kernel, 321, 2),	  /* not a whole number each */
		header(CUPROBE_PROBE_kernel, 2 * 164, 2), /* not aligned */
		header(CUPROBE_PROBE_kernel, CUPROBE_BATCH_BYTES + 8, 1),
		header(CUPROBE_PROBE_string, 248, 1),
	};
	size_t count = sizeof(bad) / sizeof(*bad);
	struct seen seen = {0};
	struct process *p;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	for (size_t i = 0; i < count; i++)
		decode_one(m, &bad[i], data, &seen);
	p = model_processes(m);
	assert_int_equal(seen.events, 0);
	assert_int_equal(p->ledgers[CUPROBE_PROBE_kernel].malformed, count - 1);
	assert_int_equal(p->ledgers[CUPROBE_PROBE_string].malformed, 1);
	assert_int_equal(p->ledgers[CUPROBE_PROBE_kernel].delivered, 0);
	model_free(m);
}

static void batches_of_unknown_probes_are_counted(void **state)
{
	struct cuprobe_batch_header h = header(CUPROBE_PROBE_kernel, 160, 1);
	struct cuprobe_kernel k = kernel(1, 2);
	struct seen seen = {0};
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	h.probe = CUPROBE_PROBE_COUNT + 3;
	decode_one(m, &h, &k, &seen);
	assert_int_equal(seen.events, 0);
	assert_int_equal(model_processes(m)->unknown_batches, 1);
	model_free(m);
}

static void impossible_times_never_reach_a_sink(void **state)
{
	const struct cuprobe_kernel kernels[] = {
		kernel(NOW_NS - 10, NOW_NS - 5),
		kernel(NOW_NS - 5, NOW_NS - 5),
		kernel(0, 0),
		kernel(0, NOW_NS),
		kernel(NOW_NS - 5, NOW_NS - 6),
		kernel(NOW_NS, 1ull << 63),
		kernel(1ull << 63, 1ull << 63),
		kernel(NOW_NS, NOW_NS + DECODE_SLACK_NS + 1),
	};
	struct cuprobe_batch_header h = header(CUPROBE_PROBE_kernel, sizeof(kernels), 8);
	struct seen seen = {0};
	const struct ledger *l;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	decode_one(m, &h, kernels, &seen);
	l = &model_processes(m)->ledgers[CUPROBE_PROBE_kernel];
	assert_int_equal(seen.events, 2);
	assert_int_equal(l->delivered, 2);
	assert_int_equal(l->refused, 6);
	assert_int_equal(l->next_seq, 8);
	assert_int_equal(ledger_lost(l), 0);
	model_free(m);
}

static void larger_records_of_newer_libraries_are_read(void **state)
{
	struct {
		struct cuprobe_kernel kernel;
		__u64 more[3];
	} records[2] = {{kernel(NOW_NS - 9, NOW_NS - 8), {~0ull, ~0ull, ~0ull}},
			{kernel(NOW_NS - 7, NOW_NS - 6), {~0ull, ~0ull, ~0ull}}};
	struct cuprobe_batch_header h = header(CUPROBE_PROBE_kernel, sizeof(records), 2);
	struct seen seen = {0};
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	decode_one(m, &h, records, &seen);
	assert_int_equal(seen.events, 2);
	assert_int_equal(seen.last.start_ns, NOW_NS - 7);
	assert_int_equal(seen.last.end_ns, NOW_NS - 6);
	model_free(m);
}

static void string_piece(struct model *m, __u32 id, __u32 total, __u32 offset, __u32 bytes, char c)
{
	struct cuprobe_string s = {id, total, offset, bytes, {0}};
	struct cuprobe_batch_header h = header(CUPROBE_PROBE_string, sizeof(s), 1);
	struct seen seen = {0};

	memset(s.text, c, CUPROBE_STRING_PIECE);
	decode_one(m, &h, &s, &seen);
}

static void hostile_string_pieces_are_refused(void **state)
{
	struct process *p;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	string_piece(m, 1, 10, 0, CUPROBE_STRING_PIECE + 1, 'a');
	string_piece(m, 1, 10, 11, 0, 'a');
	string_piece(m, 1, 10, 8, 4, 'a');
	string_piece(m, 1, 10, 0xffffffffu, 2, 'a');
	string_piece(m, 1, 0xffffffffu, 0, 240, 'a');
	string_piece(m, 1, 10, 0, 0, 'a');
	string_piece(m, 0, 4, 0, 4, 'a');
	p = model_processes(m);
	assert_int_equal(p->ledgers[CUPROBE_PROBE_string].refused, 7);
	assert_null(process_string(p, 1, NULL));
	string_piece(m, 1, 0, 0, 0, 'a');
	assert_string_equal(process_string(p, 1, NULL), "");
	model_free(m);
}

static void hostile_stack_pieces_are_refused(void **state)
{
	struct cuprobe_stack pieces[] = {
		{.id = 0, .frames = 1, .count = 1},
		{.id = 1, .frames = 20, .count = CUPROBE_STACK_PIECE + 1},
		{.id = 1, .frames = 20, .count = 0},
		{.id = 1, .frames = 10, .first = 5, .count = 6},
		{.id = 1, .frames = 10, .first = 0xffff, .count = 1},
		{.id = 1, .frames = 10, .first = 0, .count = 10},
		{.id = 1, .frames = 12, .first = 10, .count = 2},
	};
	struct cuprobe_batch_header h = header(CUPROBE_PROBE_stack, sizeof(pieces), 7);
	struct seen seen = {0};
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	decode_one(m, &h, pieces, &seen);
	assert_int_equal(model_processes(m)->ledgers[CUPROBE_PROBE_stack].refused, 5);
	assert_int_equal(seen.events, 2);
	model_free(m);
}

struct mutator {
	struct model *model;
	struct seen seen;
	unsigned int seed;
};

static void flip(struct mutator *m, void *data, size_t bytes)
{
	unsigned char *at = data;

	for (int i = rand_r(&m->seed) % 4; i > 0; i--)
		at[(size_t)rand_r(&m->seed) % bytes] = (unsigned char)rand_r(&m->seed);
}

/* A copy in memory of exactly its size, so that a sanitizer sees a read beyond it. */
static int mutate(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct mutator *m = arg;
	const struct event_sink sink = {on_event, &m->seen};
	struct cuprobe_batch_header bad = *h;
	void *copy;
	int err;

	flip(m, &bad, sizeof(bad));
	copy = malloc(bad.bytes && bad.bytes <= CUPROBE_BATCH_BYTES ? bad.bytes : 1);
	assert_non_null(copy);
	if (bad.bytes > CUPROBE_BATCH_BYTES || !bad.bytes)
		memset(copy, 0, 1);
	else
		memset(copy, 0, bad.bytes);
	if (bad.bytes >= h->bytes && bad.bytes <= CUPROBE_BATCH_BYTES)
		memcpy(copy, data, h->bytes);
	if (bad.bytes && bad.bytes <= CUPROBE_BATCH_BYTES)
		flip(m, copy, bad.bytes);
	err = decode_batch(m->model, &bad, copy, &sink);
	free(copy);
	return err;
}

static void random_damage_does_no_harm(void **state)
{
	struct mutator m = {.seed = 4711};
	const struct synthetic_target target = {mutate, &m};

	(void)state;
	for (int round = 0; round < 300; round++) {
		assert_int_equal(model_open(&m.model), 0);
		assert_int_equal(synthetic_demo(&target), 0);
		for (struct process *p = model_processes(m.model); p; p = p->next) {
			for (__u32 id = 0; id < 64; id++)
				assert_non_null(process_name(p, id, false));
		}
		model_free(m.model);
	}
	assert_true(m.seen.events > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_batches_are_counted_and_ignored),
		cmocka_unit_test(batches_of_unknown_probes_are_counted),
		cmocka_unit_test(impossible_times_never_reach_a_sink),
		cmocka_unit_test(larger_records_of_newer_libraries_are_read),
		cmocka_unit_test(hostile_string_pieces_are_refused),
		cmocka_unit_test(hostile_stack_pieces_are_refused),
		cmocka_unit_test(random_damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
