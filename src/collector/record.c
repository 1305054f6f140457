/* SPDX-License-Identifier: Apache-2.0 */
/* cuprobe record: writes a capture, and prints its summary at the end. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/collector/error.h"
#include "src/collector/options.h"
#include "src/collector/recording.h"
#include "src/collector/verbs.h"

static const struct verb_options record_options = {
	.usage = "record [OPTION...] [--] CMD [ARGUMENT...]\n"
		 "       cuprobe record [OPTION...] -p PID[,PID...]\n"
		 "       cuprobe record [OPTION...] -a",
	.about = "Writes what CUDA processes do to a capture, and prints a summary at the end. "
		 "Ends\n"
		 "with CMD or the processes, after -d SECONDS, or with ^C; a second ^C ends at "
		 "once.\n"
		 "The capture is called FILE.partial while it is being written, and can be read.\n"
		 "With CMD, the exit status is CMD's.",
	.examples =
		"    cuprobe record -- python3 train.py         # from the start, with "
		"descendants\n"
		"    cuprobe record -p 4711 -d 10               # ten seconds of a running "
		"process\n"
		"    cuprobe record -a -o all.cup               # everything, until ^C\n"
		"    cuprobe record --graphs=node -- ./decode   # the kernels inside of CUDA "
		"graphs\n"
		"    cuprobe record --kinds=kernel -p 4711      # kernels only: less to collect\n"
		"    cuprobe record --stacks=native -- ./decode # no frames of Python\n",
	.accepts = "pakGSdojmqRLv",
	.command = true,
};

/* The last part of the command's path, or the process id, so that files can be told apart. */
static void name_subject(const struct options *o, char *subject, size_t size)
{
	const char *slash;

	if (o->all) {
		snprintf(subject, size, "all");
	} else if (o->pid_count) {
		snprintf(subject, size, "%d", o->pids[0]);
	} else {
		slash = strrchr(o->args[0], '/');
		snprintf(subject, size, "%.64s", slash ? slash + 1 : o->args[0]);
	}
}

static void name_capture(const struct options *o, char *path, size_t size)
{
	char subject[72], moment[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	name_subject(o, subject, sizeof(subject));
	if (localtime_r(&now, &tm))
		strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", &tm);
	snprintf(path, size, "cuprobe-%s-%s.cup", subject, moment);
}

int verb_record(int argc, char **argv)
{
	struct options o;
	char path[128];
	int status;

	if (!options_parse(&o, &record_options, argc, argv, &status))
		goto out;
	status = options_check_target(&o, "record");
	if (status)
		goto out;
	if (!o.output)
		name_capture(&o, path, sizeof(path));
	status = recording_run(&o, o.output ? o.output : path);
out:
	options_free(&o);
	return status;
}
