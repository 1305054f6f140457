/* SPDX-License-Identifier: Apache-2.0 */
/* cuprobe trace: events as they happen. What is lost is told on stderr when it is noticed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/decode.h"
#include "src/collector/error.h"
#include "src/collector/live.h"
#include "src/collector/model.h"
#include "src/collector/options.h"
#include "src/collector/sink.h"
#include "src/collector/verbs.h"

static const struct verb_options trace_options = {
	.usage = "trace [OPTION...] [--] CMD [ARGUMENT...]\n"
		 "       cuprobe trace [OPTION...] -p PID[,PID...]\n"
		 "       cuprobe trace [OPTION...] -a",
	.about =
		"Prints what CUDA processes do while they do it, one line an event: seconds since\n"
		"the start, pid, place (g0:7 is stream 7 of GPU 0, t4711 a thread), kind,\n"
		"duration, name and details. Events come when they have ended, in no strict\n"
		"order. With --json, one object a line, with every field and with times in\n"
		"nanoseconds of CLOCK_MONOTONIC.",
	.examples = "    cuprobe trace -p 4711\n"
		    "    cuprobe trace --kinds=kernel,memcpy -d 5 -- ./program\n"
		    "    cuprobe trace --json -a | jq 'select(.end_ns - .start_ns > 1e6)'\n",
	.accepts = "pakGdjmqRLv",
	.command = true,
};

/* What has been told of a process. */
struct told {
	const struct process_message *message; /* the last one */
	__u64 lost[CUPROBE_PROBE_COUNT];
	__u64 lost_in_library[CUPROBE_PROBE_COUNT];
	bool library_known[CUPROBE_PROBE_COUNT];
};

struct trace {
	const struct options *options;
	struct model *model;
	struct live *live;
	const struct sink_ops *ops;
	struct sink *sink;
	struct told *told; /* by the number of the process */
	unsigned int told_count;
	int write_err;
};

static int trace_event(void *arg, const struct event *e)
{
	struct trace *t = arg;

	/* Processes that somebody else attached to as well fire more than was asked for. */
	if (!(t->options->probes & 1u << e->probe))
		return 0;
	t->write_err = t->ops->event(t->sink, e);
	return t->write_err;
}

static int trace_batch(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct trace *t = arg;
	const struct event_sink sink = {trace_event, t};

	return decode_batch(t->model, h, data, &sink);
}

static struct told *told_of(struct trace *t, const struct process *p)
{
	unsigned int count = p->number + 16;
	struct told *larger;

	if (p->number < t->told_count)
		return &t->told[p->number];
	larger = realloc(t->told, count * sizeof(*larger));
	if (!larger)
		return NULL;
	memset(larger + t->told_count, 0, (count - t->told_count) * sizeof(*larger));
	t->told = larger;
	t->told_count = count;
	return &t->told[p->number];
}

static void tell_loss(const struct process *p, struct told *told, unsigned int probe)
{
	const struct ledger *l = &p->ledgers[probe];
	__u64 lost = ledger_lost(l), in_library = l->library.lost;

	if (lost > told->lost[probe])
		fprintf(stderr, "cuprobe: lost on the way: %llu %s records of process %u\n",
			lost - told->lost[probe], probe_name(probe), p->pid);
	told->lost[probe] = lost;
	/* The library counts since the process began: the first figure is not of our time. */
	if (told->library_known[probe] && in_library > told->lost_in_library[probe])
		fprintf(stderr, "cuprobe: lost in the process: %llu %s records of process %u\n",
			in_library - told->lost_in_library[probe], probe_name(probe), p->pid);
	told->lost_in_library[probe] = in_library;
	told->library_known[probe] = l->library_known;
}

static void tell_messages(const struct process *p, struct told *told)
{
	const struct process_message *m = told->message ? told->message->next : process_messages(p);

	for (; m; m = m->next) {
		const char *remedy = process_message_remedy(p, m);

		fprintf(stderr, "cuprobe: process %u: %s%s%s\n", p->pid, process_message_text(p, m),
			*remedy ? ": " : "", remedy);
		told->message = m;
	}
}

static int trace_tick(void *arg)
{
	struct trace *t = arg;

	t->write_err = t->ops->flush(t->sink);
	for (struct process *p = model_processes(t->model); p && !t->write_err; p = p->next) {
		struct told *told = told_of(t, p);

		if (!told)
			return -ENOMEM;
		for (unsigned int probe = 0; probe < CUPROBE_PROBE_COUNT; probe++)
			tell_loss(p, told, probe);
		if (!t->options->quiet)
			tell_messages(p, told);
	}
	return t->write_err;
}

static int trace_open(struct trace *t)
{
	struct sink_opts opts = {.path = "-", .mangled = t->options->mangled};
	int status, err;

	if (model_open(&t->model))
		return fail("cannot trace: out of memory");
	status = live_open(&t->live, t->options, t->model);
	if (status)
		return status;
	opts.info = live_info(t->live);
	opts.model = t->model;
	t->ops = t->options->json ? &sink_jsonl : &sink_text;
	err = t->ops->open(&t->sink, &opts);
	return err ? fail("cannot write to the standard output: %s", strerror(-err)) : 0;
}

static int trace_run(struct trace *t)
{
	const struct live_handler handler = {
		.batch = trace_batch,
		.tick = trace_tick,
		.arg = t,
	};
	int status = live_run(t->live, &handler);

	if (!status) /* what the last batches and the BPF program's counters told */
		trace_tick(t);
	if (t->write_err) {
		error_clear();
		status = fail("cannot write to the standard output: %s", strerror(-t->write_err));
	}
	return status ? status : live_wait(t->live);
}

int verb_trace(int argc, char **argv)
{
	struct options o;
	struct trace t = {.options = &o};
	int status;

	if (options_parse(&o, &trace_options, argc, argv, &status)) {
		status = options_check_target(&o, "trace");
		if (!status)
			status = trace_open(&t);
		if (!status)
			status = trace_run(&t);
	}
	if (t.sink)
		t.ops->close(t.sink, true);
	live_free(t.live);
	model_free(t.model);
	free(t.told);
	options_free(&o);
	return status;
}
