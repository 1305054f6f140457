/* SPDX-License-Identifier: Apache-2.0 */
/* cuprobe stat: the summary, and no file. */
#include <stddef.h>

#include "src/collector/options.h"
#include "src/collector/recording.h"
#include "src/collector/verbs.h"

static const struct verb_options stat_options = {
	.usage = "stat [OPTION...] [--] CMD [ARGUMENT...]\n"
		 "       cuprobe stat [OPTION...] -p PID[,PID...]\n"
		 "       cuprobe stat [OPTION...] -a",
	.about = "Sums up what CUDA processes do, and prints tables at the end: with CMD or the\n"
		 "processes, after -d SECONDS, or with ^C. With CMD, the exit status is CMD's.",
	.examples = "    cuprobe stat -- ./program\n"
		    "    cuprobe stat -p 4711 -d 10\n"
		    "    cuprobe stat --json -d 60 -a > summary.json\n",
	.accepts = "pakGdjmqRLv",
	.command = true,
};

int verb_stat(int argc, char **argv)
{
	struct options o;
	int status;

	if (options_parse(&o, &stat_options, argc, argv, &status)) {
		status = options_check_target(&o, "stat");
		if (!status)
			status = recording_run(&o, NULL);
	}
	options_free(&o);
	return status;
}
