/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of reading become words here; a capture that ends early is still shown. */
#include "src/collector/view.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "src/collector/cubins.h"
#include "src/collector/error.h"
#include "src/collector/model.h"
#include "src/collector/options.h"
#include "src/collector/procinfo.h"
#include "src/collector/symbols.h"
#include "src/collector/verbs.h"

static int view_fail(const char *path, int err)
{
	switch (err) {
	case -EBADMSG:
		return fail("cannot read '%s': it is not a cuprobe capture", path);
	case -EPROTONOSUPPORT:
		return fail("cannot read '%s': it was made by a newer cuprobe: use that one, or a"
			    " later",
			    path);
	case -ENODATA:
		return fail("cannot read '%s': it ends before anything was recorded", path);
	default:
		return fail("cannot read '%s': %s", path, strerror(-err));
	}
}

static bool view_wants_pid(const struct view *v, __u32 pid)
{
	const struct options *o = v->options;

	for (unsigned int i = 0; i < o->pid_count; i++) {
		if ((__u32)o->pids[i] == pid)
			return true;
	}
	return !o->pid_count;
}

static int view_event(void *arg, const struct event *e)
{
	struct view *v = arg;

	if (!((v->options->probes | v->also) & 1u << e->probe))
		return 0;
	v->sink_err = v->sink.event(v->sink.arg, e);
	return v->sink_err;
}

static int view_batch(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct view *v = arg;
	struct event_sink sink = {view_event, v};

	if (!view_wants_pid(v, h->pid))
		return 0;
	return decode_batch(v->model, h, data, &sink);
}

static int view_process(void *arg, const char *json, size_t bytes)
{
	struct view *v = arg;

	if (!view_wants_pid(v, procinfo_pid(json, bytes)))
		return 0;
	return procinfo_apply(v->model, json, bytes);
}

static int view_losses(void *arg, const struct cuprobe_loss_key *key,
		       const struct cuprobe_loss *loss)
{
	struct view *v = arg;

	return view_wants_pid(v, key->pid) ? model_losses(v->model, key, loss) : 0;
}

static int view_cubin(void *arg, __u64 crc, const void *image, size_t bytes)
{
	struct view *v = arg;
	int err = cubins_add(model_cubins(v->model), crc, image, bytes);

	return err == -ENOSPC ? 0 : err;
}

static int view_symbols(void *arg, const char *json, size_t bytes)
{
	struct view *v = arg;

	if (!view_wants_pid(v, symbols_pid(json, bytes)))
		return 0;
	return symbols_apply(v->model, json, bytes);
}

static int view_progress(void *arg, __u64 position, __u64 size)
{
	struct view *v = arg;

	if (progress_due(&v->progress, 200) && size)
		progress_line(&v->progress, "reading '%s': %llu %%", v->path,
			      100 * position / size);
	return 0;
}

int view_open(struct view *v, const struct options *options)
{
	int err;

	*v = (struct view){.options = options};
	if (options->arg_count != 1)
		return fail_usage(options->arg_count ? "give one capture only: '%s' is too many"
						     : "give the capture to read%s",
				  options->arg_count ? options->args[1] : "");
	v->path = options->args[0];
	progress_init(&v->progress, options->quiet);
	err = capture_open(&v->reader, v->path, &v->info);
	if (err)
		return view_fail(v->path, err);
	err = model_open(&v->model);
	return err ? view_fail(v->path, err) : 0;
}

int view_play(struct view *v)
{
	const struct capture_handler handler = {
		.batch = view_batch,
		.process = view_process,
		.losses = view_losses,
		.cubin = view_cubin,
		.symbols = view_symbols,
		.progress = view_progress,
		.arg = v,
	};
	int err = capture_read(v->reader, &handler, &v->info);

	progress_done(&v->progress);
	if (v->sink_err)
		return STATUS_FAILED;
	return err && err != -ENODATA ? view_fail(v->path, err) : 0;
}

int view_check_output(const struct view *v, const char *path)
{
	struct stat input, output;

	if (!path || stat(v->path, &input) || stat(path, &output) || !S_ISREG(output.st_mode) ||
	    input.st_dev != output.st_dev || input.st_ino != output.st_ino)
		return 0;
	return fail_usage("'%s' is the capture that is read: give another name with -o", path);
}

const char *view_ends_early(const struct view *v)
{
	const char *trouble = capture_trouble(v->reader);

	return *trouble ? trouble : NULL;
}

void view_close(struct view *v)
{
	progress_done(&v->progress);
	capture_free(v->reader);
	model_free(v->model);
}
