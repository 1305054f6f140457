/* SPDX-License-Identifier: Apache-2.0 */
/* The command `cuprobe`: finds the verb, and prints the one final error. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "src/collector/error.h"
#include "src/collector/verbs.h"

struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct verb verbs[] = {
	{"record", verb_record, "write a capture, and print the summary at the end"},
	{"stat", verb_stat, "print the summary only"},
	{"trace", verb_trace, "print events as they happen, one a line"},
	{"report", verb_report, "print the summary of a capture"},
	{"export", verb_export, "turn a capture into a Chrome trace, CSV, ..."},
	{"flame", verb_flame, "draw a flame graph: GPU time by the CPU stacks it comes from"},
	{"list", verb_list, "list CUDA processes, and which can be traced"},
	{"doctor", verb_doctor, "say what works on this machine, and what to do"},
	{NULL, NULL, NULL},
};

static const struct verb *verb_find(const char *name)
{
	for (const struct verb *v = verbs; v->name; v++) {
		if (!strcmp(v->name, name))
			return v;
	}
	return NULL;
}

static void print_help(FILE *out)
{
	fputs("Usage: cuprobe VERB [OPTION...]\n"
	      "Makes CUDA processes observable: what ran on the GPU, when, and who asked for "
	      "it.\n\n",
	      out);
	for (const struct verb *v = verbs; v->name; v++)
		fprintf(out, "  %-8s %s\n", v->name, v->help);
	fputs("  help     print the help of a verb: cuprobe help VERB\n\n"
	      "EXAMPLES:\n"
	      "    cuprobe stat -- ./program        # summary of a program's GPU work\n"
	      "    cuprobe record -p 4711 -d 10     # ten seconds of a running process\n"
	      "    cuprobe export -f chrome -o trace.json.gz cuprobe.cup\n\n"
	      "A program can be traced when it was started with CUDA_INJECTION64_PATH naming\n"
	      "libcuprobe.so; `cuprobe doctor` and `cuprobe list` say what is missing.\n",
	      out);
}

static int run(int argc, char **argv)
{
	const struct verb *v;

	if (argc < 2) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("cuprobe " CUPROBE_VERSION);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		print_help(stdout);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "help")) {
		static char help[] = "--help";
		char *help_argv[] = {argv[2], help, NULL};

		v = verb_find(argv[2]);
		return v ? v->run(2, help_argv)
			 : fail_usage("unknown verb: '%s': see `cuprobe --help`", argv[2]);
	}
	v = verb_find(argv[1]);
	if (!v)
		return fail_usage("unknown verb: '%s': see `cuprobe --help`", argv[1]);
	return v->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status;

	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error like a full disk */
	status = run(argc, argv);

	if (fflush(stdout) || ferror(stdout))
		status = fail("cannot write to the standard output: %m");
	if (error_text())
		fprintf(stderr, "cuprobe: %s\n", error_text());
	return status;
}
