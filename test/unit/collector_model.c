/* SPDX-License-Identifier: Apache-2.0 */
/* What the model makes of batches: strings, losses, and processes that become others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/collector/decode.h"
#include "src/collector/demangle.h"
#include "src/collector/model.h"
#include "src/collector/procinfo.h"
#include "test/golden/synthetic.h"

#define NOW_NS 2000000000000ull

static int to_model(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	return decode_batch(arg, h, data, NULL);
}

static struct synthetic process(struct model *m, __u32 pid)
{
	return (struct synthetic){
		.pid = pid, .start_ns = 10, .now_ns = NOW_NS, .target = {to_model, m}};
}

static void fire_kernels(struct synthetic *s, unsigned int count)
{
	struct cuprobe_kernel kernels[16] = {0};

	for (unsigned int i = 0; i < count; i++) {
		kernels[i].start_ns = NOW_NS - 100;
		kernels[i].end_ns = NOW_NS - 50;
	}
	synthetic_fire(s, CUPROBE_PROBE_kernel, kernels, sizeof(*kernels), count, NOW_NS);
}

static void long_names_are_never_cut(void **state)
{
	size_t bytes = 512 << 10;
	char *one = malloc(bytes + 1), *other = malloc(bytes + 1);
	struct synthetic s;
	struct model *m;
	size_t got;

	(void)state;
	assert_non_null(one);
	assert_non_null(other);
	memset(one, 'k', bytes);
	one[bytes] = '\0';
	memcpy(other, one, bytes + 1);
	other[bytes - 1] = 'x';
	assert_int_equal(model_open(&m), 0);
	s = process(m, 1);
	assert_int_equal(synthetic_string(&s, one), 1);
	assert_int_equal(synthetic_string(&s, other), 2);
	assert_string_equal(process_string(model_processes(m), 1, &got), one);
	assert_int_equal(got, bytes);
	assert_string_equal(process_string(model_processes(m), 2, &got), other);
	model_free(m);
	free(one);
	free(other);
}

static void replayed_strings_change_nothing(void **state)
{
	struct synthetic s;
	struct model *m;
	const char *text;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	s = process(m, 1);
	synthetic_string(&s, "first");
	text = process_string(model_processes(m), 1, NULL);
	s.next_string = 0;
	synthetic_string(&s, "first");
	assert_ptr_equal(process_string(model_processes(m), 1, NULL), text);
	model_free(m);
}

static void names_are_demangled_once(void **state)
{
	struct synthetic s;
	struct process *p;
	struct model *m;
	const char *name;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	s = process(m, 1);
	synthetic_string(&s, "_Z9vectorAddPKfS0_Pfi");
	synthetic_string(&s, "plain_name");
	synthetic_string(&s, "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE");
	p = model_processes(m);
	name = process_name(p, 1, false);
	assert_string_equal(name, "vectorAdd(float const*, float const*, float*, int)");
	assert_ptr_equal(process_name(p, 1, false), name);
	assert_string_equal(process_name(p, 1, true), "_Z9vectorAddPKfS0_Pfi");
	assert_string_equal(process_name(p, 2, false), "plain_name");
	assert_string_equal(process_name(p, 3, false), "core::fmt::Formatter::pad");
	assert_string_equal(process_name(p, 0, false), "");
	assert_string_equal(process_name(p, 99, false), "?99");
	model_free(m);
}

/* Each argument is a pair of the one before: some hundred bytes that stand for 2^35 of them. */
static void exploding_names_are_given_up(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1fSt4pairIiiE", piece[32];

	(void)state;
	for (int i = 0; i < 35; i++) {
		snprintf(piece, sizeof(piece), "S_IS%c_S%c_E", digits[i], digits[i]);
		strcat(name, piece);
		if (i == 3) {
			char *text = demangle(name);

			assert_non_null(text);
			free(text);
		}
	}
	assert_null(demangle(name));
}

static void gaps_in_seq_are_losses(void **state)
{
	const struct cuprobe_loss_key key = {10, 1, CUPROBE_PROBE_kernel};
	struct cuprobe_loss loss = {1, 3, 1, 2};
	struct synthetic s;
	const struct ledger *l;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	s = process(m, 1);
	s.seq[CUPROBE_PROBE_kernel] = 1000; /* fired before we came: not ours */
	fire_kernels(&s, 4);
	s.seq[CUPROBE_PROBE_kernel] += 5;
	fire_kernels(&s, 2);
	l = &model_processes(m)->ledgers[CUPROBE_PROBE_kernel];
	assert_int_equal(l->delivered, 6);
	assert_int_equal(ledger_lost(l), 5);
	assert_int_equal(model_losses(m, &key, &loss), 0);
	assert_int_equal(ledger_lost(l), 5); /* the same ones, counted in another place */
	loss.records = 9;		     /* and some behind the last that came */
	assert_int_equal(model_losses(m, &key, &loss), 0);
	assert_int_equal(ledger_lost(l), 11);
	model_free(m);
}

static void a_late_batch_is_not_lost(void **state)
{
	struct synthetic s;
	const struct ledger *l;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	s = process(m, 1);
	s.seq[CUPROBE_PROBE_kernel] = 100;
	fire_kernels(&s, 1);
	s.seq[CUPROBE_PROBE_kernel] = 105;
	fire_kernels(&s, 5);
	s.seq[CUPROBE_PROBE_kernel] = 101;
	fire_kernels(&s, 4);
	l = &model_processes(m)->ledgers[CUPROBE_PROBE_kernel];
	assert_int_equal(l->delivered, 10);
	assert_int_equal(ledger_lost(l), 0);
	assert_int_equal(model_processes(m)->image, 0);
	model_free(m);
}

static void fire_ledger(struct synthetic *s, __u64 produced)
{
	struct cuprobe_status status = {.time_ns = NOW_NS, .type = CUPROBE_STATUS_LEDGER};

	status.ledger.probe = CUPROBE_PROBE_kernel;
	status.ledger.produced = produced;
	status.ledger.fired = produced;
	synthetic_fire(s, CUPROBE_PROBE_status, &status, sizeof(status), 1, NOW_NS);
}

static void what_others_lost_is_not_ours(void **state)
{
	struct cuprobe_status status = {.time_ns = NOW_NS, .type = CUPROBE_STATUS_LEDGER};
	struct cuprobe_status_ledger *told = &status.ledger;
	const struct cuprobe_status_ledger *l;
	struct synthetic s;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	s = process(m, 1);
	s.seq[CUPROBE_PROBE_status] = 40;
	s.seq[CUPROBE_PROBE_kernel] = 57;
	fire_kernels(&s, 3); /* sooner than the ledger that has them */
	*told = (struct cuprobe_status_ledger){.probe = CUPROBE_PROBE_kernel,
					       .produced = 100,
					       .fired = 60,
					       .discarded = 5,
					       .invalid = 1,
					       .lost = 30,
					       .pending = 4,
					       .cupti_dropped = 7};
	synthetic_fire(&s, CUPROBE_PROBE_status, &status, sizeof(status), 1, NOW_NS);
	fire_kernels(&s, 4);
	*told = (struct cuprobe_status_ledger){.probe = CUPROBE_PROBE_kernel,
					       .produced = 102,
					       .fired = 64,
					       .discarded = 5,
					       .invalid = 1,
					       .lost = 32,
					       .cupti_dropped = 8};
	synthetic_fire(&s, CUPROBE_PROBE_status, &status, sizeof(status), 1, NOW_NS);
	l = &model_processes(m)->ledgers[CUPROBE_PROBE_kernel].library;
	assert_int_equal(l->fired, 7);
	assert_int_equal(l->produced, 9);
	assert_int_equal(l->lost, 2);
	assert_int_equal(l->discarded + l->invalid, 0);
	assert_int_equal(l->cupti_dropped, 1);
	model_free(m);
}

static void an_exec_starts_strings_and_seq_anew(void **state)
{
	const char *before;
	struct synthetic s;
	struct process *p;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	s = process(m, 1);
	synthetic_string(&s, "before");
	fire_kernels(&s, 7);
	fire_ledger(&s, 7);
	p = model_processes(m);
	before = process_string(p, 1, NULL);
	memset(s.seq, 0, sizeof(s.seq));
	s.next_string = 0;
	synthetic_string(&s, "after");
	s.seq[CUPROBE_PROBE_kernel] = 2; /* the first two of the new image were lost */
	fire_kernels(&s, 3);
	fire_ledger(&s, 5);
	assert_ptr_equal(p->next, NULL);
	assert_int_equal(p->image, 1);
	assert_string_equal(before, "before");
	assert_string_equal(process_string(p, 1, NULL), "after");
	assert_int_equal(p->ledgers[CUPROBE_PROBE_kernel].delivered, 10);
	assert_int_equal(ledger_lost(&p->ledgers[CUPROBE_PROBE_kernel]), 2);
	assert_int_equal(p->ledgers[CUPROBE_PROBE_kernel].library.fired, 12);
	model_free(m);
}

static void processes_of_one_pid_are_told_apart(void **state)
{
	struct model *m;
	struct process *first;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	first = model_process(m, 5, 100);
	assert_non_null(first);
	assert_ptr_not_equal(model_process(m, 5, 200), first);
	assert_ptr_not_equal(model_process(m, 5 + 31, 100 - 1), first); /* of the same hash key */
	assert_ptr_equal(model_process(m, 5, 100), first);
	assert_ptr_equal(model_process(m, 5 + 31, 100 - 1)->next, NULL);
	model_free(m);
}

static void a_hostile_process_stays_small(void **state)
{
	struct cuprobe_string piece = {.total_bytes = 1 << 20, .bytes = CUPROBE_STRING_PIECE};
	struct cuprobe_info info = {.type = CUPROBE_INFO_STREAM};
	struct synthetic s;
	const struct ledger *ledgers;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	s = process(m, 1);
	for (piece.id = 1; piece.id <= 1000; piece.id++)
		synthetic_fire(&s, CUPROBE_PROBE_string, &piece, sizeof(piece), 1, NOW_NS);
	for (info.stream.id = 0; info.stream.id < 100000; info.stream.id++)
		synthetic_fire(&s, CUPROBE_PROBE_info, &info, sizeof(info), 1, NOW_NS);
	assert_int_equal(s.err, 0);
	ledgers = model_processes(m)->ledgers;
	assert_true(ledgers[CUPROBE_PROBE_string].refused > 700);
	assert_int_equal(ledgers[CUPROBE_PROBE_info].refused, 100000 - 65536);
	model_free(m);
}

static void threads_of_other_pid_namespaces_are_found(void **state)
{
	static const char json[] =
		"{\"pid\":70000,\"start_ns\":10,\"command\":\"a \\\"b\\\" \\u00e9\","
		"\"threads\":[[1,70000],[12,70011]]}";
	struct process *p;
	struct model *m;

	(void)state;
	assert_int_equal(model_open(&m), 0);
	assert_int_equal(procinfo_apply(m, json, sizeof(json) - 1), 0);
	p = model_process(m, 70000, 10);
	assert_string_equal(p->command, "a \"b\" \xc3\xa9");
	assert_int_equal(process_thread(p, 12), 70011);
	assert_int_equal(process_thread(p, 99), 99);
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_names_are_never_cut),
		cmocka_unit_test(replayed_strings_change_nothing),
		cmocka_unit_test(names_are_demangled_once),
		cmocka_unit_test(exploding_names_are_given_up),
		cmocka_unit_test(gaps_in_seq_are_losses),
		cmocka_unit_test(a_late_batch_is_not_lost),
		cmocka_unit_test(what_others_lost_is_not_ours),
		cmocka_unit_test(an_exec_starts_strings_and_seq_anew),
		cmocka_unit_test(processes_of_one_pid_are_told_apart),
		cmocka_unit_test(a_hostile_process_stays_small),
		cmocka_unit_test(threads_of_other_pid_namespaces_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
