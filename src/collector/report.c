/* SPDX-License-Identifier: Apache-2.0 */
/* cuprobe report: the tables of a capture. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/destination.h"
#include "src/collector/error.h"
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
		    "    cuprobe report --json cuprobe.cup | jq '.kernels[0]'\n",
	.accepts = "pKojmq",
};

static int report_print(struct view *v, struct stats *s)
{
	const struct options *o = v->options;
	struct destination out;
	struct summary_opts opts = {
		.json = o->json,
		.width = o->output ? 0 : terminal_width(STDOUT_FILENO),
		.info = &v->info,
		.ends_early = view_ends_early(v),
		.probes = o->probes,
		.pids = o->pids,
		.pid_count = o->pid_count,
	};
	int err = destination_open(&out, o->output), close_err;

	if (err)
		return fail("cannot write '%s': %s", o->output, strerror(-err));
	opts.out = out.file;
	err = stats_finish(s);
	if (!err)
		err = summary_print(s, v->model, &opts);
	close_err = destination_close(&out, !err);
	err = err ? err : close_err;
	return err ? fail("cannot print the tables of '%s': %s", v->path, strerror(-err))
		   : STATUS_OK;
}

int verb_report(int argc, char **argv)
{
	struct stats *s = NULL;
	struct options o;
	struct view v;
	int status;

	if (!options_parse(&o, &report_options, argc, argv, &status))
		goto out_options;
	status = view_open(&v, &o);
	if (!status && stats_open(&s, v.model, o.mangled))
		status = fail("cannot sum up '%s': out of memory", v.path);
	if (!status) {
		v.sink = (struct event_sink){stats_event, s};
		status = view_play(&v);
	}
	if (!status)
		status = report_print(&v, s);
	stats_free(s);
	view_close(&v);
out_options:
	options_free(&o);
	return status;
}
