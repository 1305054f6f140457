/* SPDX-License-Identifier: Apache-2.0 */
/* The last part of a summary: whether anything was lost, where, and what to do about it. */
#include <string.h>

#include "src/collector/capture.h"
#include "src/collector/event.h"
#include "src/collector/json.h"
#include "src/collector/model.h"
#include "src/collector/summary.h"
#include "src/collector/table.h"

#define FLUSH_MS 100 /* the default of CUPROBE_FLUSH_MS */

/* All processes and probes together. */
struct totals {
	__u64 delivered;
	__u64 ring, missed; /* on the way: ring full; other */
	__u64 library;	    /* no room in the library */
	__u64 cupti;	    /* dropped by CUPTI */
	__u64 invalid;	    /* impossible times or fields; here or in the library */
	__u64 malformed, unknown;
	__u64 silent; /* processes that left without handing over what they had */
	__u64 processes;
};

static bool ledger_is_empty(const struct ledger *l)
{
	return !l->delivered && !l->refused && !ledger_lost(l) && !l->malformed &&
	       !l->library.produced;
}

static void totals_add(struct totals *t, const struct ledger *l)
{
	__u64 lost = ledger_lost(l), ring = l->ring_lost < lost ? l->ring_lost : lost;

	t->delivered += l->delivered;
	t->ring += ring;
	t->missed += lost - ring;
	t->library += l->library.lost;
	t->invalid += l->library.invalid + l->refused;
	t->malformed += l->malformed;
	if (l->library.unknown > t->unknown) /* the same figure in each probe's ledger */
		t->unknown = l->library.unknown;
}

/* CUPTI's own figure is one of the process, repeated in each probe's ledger. */
static __u64 process_cupti_dropped(const struct process *p)
{
	__u64 most = 0;

	for (int probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		if (p->ledgers[probe].library.cupti_dropped > most)
			most = p->ledgers[probe].library.cupti_dropped;
	}
	return most;
}

/*
 * The library's last words are a ledger of all that it sent and that it collects nothing, at the
 * end of the recording or of the process. Where it goes on for other readers the ledger of the next
 * second is.
 * Definitions are told again at any time, also after that; and what does not even say what process
 * it is keeps no ledger.
 */
static bool process_left_silently(const struct process *p, const struct session_info *info)
{
	for (unsigned int probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		const struct ledger *l = &p->ledgers[probe];

		if (!probe_is_told_again(probe) && l->delivered > l->library.produced)
			return p->info_known;
	}
	return p->state == CUPROBE_STATE_ACTIVE && p->active_probes && p->ledger_ns < info->end_ns;
}

static void ledger_row(struct table *t, const struct process *p, unsigned int probe)
{
	const struct ledger *l = &p->ledgers[probe];

	table_number(t, l->library.produced);
	table_number(t, l->library.fired);
	table_number(t, l->delivered);
	table_number(t, ledger_lost(l));
	table_number(t, l->library.lost);
	table_number(t, l->library.discarded);
	table_number(t, l->library.invalid + l->refused);
	table_number(t, l->library.pending);
	table_number(t, p->pid);
	table_text(t, probe_name(probe));
}

static int print_ledger_table(struct model *m, const struct summary_opts *opts,
			      struct totals *totals)
{
	static const struct table_column columns[] = {
		{"Produced", "produced", TABLE_COUNT},
		{"Fired", "fired", TABLE_COUNT},
		{"Delivered", "delivered", TABLE_COUNT},
		{"Lost on the way", "lost_on_the_way", TABLE_COUNT},
		{"Lost in process", "lost_in_process", TABLE_COUNT},
		{"Discarded", "discarded", TABLE_COUNT},
		{"Invalid", "invalid", TABLE_COUNT},
		{"Pending", "pending", TABLE_COUNT},
		{"PID", "pid", TABLE_COUNT},
		{"Probe", "probe", TABLE_TEXT},
		{NULL, NULL, TABLE_TEXT},
	};
	struct table *t = table_new("Records, from the process to here", "ledger", columns);
	size_t rows = 0;

	for (const struct process *p = model_processes(m); p; p = p->next) {
		if (!summary_wants(opts, (pid_t)p->pid))
			continue;
		totals->processes++;
		totals->cupti += process_cupti_dropped(p);
		totals->silent += !opts->ends_early && process_left_silently(p, opts->info);
		for (unsigned int probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
			totals_add(totals, &p->ledgers[probe]);
			if (ledger_is_empty(&p->ledgers[probe]))
				continue;
			ledger_row(t, p, probe);
			rows++;
		}
	}
	return summary_print_table(t, opts, rows);
}

static int print_messages(struct model *m, const struct summary_opts *opts)
{
	static const char *const severities[] = {"?", "error", "warning", "note"};
	static const struct table_column columns[] = {
		{"PID", "pid", TABLE_COUNT},
		{"", "severity", TABLE_TEXT},
		{"Times", "count", TABLE_COUNT},
		{"Code", "code", TABLE_TEXT},
		{"What to do", "remedy", TABLE_TEXT},
		{"What happened", "text", TABLE_TEXT},
		{NULL, NULL, TABLE_TEXT},
	};
	struct table *t = table_new("Messages of the processes", "messages", columns);
	char code[16];
	size_t rows = 0;

	for (const struct process *p = model_processes(m); p; p = p->next) {
		if (!summary_wants(opts, (pid_t)p->pid))
			continue;
		for (const struct process_message *i = process_messages(p); i; i = i->next) {
			table_number(t, p->pid);
			table_text(t,
				   severities[i->message.severity < 4 ? i->message.severity : 0]);
			table_number(t, i->count);
			snprintf(code, sizeof(code), "%d", i->message.code);
			table_text(t, code);
			table_text(t, process_message_remedy(p, i));
			table_text(t, process_message_text(p, i));
			rows++;
		}
	}
	return summary_print_table(t, opts, rows);
}

static void print_loss(FILE *out, __u64 count, const char *where)
{
	if (count)
		fprintf(out, "  %llu %s\n", count, where);
}

static void print_left_out(FILE *out, __u64 count, const char *what)
{
	if (count)
		fprintf(out, "Left out: %llu %s\n", count, what);
}

static void print_verdict(const struct totals *t, const struct summary_opts *opts)
{
	__u64 lost = t->ring + t->missed + t->library + t->cupti;
	FILE *out = opts->out;

	if (opts->ends_early) {
		fputs("\nThe capture ", out);
		print_clean(out, opts->ends_early, strlen(opts->ends_early));
		fputs(": shown is what came before.\n", out);
	}
	if (t->silent)
		fprintf(out,
			"\nKilled, or left with _exit: %llu of the processes. Their last records, "
			"up "
			"to %d ms, may be missing.\n",
			t->silent, FLUSH_MS);
	if (lost)
		fprintf(out, "\n%llu of %llu records were lost:\n", lost, lost + t->delivered);
	else if (!t->processes)
		fputs("\nNo process has sent anything.\n", out);
	else if (t->silent)
		fprintf(out, "\nNothing else was lost: %llu records delivered.\n", t->delivered);
	else
		fprintf(out, "\nNothing was lost: %llu records delivered.\n", t->delivered);
	print_loss(out, t->ring,
		   "because the ring buffer was full: record fewer kinds (--kinds), or give"
		   " cuprobe more CPU time");
	print_loss(out, t->missed, "between the process and cuprobe, not delivered by the probe");
	print_loss(out, t->library,
		   "in the process, which had no free buffer: give it more (CUPROBE_POOL_MB)");
	print_loss(out, t->cupti, "in CUPTI itself");
	print_left_out(out, t->invalid, "records with impossible times or fields");
	print_left_out(out, t->malformed, "malformed batches");
	print_left_out(out, t->unknown, "records of kinds that the library does not know");
}

int summary_print_ledger(struct model *m, const struct summary_opts *opts)
{
	struct totals totals = {0};
	int err = print_messages(m, opts);

	if (!err)
		err = print_ledger_table(m, opts, &totals);
	if (err)
		return err;
	if (!opts->json) {
		print_verdict(&totals, opts);
		return 0;
	}
	fprintf(opts->out,
		",\n\"totals\":{\"delivered\":%llu,\"lost_ring\":%llu,\"lost_probe\":%llu,"
		"\"lost_in_process\":%llu,\"lost_in_cupti\":%llu,\"invalid\":%llu,"
		"\"malformed_batches\":%llu,\"unknown\":%llu,\"silent_processes\":%llu}",
		totals.delivered, totals.ring, totals.missed, totals.library, totals.cupti,
		totals.invalid, totals.malformed, totals.unknown, totals.silent);
	return 0;
}
