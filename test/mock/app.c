/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program whose behaviour is chosen by its arguments, linked as any CUDA program would be.
 */
#include "test/mock/app.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mock_truth_write(void) __attribute__((weak));

static const struct app_mode modes[] = {
	{"loop", "launch kernels (or graphs) from threads, copy, wait", NULL, loop_run},
	{"soak", "a million kernel records a second, through graphs", NULL, soak_run},
	{"llm", "-n tokens of a language model, eager and then through a CUDA graph", llm_kernels,
	 llm_run},
	{"all", "every kind of call, -n times", NULL, all_run},
	{"modules", "load a module, launch from it, unload it, -n times", NULL, modules_run},
	{"fork-before", "fork, then both processes use CUDA", NULL, fork_before_run},
	{"fork-after", "use CUDA, fork, the child leaves with _exit", NULL, fork_after_run},
	{"fork-after-exit", "use CUDA, fork, the child leaves with exit", NULL,
	 fork_after_exit_run},
	{"fork-exec", "use CUDA, fork, the child executes this program", NULL, fork_exec_run},
	{"fork-workers", "use CUDA while forked workers live, as data loaders do", NULL,
	 fork_workers_run},
	{"exit-handler", "launch in an exit handler", NULL, exit_handler_run},
	{"exit-static", "launch in a static destructor", NULL, exit_static_run},
	{"exit-quick", "leave with _exit", NULL, exit_quick_run},
	{"exit-thread", "another thread calls exit", NULL, exit_thread_run},
	{"exit-busy", "main returns while threads launch", NULL, exit_busy_run},
	{"exit-main-thread", "main leaves with pthread_exit, another thread with exit", NULL,
	 exit_main_thread_run},
	{"exit-signal", "die of SIGTERM", NULL, exit_signal_run},
	{"no-cuda", "make no CUDA call at all, for -d seconds", NULL, no_cuda_run},
	{"rival", "profile itself with CUPTI after -d seconds, as torch.profiler does", NULL,
	 rival_run},
};

static const char *const api_names[APP_APIS + 1] = {
	[APP_RUNTIME] = "runtime",     [APP_RUNTIME_13] = "runtime13",
	[APP_RUNTIME_EX] = "ex",       [APP_COOPERATIVE] = "cooperative",
	[APP_RUNTIME_PTSZ] = "ptsz",   [APP_DRIVER] = "driver",
	[APP_DRIVER_EX] = "driver-ex", [APP_DRIVER_PTSZ] = "driver-ptsz",
	[APP_APIS] = "mixed",
};

volatile sig_atomic_t app_ending;

struct arguments {
	struct app_options options;
	const struct app_mode *mode;
};

enum {
	KEY_GRAPH = 256,
	KEY_COPY,
	KEY_COPY_BYTES,
	KEY_SYNC,
	KEY_API,
	KEY_NAME,
	KEY_NAME_BYTES,
	KEY_CUBIN,
	KEY_HOSTILE
};

static const struct argp_option options[] = {
	{"count", 'n', "N", 0, "launches of each thread", 0},
	{"seconds", 'd', "SECONDS", 0, "stop after this time", 0},
	{"rate", 'r', "N", 0, "launches a second of each thread (default: unlimited)", 0},
	{"threads", 't', "N", 0, "threads that launch (1)", 0},
	{"streams", 's', "N", 0, "streams of each thread (1)", 0},
	{"devices", 'g', "N", 0, "devices to spread the threads over (1)", 0},
	{"kernels", 'k', "N", 0, "different kernels (as many as there are names)", 0},
	{"graph", KEY_GRAPH, "NODES", 0, "launch graphs of so many kernels", 0},
	{"copy-every", KEY_COPY, "N", 0, "copy and memset after every N launches", 0},
	{"copy-bytes", KEY_COPY_BYTES, "N", 0, "bytes of a copy (1 MiB)", 0},
	{"sync-every", KEY_SYNC, "N", 0, "wait for the stream after every N launches", 0},
	{"api", KEY_API, "API", 0,
	 "runtime, runtime13, ex, cooperative, ptsz, driver, driver-ex, driver-ptsz or mixed", 0},
	{"cubin", KEY_CUBIN, "FILE", 0, "launch the kernels in FILE", 0},
	{"name", KEY_NAME, "NAME", 0, "name of the kernels", 0},
	{"name-bytes", KEY_NAME_BYTES, "N", 0, "fill kernel names up to N bytes", 0},
	{"hostile-names", KEY_HOSTILE, NULL, 0, "name the kernels so that careless outputs break",
	 0},
	{"quiet", 'q', NULL, 0, "do not print the rate", 0},
	{0},
};

void app_check(const char *what, int error)
{
	if (!error)
		return;
	fprintf(stderr, "mock_app: %s: %s (%d)\n", what, cudaGetErrorName((cudaError_t)error),
		error);
	exit(1);
}

void app_write_truth(void)
{
	if (mock_truth_write)
		mock_truth_write();
}

static double parse_number(struct argp_state *state, const char *text, double least)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || value < least)
		argp_error(state, "'%s' is not a number of at least %g", text, least);
	return value;
}

static enum app_api parse_api(struct argp_state *state, const char *text)
{
	for (unsigned int i = 0; i <= APP_APIS; i++) {
		if (!strcmp(text, api_names[i]))
			return (enum app_api)i;
	}
	argp_error(state, "there is no API '%s'", text);
	return APP_RUNTIME;
}

static const struct app_mode *parse_mode(struct argp_state *state, const char *text)
{
	for (unsigned int i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (!strcmp(text, modes[i].name))
			return &modes[i];
	}
	argp_error(state, "there is no mode '%s'", text);
	return NULL;
}

static bool parse_load(struct app_options *o, int key, const char *arg, struct argp_state *state)
{
	switch (key) {
	case 'n':
		o->count = (uint64_t)parse_number(state, arg, 1);
		return true;
	case 'd':
		o->seconds = parse_number(state, arg, 0);
		return true;
	case 'r':
		o->rate = parse_number(state, arg, 0);
		return true;
	case KEY_COPY_BYTES:
		o->copy_bytes = (size_t)parse_number(state, arg, 1);
		return true;
	case KEY_NAME_BYTES:
		o->name_bytes = (size_t)parse_number(state, arg, 1);
		return true;
	default:
		return false;
	}
}

/* Where the option's count goes; NULL for options that are no count. */
static unsigned int *option_count(struct app_options *o, int key)
{
	switch (key) {
	case 't':
		return &o->threads;
	case 's':
		return &o->streams;
	case 'g':
		return &o->devices;
	case 'k':
		return &o->kernels;
	case KEY_GRAPH:
		return &o->graph_nodes;
	case KEY_COPY:
		return &o->copy_every;
	case KEY_SYNC:
		return &o->sync_every;
	default:
		return NULL;
	}
}

static void end_soon(int signal)
{
	(void)signal;
	app_ending = 1;
}

static void parse_end(struct arguments *arguments, struct argp_state *state)
{
	struct app_options *o = &arguments->options;

	if (!arguments->mode)
		argp_error(state, "say which mode");
	if (!o->count && o->seconds <= 0)
		o->count = 1000;
	if (o->streams > 64)
		argp_error(state, "at most 64 streams a thread");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct app_options *o = &arguments->options;
	unsigned int *count = option_count(o, key);

	if (count)
		*count = (unsigned int)parse_number(state, arg, 1);
	else if (key == KEY_API)
		o->api = parse_api(state, arg);
	else if (key == KEY_NAME)
		o->name = arg;
	else if (key == KEY_HOSTILE)
		o->hostile = true;
	else if (key == KEY_CUBIN)
		o->cubin = arg;
	else if (key == 'q')
		o->quiet = true;
	else if (key == ARGP_KEY_ARG && !arguments->mode)
		arguments->mode = parse_mode(state, arg);
	else if (key == ARGP_KEY_ARG)
		argp_error(state, "one mode is enough");
	else if (key == ARGP_KEY_END)
		parse_end(arguments, state);
	else if (!parse_load(o, key, arg, state))
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static char *help_filter(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t bytes;
	FILE *file;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	file = open_memstream(&help, &bytes);
	fputs("Modes:\n", file);
	for (unsigned int i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		fprintf(file, "  %-18s %s\n", modes[i].name, modes[i].help);
	fclose(file);
	return help;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "MODE",
		.doc = "A CUDA program that does what it is told.\v",
		.help_filter = help_filter,
	};
	struct arguments arguments = {
		.options = {.threads = 1, .streams = 1, .devices = 1, .copy_bytes = 1 << 20}};

	signal(SIGUSR1, end_soon);
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	kernels_register(&arguments.options, arguments.mode->kernels);
	return arguments.mode->run(&arguments.options);
}
