/* SPDX-License-Identifier: Apache-2.0 */
/* Every batch goes two ways: as it is into the capture, and decoded into the sums. */
#include "src/collector/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/capture.h"
#include "src/collector/code.h"
#include "src/collector/cubins.h"
#include "src/collector/debuginfod.h"
#include "src/collector/decode.h"
#include "src/collector/destination.h"
#include "src/collector/error.h"
#include "src/collector/live.h"
#include "src/collector/map.h"
#include "src/collector/model.h"
#include "src/collector/options.h"
#include "src/collector/procs.h"
#include "src/collector/progress.h"
#include "src/collector/stalls.h"
#include "src/collector/stalls_report.h"
#include "src/collector/stats.h"
#include "src/collector/summary.h"
#include "src/collector/symbolizer.h"
#include "src/collector/verbs.h"

struct recording {
	const struct options *options;
	const char *path;
	struct model *model;
	struct stats *stats;
	struct live *live;
	struct capture_writer *capture; /* NULL: none is written */
	struct symbolizer *symbolizer;	/* NULL: no stacks come, or none are kept */
	struct progress progress;
	struct stalls *stalls; /* NULL: there are no PC samples */
	struct code code;      /* where those lie that could not be had */
	struct map cubins;     /* checksums of those that are in the capture */
	size_t cubin_bytes;
	int write_err;
	__u64 bytes; /* of the finished capture */
};

static int recording_cubin(void *arg, __u64 crc, const void *image, size_t bytes)
{
	struct recording *r = arg;
	int err = map_insert(&r->cubins, crc, r);

	if (!err && r->stalls) /* for the lines in the summary */
		err = cubins_add(model_cubins(r->model), crc, image, bytes);
	if (err && err != -ENOSPC)
		return err;
	r->cubin_bytes += bytes;
	r->write_err = capture_cubin(r->capture, crc, image, bytes);
	return r->write_err;
}

/*
 * While the process lives its cubins can be had; what cannot be read is not told, since the report
 * says of which code it knows no source.
 */
static int recording_module(struct recording *r, const struct event *e)
{
	const struct cuprobe_module *module = e->module;
	void *image;
	int err;

	if (!r->capture || module->op != CUPROBE_MODULE_LOADED ||
	    map_find(&r->cubins, module->crc) || r->cubin_bytes + module->bytes > CUBINS_LARGEST ||
	    cubins_fetch((pid_t)e->process->pid, module, &image))
		return 0;
	err = recording_cubin(r, module->crc, image, module->bytes);
	free(image);
	return err;
}

static int recording_event(void *arg, const struct event *e)
{
	struct recording *r = arg;
	int err = stats_event(r->stats, e);

	if (!err && r->stalls)
		err = stalls_event(r->stalls, e);
	return err || e->probe != CUPROBE_PROBE_module ? err : recording_module(r, e);
}

static int recording_batch(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct recording *r = arg;
	const struct event_sink sink = {recording_event, r};

	if (r->capture) {
		r->write_err = capture_batch(r->capture, h, data);
		if (r->write_err)
			return r->write_err;
	}
	return decode_batch(r->model, h, data, &sink);
}

static int recording_process(void *arg, const char *json, size_t bytes)
{
	struct recording *r = arg;

	if (r->capture)
		r->write_err = capture_process(r->capture, json, bytes);
	if (r->stalls && !r->write_err && code_process(&r->code, json, bytes))
		return -ENOMEM;
	if (r->symbolizer && !r->write_err)
		return symbolizer_process(r->symbolizer, json, bytes);
	return r->write_err;
}

static int recording_losses(void *arg, const struct cuprobe_loss_key *key,
			    const struct cuprobe_loss *loss)
{
	struct recording *r = arg;

	if (r->capture)
		r->write_err = capture_losses(r->capture, key, loss, 1);
	return r->write_err;
}

static int recording_symbols(void *arg, const char *json, size_t bytes)
{
	struct recording *r = arg;

	r->write_err = capture_symbols(r->capture, json, bytes);
	return r->write_err;
}

static int recording_tick(void *arg)
{
	struct recording *r = arg;
	int err = r->symbolizer ? symbolizer_look(r->symbolizer) : 0;

	if (err)
		return err;
	if (!progress_due(&r->progress, 1000))
		return 0;
	if (r->capture)
		progress_line(&r->progress, "%llu events, %.1f MB written, %llu lost; ^C to stop",
			      stats_events(r->stats), (double)capture_bytes(r->capture) / 1e6,
			      model_lost(r->model));
	else
		progress_line(&r->progress, "%llu events, %llu lost; ^C to stop",
			      stats_events(r->stats), model_lost(r->model));
	return 0;
}

static int write_failed(const struct recording *r, int err)
{
	error_clear();
	if (err == -EEXIST)
		return fail("cannot write '%s': '%s%s' exists, from a recording that still runs or"
			    " was killed: read it with `cuprobe report`, or remove it",
			    r->path, r->path, CAPTURE_PARTIAL_SUFFIX);
	if (err == -ENOSPC)
		return fail("cannot write all of '%s': %s: what was recorded before is in it",
			    r->path, strerror(-err));
	return fail("cannot write '%s': %s", r->path, strerror(-err));
}

static int recording_open(struct recording *r)
{
	const struct symbolizer_handler symbols = {recording_symbols, r};
	int status, err;

	if (model_open(&r->model) || stats_open(&r->stats, r->model, r->options->mangled) ||
	    (r->options->probes & 1u << CUPROBE_PROBE_pc_sample &&
	     stalls_open(&r->stalls, r->options->mangled)))
		return fail("cannot record: out of memory");
	status = live_open(&r->live, r->options, r->model);
	if (status || !r->path)
		return status;
	err = capture_create(&r->capture, r->path, live_info(r->live));
	if (err)
		return write_failed(r, err);
	if (r->options->probes & 1u << CUPROBE_PROBE_stack &&
	    symbolizer_open(&r->symbolizer, r->model, &symbols))
		return fail("cannot record: no thread for the names in stacks");
	return 0;
}

/* Names for the stacks that came last; takes a moment where there are large libraries. */
static int recording_name_stacks(struct recording *r)
{
	int err;

	if (!r->symbolizer)
		return 0;
	progress_line(&r->progress, "looking up the names of functions");
	err = symbolizer_finish(r->symbolizer);
	return err && !r->write_err ? fail("cannot name functions: %s", strerror(-err)) : 0;
}

static int recording_close_capture(struct recording *r, int status)
{
	int err;

	if (!r->capture)
		return status;
	if (!status && r->stalls) {
		progress_line(&r->progress, "looking for the code of kernels");
		code_find(&r->code, r->stalls, &r->cubins, recording_cubin, r);
	}
	err = capture_close(r->capture, live_info(r->live), !status || r->write_err);
	r->capture = NULL;
	err = err ? err : r->write_err;
	return err ? write_failed(r, err) : status;
}

static bool has_answered(const struct recording *r, pid_t pid)
{
	const struct process *p = model_processes(r->model);

	while (p && (pid_t)p->pid != pid)
		p = p->next;
	return p;
}

/* The library tells its state to whoever comes, whether CUDA is used or not. */
static void tell_unanswered(const struct recording *r)
{
	for (unsigned int i = 0; i < r->options->pid_count; i++) {
		pid_t pid = r->options->pids[i];

		if (!has_answered(r, pid) && proc_thread(pid) > 0)
			fprintf(stderr,
				"cuprobe: process %d did not answer: is it stopped, or does it "
				"hang?\n",
				pid);
	}
}

static void tell(const struct recording *r)
{
	if (r->options->quiet)
		return;
	tell_unanswered(r);
	if (r->path)
		fprintf(stderr, "cuprobe: wrote '%s', %llu events\n", r->path,
			stats_events(r->stats));
	if (debuginfod_gave_up())
		fprintf(stderr,
			"cuprobe: debuginfod did not answer within %d s: names are those of the "
			"files"
			" that are here; is DEBUGINFOD_URLS right?\n",
			DEBUGINFOD_SECONDS_MOST);
	if (!stats_events(r->stats))
		fputs("cuprobe: no GPU activity was seen: see `cuprobe list` for which processes"
		      " can be traced, and `cuprobe doctor`\n",
		      stderr);
}

static int recording_stalls(void *stalls, const struct summary_opts *opts)
{
	return stalls_print_kernels(stalls, opts);
}

static int recording_print(struct recording *r)
{
	/* The capture has -o to itself. */
	const char *path = r->path ? NULL : r->options->output;
	struct destination out;
	struct summary_opts opts = {
		.json = r->options->json,
		.info = live_info(r->live),
		.probes = r->options->probes,
		.more = r->stalls ? recording_stalls : NULL,
		.arg = r->stalls,
	};
	int err = destination_open(&out, path), close_err;

	if (err)
		return fail("cannot write '%s': %s", path, strerror(-err));
	opts.out = out.file;
	opts.width = path ? 0 : terminal_width(STDOUT_FILENO);
	err = stats_finish(r->stats);
	if (!err && r->stalls)
		err = stalls_finish(r->stalls, model_cubins(r->model));
	if (!err)
		err = summary_print(r->stats, r->model, &opts);
	close_err = destination_close(&out, !err);
	err = err ? err : close_err;
	return err ? fail("cannot print the summary: %s", strerror(-err)) : 0;
}

int recording_run(const struct options *o, const char *path)
{
	struct recording r = {.options = o, .path = path};
	const struct live_handler handler = {recording_batch, recording_process, recording_losses,
					     recording_tick, &r};
	int status, command_status;

	progress_init(&r.progress, o->quiet);
	status = recording_open(&r);
	if (!status)
		status = live_run(r.live, &handler);
	if (!status)
		status = recording_name_stacks(&r);
	if (r.live)
		status = recording_close_capture(&r, status);
	progress_done(&r.progress);
	if (!status) {
		status = recording_print(&r);
		tell(&r);
	}
	if (r.live) {
		command_status = live_wait(r.live);
		status = status ? status : command_status;
	}
	symbolizer_free(r.symbolizer);
	live_free(r.live);
	map_clear(&r.cubins, NULL);
	stalls_free(r.stalls);
	code_free(&r.code);
	stats_free(r.stats);
	model_free(r.model);
	return status;
}
