/* SPDX-License-Identifier: Apache-2.0 */
/* cuprobe report: the tables of a capture. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/destination.h"
#include "src/collector/error.h"
#include "src/collector/model.h"
#include "src/collector/nvtx_report.h"
#include "src/collector/options.h"
#include "src/collector/profile.h"
#include "src/collector/sass.h"
#include "src/collector/sources.h"
#include "src/collector/stacks_report.h"
#include "src/collector/stalls.h"
#include "src/collector/stalls_report.h"

#include "src/collector/stats.h"
#include "src/collector/summary.h"
#include "src/collector/verbs.h"
#include "src/collector/view.h"

static const struct verb_options report_options = {
	.usage = "report [OPTION...] FILE",
	.about = "Prints tables of a capture: kernels, copies, API calls, synchronisation, the "
		 "busy\n"
		 "share of each device, and whether anything was lost; of PC samples, why kernels\n"
		 "wait, and at which lines of source.",
	.examples = "    cuprobe report cuprobe.cup\n"
		    "    cuprobe report --kinds=kernel,memcpy -p 4711 cuprobe.cup\n"
		    "    cuprobe report --nvtx cuprobe.cup\n"
		    "    cuprobe report --stacks cuprobe.cup\n"
		    "    cuprobe report --stalls --lines cuprobe.cup\n"
		    "    cuprobe report --source=kernels.cu cuprobe.cup\n"
		    "    cuprobe report --html -o stalls.html cuprobe.cup\n"
		    "    cuprobe report --json cuprobe.cup | jq '.kernels[0]'\n",
	.accepts = "pKnstlcwojmq",
};

struct report {
	const struct options *options;
	struct stats *stats;
	struct nvtx_report *nvtx; /* NULL unless asked for, like the next three */
	struct stacks_report *stacks;
	struct stalls *stalls;
	struct sass *sass;
	struct sources sources;
};

static bool wants_stalls(const struct options *o)
{
	return o->stalls || o->lines || o->source || o->html;
}

/* The table of kernels is in every report of a recording with samples. */
static bool has_samples(const struct view *v)
{
	const __u32 bit = 1u << CUPROBE_PROBE_pc_sample;

	return v->info.fired & v->options->probes & bit && !v->options->nvtx &&
	       !v->options->by_stack;
}

static int report_event(void *report, const struct event *e)
{
	struct report *r = report;
	int err = stats_event(r->stats, e);

	if (!err && r->nvtx)
		err = nvtx_report_event(r->nvtx, e);
	if (!err && r->stacks)
		err = stacks_report_event(r->stacks, e);
	return err || !r->stalls ? err : stalls_event(r->stalls, e);
}

static int report_open(struct report *r, const struct view *v)
{
	const struct options *o = v->options;
	const struct profile_opts profile = {
		.model = v->model, .mangled = o->mangled, .native = v->info.native_stacks};
	int err = stats_open(&r->stats, v->model, o->mangled);

	r->options = o;
	if (!err && o->nvtx)
		err = nvtx_report_open(&r->nvtx);
	if (!err && o->by_stack)
		err = stacks_report_open(&r->stacks, &profile);

	if (!err && (wants_stalls(o) || has_samples(v)))
		err = stalls_open(&r->stalls, o->mangled);
	if (!err && r->stalls)
		err = sass_open(&r->sass, model_cubins(v->model));
	return err;
}

static void report_free(struct report *r)
{
	sources_free(&r->sources);
	sass_free(r->sass);
	stalls_free(r->stalls);
	stacks_report_free(r->stacks);
	nvtx_report_free(r->nvtx);

	stats_free(r->stats);
}

static int report_finish(struct report *r, const struct view *v)
{
	int err = stats_finish(r->stats);

	if (!err && r->nvtx)
		err = nvtx_report_finish(r->nvtx, v->info.end_ns);
	return err || !r->stalls ? err : stalls_finish(r->stalls, model_cubins(v->model));
}

static int report_more(void *report, const struct summary_opts *opts)
{
	struct report *r = report;
	int err = r->stacks ? stacks_report_print(r->stacks, opts) : 0;

	if (!err && r->stalls)
		err = stalls_print_kernels(r->stalls, opts);
	if (!err && r->options->lines)
		err = stalls_print_lines(r->stalls, &r->sources, r->sass, opts);
	return err;
}

static int report_write(struct report *r, const struct view *v, const struct summary_opts *opts)
{
	const struct options *o = v->options;
	int err = report_finish(r, v);

	if (err)
		return err;
	if (o->html)
		return stalls_print_html(r->stalls, &r->sources, r->sass, v->path, opts->out);
	if (o->source)
		return stalls_print_source(r->stalls, &r->sources, o->source, opts->out);
	return summary_print(r->stats, v->model, opts);
}

static int report_failed(const struct view *v, int err)
{
	if (err == -ENOENT && v->options->source)
		return fail("no PC sample of '%s' is in a line of '%s': see `cuprobe report"
			    " --lines` for the files",
			    v->path, v->options->source);
	return fail("cannot print the tables of '%s': %s", v->path, strerror(-err));
}

static int report_print(struct view *v, struct report *r)
{
	const struct options *o = v->options;
	struct destination out;
	struct summary_opts opts = {
		.json = o->json,
		.width = o->output ? 0 : terminal_width(STDOUT_FILENO),
		.info = &v->info,
		.ends_early = view_ends_early(v),
		.probes = o->nvtx || o->by_stack || wants_stalls(o) ? 0 : o->probes,
		.pids = o->pids,
		.pid_count = o->pid_count,
		.nvtx = r->nvtx,
		.more = report_more,
		.arg = r,
	};
	int err, close_err, status = view_check_output(v, o->output);

	if (status)
		return status;
	err = destination_open(&out, o->output);
	if (err)
		return fail("cannot write '%s': %s", o->output, strerror(-err));
	opts.out = out.file;
	err = report_write(r, v, &opts);
	close_err = destination_close(&out, !err);
	if (err)
		return report_failed(v, err);
	if (close_err)
		return fail(o->output ? "cannot write '%s': %s" : "cannot write to %s: %s",
			    o->output ? o->output : "the standard output", strerror(-close_err));
	return STATUS_OK;
}

static int report_check(const struct options *o)
{
	if (o->json + o->html + (o->source != NULL) > 1)
		return fail_usage("give only one of --json, --html and --source");
	return 0;
}

int verb_report(int argc, char **argv)
{
	struct report r = {0};
	struct options o;
	struct view v;
	int status;

	if (!options_parse(&o, &report_options, argc, argv, &status))
		goto out_options;
	status = report_check(&o);
	if (status)
		goto out_options;
	status = view_open(&v, &o);
	if (!status && report_open(&r, &v))
		status = fail("cannot sum up '%s': out of memory", v.path);
	if (!status) {
		v.sink = (struct event_sink){report_event, &r};
		v.also = o.by_stack ? PROFILE_CAUSES : 0;
		status = view_play(&v);
	}
	if (!status)
		status = report_print(&v, &r);
	report_free(&r);
	view_close(&v);
out_options:
	options_free(&o);
	return status;
}
