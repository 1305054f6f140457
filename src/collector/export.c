/* SPDX-License-Identifier: Apache-2.0 */
/* cuprobe export: a capture in another format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/error.h"
#include "src/collector/model.h"
#include "src/collector/options.h"
#include "src/collector/sink.h"
#include "src/collector/verbs.h"
#include "src/collector/view.h"

static const struct verb_options export_options = {
	.usage = "export -f FORMAT [OPTION...] FILE",
	.about = "Turns a capture into a file for other tools:\n"
		 "  chrome  Chrome trace (JSON, as Kineto's) for Perfetto UI, chrome://tracing, "
		 "HTA\n"
		 "  csv     one line an event, for spreadsheets and data frames\n"
		 "  folded  stacks with their GPU time, for flame graph tools and speedscope\n"
		 "  pprof   the same for `go tool pprof` and Parca, with launches, addresses, "
		 "lines\n"
		 "  text    one aligned line an event, as `cuprobe trace` prints it\n"
		 "  jsonl   one JSON object an event and line\n"
		 "The output is called like the capture with the suffix of the format, unless -o\n"
		 "says otherwise; - is the standard output, and a name in .gz is compressed.",
	.examples = "    cuprobe export -f chrome cuprobe.cup\n"
		    "    cuprobe export -f chrome -o trace.json.gz cuprobe.cup\n"
		    "    cuprobe export -f csv -o - --kinds=kernel cuprobe.cup | head\n",
	.accepts = "fopKmq",
};

static int find_format(const struct options *o, const struct sink_ops **ret)
{
	if (!o->format)
		return fail_usage("give a format with -f: see `cuprobe export --help`");
	*ret = sink_find(o->format);
	return *ret ? 0
		    : fail_usage("unknown format: '%s': see `cuprobe export --help`", o->format);
}

/* "dir/x.cup" and ".json" become "dir/x.json"; to be freed. */
static char *name_output(const struct options *o, const char *suffix)
{
	const char *path = o->args[0];
	size_t bytes = strlen(path);
	char *name;

	if (o->output)
		return strdup(o->output);
	if (bytes > 4 && !strcmp(path + bytes - 4, ".cup"))
		bytes -= 4;
	return asprintf(&name, "%.*s%s", (int)bytes, path, suffix) < 0 ? NULL : name;
}

struct exporter {
	const struct sink_ops *ops;
	struct sink *sink;
};

static int export_event(void *arg, const struct event *e)
{
	const struct exporter *x = arg;

	return x->ops->event(x->sink, e);
}

static int export_play(struct view *v, const struct sink_ops *ops, const char *path)
{
	const struct sink_opts opts = {
		.path = path,
		.info = &v->info,
		.model = v->model,
		.mangled = v->options->mangled,
		.remarks = v->options->quiet ? NULL : stderr,
	};
	struct exporter x = {.ops = ops};
	int status, err = ops->open(&x.sink, &opts);

	if (err)
		return fail("cannot write '%s': %s", path, strerror(-err));
	v->sink = (struct event_sink){export_event, &x};
	v->also = ops->also;
	status = view_play(v);
	err = ops->close(x.sink, !status);
	err = v->sink_err ? v->sink_err : err;
	return err ? fail("cannot write '%s': %s", path, strerror(-err)) : status;
}

static int export_view(const struct options *o, const struct sink_ops *ops)
{
	struct view v;
	char *path = NULL;
	int status = view_open(&v, o);

	if (!status) {
		path = name_output(o, ops->suffix);
		status = path ? view_check_output(&v, path) : fail("cannot export: out of memory");
		if (!status)
			status = export_play(&v, ops, path);
	}
	if (!status && view_ends_early(&v))
		fprintf(stderr, "cuprobe: '%s' %s: exported is what came before\n", v.path,
			view_ends_early(&v));
	if (!status && model_lost(v.model))
		fprintf(stderr,
			"cuprobe: %llu records were lost while '%s' was recorded: see"
			" `cuprobe report`\n",
			model_lost(v.model), v.path);
	if (!status && !o->quiet && strcmp(path, "-") != 0)
		fprintf(stderr, "cuprobe: wrote '%s'\n", path);
	free(path);
	view_close(&v);
	return status;
}

int verb_export(int argc, char **argv)
{
	const struct sink_ops *ops;
	struct options o;
	int status;

	if (options_parse(&o, &export_options, argc, argv, &status)) {
		status = find_format(&o, &ops);
		if (!status)
			status = export_view(&o, ops);
	}
	options_free(&o);
	return status;
}
