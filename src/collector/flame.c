/* SPDX-License-Identifier: Apache-2.0 */
/* cuprobe flame: GPU time by the CPU stacks that it comes from, as a picture to look around in. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/error.h"
#include "src/collector/gone.h"
#include "src/collector/model.h"
#include "src/collector/options.h"
#include "src/collector/output/flame.h"
#include "src/collector/profile.h"
#include "src/collector/tree.h"
#include "src/collector/unfold.h"
#include "src/collector/verbs.h"
#include "src/collector/view.h"

static const struct verb_options flame_options = {
	.usage = "flame [OPTION...] FILE",
	.about =
		"Draws a flame graph of a capture: the time of GPU work by the CPU stacks that it\n"
		"was launched from, down to the kernel. One file, an SVG image or an HTML page, "
		"to\n"
		"zoom (click), search (type) and reset (Escape) in; called like the capture with "
		"the\n"
		"suffix .svg, unless -o says otherwise.",
	.examples = "    cuprobe flame cuprobe.cup                       # cuprobe.svg\n"
		    "    cuprobe flame -o run.html --by=stream cuprobe.cup\n"
		    "    cuprobe flame --by=nvtx cuprobe.cup             # under NVTX ranges\n"
		    "    cuprobe flame --reverse cuprobe.cup             # kernels first\n"
		    "    cuprobe flame --diff=before.cup after.cup       # red: more, blue: less\n",
	.accepts = "obrDgpKmq",
};

struct flame {
	const struct options *options;
	struct unfold unfold;
	struct tree tree;
	struct profile_totals totals;
	char title[512], subtitle[PROFILE_TOTALS_TEXT];
	char *gone;
};

static int flame_event_of(void *profile, const struct event *e)
{
	return profile_event(profile, e);
}

static int flame_add_sample(struct flame *f, const struct profile *p, const struct sample *s,
			    bool other)
{
	const struct tree_weight weight = {
		.gpu_ns = other ? 0 : s->gpu_ns,
		.other_ns = other ? s->gpu_ns : 0,
		.works = other ? 0 : s->works,
	};
	int err = unfold_sample(&f->unfold, p, s, f->options->by, f->options->reverse);

	return err ? err : tree_add(&f->tree, f->unfold.path, f->unfold.count, &weight);
}

static int flame_add(struct flame *f, struct profile *p, bool other)
{
	int err = profile_finish(p);

	for (const struct sample *s = profile_samples(p); s && !err; s = s->next)
		err = flame_add_sample(f, p, s, other);
	if (!other)
		f->totals = profile_totals(p);
	return err;
}

/* Adds a capture, which `o` names. The exit status. */
static int flame_read(struct flame *f, const struct options *o, bool other)
{
	struct profile *p = NULL;
	struct view v;
	int status = view_open(&v, o);
	const struct profile_opts opts = {
		.model = v.model,
		.inside = true,
		.mangled = o->mangled,
		.native = v.info.native_stacks,
		.nvtx = o->by == UNFOLD_BY_NVTX,
		.capture = o->graph_stacks_capture,
	};

	if (!status && profile_open(&p, &opts))
		status = fail("cannot sum up '%s': out of memory", v.path);
	if (!status) {
		v.sink = (struct event_sink){flame_event_of, p};
		v.also = PROFILE_CAUSES;
		status = view_play(&v);
	}
	if (v.sink_err || (!status && flame_add(f, p, other)))
		status = fail("cannot sum up '%s': out of memory", v.path);
	if (!status && view_ends_early(&v))
		fprintf(stderr, "cuprobe: '%s' %s: shown is what came before\n", v.path,
			view_ends_early(&v));
	profile_free(p);
	view_close(&v);
	return status;
}

static int flame_describe(struct flame *f)
{
	const struct options *o = f->options;

	snprintf(f->title, sizeof(f->title), "GPU time by CPU stack: %.200s%s%.200s", o->args[0],
		 o->diff ? ", compared with " : "", o->diff ? o->diff : "");
	profile_totals_text(f->subtitle, &f->totals);
	f->gone = o->diff ? gone_describe(&f->tree, o->diff) : strdup("");
	return f->gone ? 0 : -ENOMEM;
}

static bool ends_in(const char *text, const char *end)
{
	size_t bytes = strlen(text), n = strlen(end);

	return bytes > n && !strcmp(text + bytes - n, end);
}

/* "dir/x.cup" becomes "dir/x.svg"; to be freed. */
static char *name_picture(const struct options *o)
{
	const char *path = o->args[0];
	size_t bytes = strlen(path);
	char *name;

	if (o->output)
		return strdup(o->output);
	if (ends_in(path, ".cup"))
		bytes -= 4;
	return asprintf(&name, "%.*s.svg", (int)bytes, path) < 0 ? NULL : name;
}

static int flame_draw(struct flame *f, const char *path)
{
	const struct flame_opts opts = {
		.path = path,
		.title = f->title,
		.subtitle = f->subtitle,
		.gone = f->gone,
		.html = ends_in(path, ".html") || ends_in(path, ".htm"),
		.diff = f->options->diff,
	};
	int err = tree_sort(&f->tree);

	return err ? err : flame_write(&f->tree, &opts);
}

static void flame_tell(const struct flame *f, const char *path)
{
	fprintf(stderr, "cuprobe: %s\n", f->subtitle);
	if (*f->gone)
		fprintf(stderr, "cuprobe: %s\n", f->gone);
	if (strcmp(path, "-") != 0)
		fprintf(stderr, "cuprobe: wrote '%s'\n", path);
}

static int flame_print(struct flame *f)
{
	char *path = name_picture(f->options);
	int err = path ? flame_describe(f) : -ENOMEM;

	if (!err)
		err = flame_draw(f, path);
	if (!err && !f->options->quiet)
		flame_tell(f, path);
	if (err)
		fail("cannot write '%s': %s", path ? path : "the picture", strerror(-err));
	free(path);
	return err ? STATUS_FAILED : STATUS_OK;
}

static int flame_check(const struct options *o)
{
	if (!o->output || !strcmp(o->output, "-") || ends_in(o->output, ".svg") ||
	    ends_in(o->output, ".html") || ends_in(o->output, ".htm"))
		return 0;
	return fail_usage("neither an image nor a page: '%s': give a name in .svg or .html",
			  o->output);
}

int verb_flame(int argc, char **argv)
{
	struct options o, other;
	struct flame f = {.options = &o};
	char *other_args[] = {NULL, NULL};
	int status;

	if (!options_parse(&o, &flame_options, argc, argv, &status))
		goto out;
	status = flame_check(&o);
	if (!status)
		status = flame_read(&f, &o, false);
	if (!status && o.diff) {
		other = o;
		other_args[0] = (char *)o.diff;
		other.args = other_args;
		status = flame_read(&f, &other, true);
	}
	if (!status)
		status = flame_print(&f);
	free(f.gone);
	tree_free(&f.tree);
	unfold_free(&f.unfold);
out:
	options_free(&o);
	return status;
}
