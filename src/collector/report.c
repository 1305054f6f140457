/* SPDX-License-Identifier: Apache-2.0 */
/* cuprobe report: the tables of a capture. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/destination.h"
#include "src/collector/error.h"
#include "src/collector/nvtx_report.h"
#include "src/collector/options.h"
#include "src/collector/stats.h"
#include "src/collector/summary.h"
#include "src/collector/verbs.h"
#include "src/collector/view.h"

static const struct verb_options report_options = {
	.usage = "report [OPTION...] FILE",
	.about = "Prints tables of a capture: kernels, copies, API calls, synchronisation, the "
		 "busy\n"
		 "share of each device, and whether anything was lost.",
	.examples = "    cuprobe report cuprobe.cup\n"
		    "    cuprobe report --kinds=kernel,memcpy -p 4711 cuprobe.cup\n"
		    "    cuprobe report --nvtx cuprobe.cup\n"
		    "    cuprobe report --json cuprobe.cup | jq '.kernels[0]'\n",
	.accepts = "pKnojmq",
};

struct report {
	struct stats *stats;
	struct nvtx_report *nvtx; /* NULL unless asked for */
};

static int report_event(void *report, const struct event *e)
{
	struct report *r = report;
	int err = stats_event(r->stats, e);

	return err || !r->nvtx ? err : nvtx_report_event(r->nvtx, e);
}

static int report_finish(struct report *r, const struct view *v)
{
	int err = stats_finish(r->stats);

	return err || !r->nvtx ? err : nvtx_report_finish(r->nvtx, v->info.end_ns);
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
		.probes = o->nvtx ? 0 : o->probes,
		.pids = o->pids,
		.pid_count = o->pid_count,
		.nvtx = r->nvtx,
	};
	int err = destination_open(&out, o->output), close_err;

	if (err)
		return fail("cannot write '%s': %s", o->output, strerror(-err));
	opts.out = out.file;
	err = report_finish(r, v);
	if (!err)
		err = summary_print(r->stats, v->model, &opts);
	close_err = destination_close(&out, !err);
	err = err ? err : close_err;
	return err ? fail("cannot print the tables of '%s': %s", v->path, strerror(-err))
		   : STATUS_OK;
}

int verb_report(int argc, char **argv)
{
	struct report r = {0};
	struct options o;
	struct view v;
	int status;

	if (!options_parse(&o, &report_options, argc, argv, &status))
		goto out_options;
	status = view_open(&v, &o);
	if (!status &&
	    (stats_open(&r.stats, v.model, o.mangled) || (o.nvtx && nvtx_report_open(&r.nvtx))))
		status = fail("cannot sum up '%s': out of memory", v.path);
	if (!status) {
		v.sink = (struct event_sink){report_event, &r};
		status = view_play(&v);
	}
	if (!status)
		status = report_print(&v, &r);
	nvtx_report_free(r.nvtx);
	stats_free(r.stats);
	view_close(&v);
out_options:
	options_free(&o);
	return status;
}
