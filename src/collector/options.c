/* SPDX-License-Identifier: Apache-2.0 */
/* A verb names the options that it takes by letter; everything else about them is here. */
#include "src/collector/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/error.h"
#include "src/collector/event.h"
#include "src/collector/unfold.h"
#include "src/collector/verbs.h"

#define DEFAULT_KINDS                                                                              \
	(1u << CUPROBE_PROBE_kernel | 1u << CUPROBE_PROBE_graph | 1u << CUPROBE_PROBE_memcpy |     \
	 1u << CUPROBE_PROBE_memset | 1u << CUPROBE_PROBE_sync | 1u << CUPROBE_PROBE_api |         \
	 1u << CUPROBE_PROBE_overhead | 1u << CUPROBE_PROBE_nvtx)
#define STACKS (1u << CUPROBE_PROBE_launch | 1u << CUPROBE_PROBE_stack)
#define ALL_KINDS ((1u << CUPROBE_PROBE_COUNT) - 1)
#define ALWAYS (1u << CUPROBE_PROBE_string | 1u << CUPROBE_PROBE_info | 1u << CUPROBE_PROBE_status)

struct option_line {
	char letter;
	const char *name, *argument, *help;
};

static const struct option_line lines[] = {
	{'p', "pid", "PID[,PID...]", "these processes"},
	{'a', "all", NULL, "all processes that have the library"},
	{'R', "as-root", NULL, "under sudo: run CMD as root, not as the user who called"},
	{'L', "library", "FILE", "the libcuprobe.so to give to CMD"},
	{'v', "via", "WAY",
	 "auto (default): BPF, and for CMD, where BPF cannot\n"
	 "be had, the direct channel; bpf; direct"},
	{'k', "kinds", "LIST",
	 "kernel, graph, memcpy, memset, memory, sync, api,\n"
	 "unified_memory, overhead, nvtx, launch, stack,\n"
	 "module, pc_sample, or all; default:\n"
	 "kernel,graph,memcpy,memset,sync,api,overhead,nvtx"},
	{'K', "kinds", "LIST", "only these kinds of events, as in `cuprobe record`"},
	{'G', "graphs", "MODE",
	 "graph: one record for each launch of a CUDA graph\n"
	 "(default); node: one for each kernel and copy in it"},
	{'S', "stacks", "WHAT",
	 "the CPU stack of each launch: off, native, or python:\n"
	 "native with the frames of Python (default; with\n"
	 "--kinds, only if said)"},
	{'b', "by", "WHAT",
	 "what the first frames are: kernel (none, the\n"
	 "default), stream, device, thread, process, nvtx"},
	{'r', "reverse", NULL, "from the kernel to its callers"},
	{'D', "diff", "OTHER", "compare with this capture"},
	{'g', "graph-stacks", "WHERE",
	 "kernels in CUDA graphs: from the graph's launch\n"
	 "(default), or capture: from where each was captured"},
	{'d', "duration", "SECONDS", "stop after so long"},
	{'o', "output", "FILE", "write to FILE"},
	{'f', "format", "FORMAT", "format of the output"},
	{'j', "json", NULL, "print JSON instead of tables"},
	{'s', "stacks", NULL, "GPU time by the CPU stack it comes from, and nothing else"},
	{'n', "nvtx", NULL, "NVTX ranges and the GPU work inside, and no other kind"},
	{'t', "stalls", NULL, "kernels by PC samples and stall reasons, and no other table"},
	{'l', "lines", NULL, "source lines by PC samples, likewise"},
	{'c', "source", "FILE", "FILE's text with samples beside its lines"},
	{'w', "html", NULL, "kernels and lines as a page for a browser"},
	{'m', "mangled", NULL, "names as they are in the binary"},
	{'q', "quiet", NULL, "no progress, no messages but errors"},
	{'h', "help", NULL, "print this"},
};
#define LINES (sizeof(lines) / sizeof(*lines))

static bool line_accepted(const struct option_line *line, const struct verb_options *verb)
{
	return line->letter == 'h' || strchr(verb->accepts, line->letter);
}

static bool line_is_short(const struct option_line *line)
{
	return strchr("padofqh", line->letter) != NULL;
}

static void print_option(const struct option_line *line)
{
	char left[64];
	int bytes = 0;

	if (line_is_short(line))
		bytes = snprintf(left, sizeof(left), "-%c, ", line->letter);
	snprintf(left + bytes, sizeof(left) - (size_t)bytes, "--%s%s%s", line->name,
		 line->argument ? "=" : "", line->argument ? line->argument : "");
	printf("  %-26s ", left);
	for (const char *c = line->help; *c; c++) {
		putchar(*c);
		if (*c == '\n')
			printf("%29s", "");
	}
	putchar('\n');
}

static void print_help(const struct verb_options *verb)
{
	printf("Usage: cuprobe %s\n%s\n\n", verb->usage, verb->about);
	for (size_t i = 0; i < LINES; i++) {
		if (line_accepted(&lines[i], verb))
			print_option(&lines[i]);
	}
	printf("\nEXAMPLES:\n%s", verb->examples);
}

static int parse_pids(struct options *o, char *list)
{
	char *rest = NULL;

	for (char *item = strtok_r(list, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
		char *end;
		long pid = strtol(item, &end, 10);
		pid_t *larger;

		if (*end || pid <= 0 || pid > 1 << 22)
			return fail_usage("not a process id: '%s'", item);
		larger = realloc(o->pids, (o->pid_count + 1) * sizeof(*o->pids));
		if (!larger)
			return fail("cannot read the process ids: out of memory");
		o->pids = larger;
		o->pids[o->pid_count++] = (pid_t)pid;
	}
	return o->pid_count ? 0 : fail_usage("no process id given with -p");
}

static int parse_kinds(struct options *o, char *list)
{
	char *rest = NULL;

	o->probes = 0;
	for (char *item = strtok_r(list, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
		int probe = probe_number(item);

		if (!strcmp(item, "all"))
			o->probes |= ALL_KINDS;
		else if (probe < 0)
			return fail_usage("unknown kind: '%s': see --help for the kinds", item);
		else
			o->probes |= 1u << probe;
	}
	return 0;
}

static int parse_duration(struct options *o, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds > 0) || seconds > 1e9)
		return fail_usage("not a duration in seconds: '%s'", text);
	o->duration_ns = (__u64)(seconds * 1e9);
	return 0;
}

static int parse_graphs(const char *text, bool *ret_nodes)
{
	*ret_nodes = !strcmp(text, "node");
	if (!*ret_nodes && strcmp(text, "graph") != 0)
		return fail_usage("unknown mode of --graphs: '%s': it is graph or node", text);
	return 0;
}

static int parse_stacks(struct options *o, const char *text)
{
	static const char *const words[] = {
		[STACKS_OFF] = "off", [STACKS_NATIVE] = "native", [STACKS_PYTHON] = "python"};

	for (int i = STACKS_OFF; i <= STACKS_PYTHON; i++) {
		if (!strcmp(words[i], text)) {
			o->stacks = i;
			return 0;
		}
	}
	return fail_usage("unknown kind of stacks: '%s': it is off, native or python", text);
}

static int parse_by(struct options *o, const char *text)
{
	int by = unfold_by_name(text);

	if (by < 0)
		return fail_usage("unknown grouping: '%s': it is kernel, stream, device, thread,"
				  " process or nvtx",
				  text);
	o->by = by;
	return 0;
}

static int parse_graph_stacks(struct options *o, const char *text)
{
	o->graph_stacks_capture = !strcmp(text, "capture");
	if (!o->graph_stacks_capture && strcmp(text, "launch") != 0)
		return fail_usage("unknown stacks of graphs: '%s': it is launch or capture", text);
	return 0;
}

/* What --stacks adds to the kinds, or takes from them. */
static void apply_stacks(struct options *o)
{
	if (o->stacks == STACKS_OFF)
		o->probes &= ~(1u << CUPROBE_PROBE_stack);
	else if (o->stacks)
		o->probes |= STACKS;
}

static int parse_via(struct options *o, const char *text)
{
	static const char *const names[] = {
		[VIA_AUTO] = "auto", [VIA_BPF] = "bpf", [VIA_DIRECT] = "direct"};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			o->via = i;
			return 0;
		}
	}
	return fail_usage("unknown way of --via: '%s': it is auto, bpf or direct", text);
}

static int parse_option(struct options *o, int letter, bool *nodes)
{
	switch (letter) {
	case 'p':
		return parse_pids(o, optarg);
	case 'k':
	case 'K':
		return parse_kinds(o, optarg);
	case 'd':
		return parse_duration(o, optarg);
	case 'G':
		return parse_graphs(optarg, nodes);
	case 'S':
		return parse_stacks(o, optarg);
	case 'v':
		return parse_via(o, optarg);
	case 'b':
		return parse_by(o, optarg);
	case 'g':
		return parse_graph_stacks(o, optarg);
	case 'D':
		o->diff = optarg;
		return 0;
	case 's':
		o->by_stack = true;
		return 0;
	case 'r':
		o->reverse = true;
		return 0;

	case 'a':
		o->all = true;
		return 0;
	case 'R':
		o->as_root = true;
		return 0;
	case 'L':
		o->library = optarg;
		return 0;
	case 'o':
		o->output = optarg;
		return 0;
	case 'f':
		o->format = optarg;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case 'm':
		o->mangled = true;
		return 0;
	case 't':
		o->stalls = true;
		return 0;
	case 'l':
		o->lines = true;
		return 0;
	case 'c':
		o->source = optarg;
		return 0;
	case 'w':
		o->html = true;
		return 0;
	case 'n':
		o->nvtx = true;
		return 0;
	default:
		o->quiet = true;
		return 0;
	}
}

/* What getopt_long wants; both arrays have room for the whole table. */
static void make_getopt(const struct verb_options *verb, struct option *longs, char *shorts)
{
	if (verb->command)
		*shorts++ = '+';
	*shorts++ = ':';
	for (size_t i = 0; i < LINES; i++) {
		if (!line_accepted(&lines[i], verb))
			continue;
		*longs++ = (struct option){lines[i].name,
					   lines[i].argument ? required_argument : no_argument,
					   NULL, lines[i].letter};
		if (!line_is_short(&lines[i]))
			continue;
		*shorts++ = lines[i].letter;
		if (lines[i].argument)
			*shorts++ = ':';
	}
	*longs = (struct option){0};
	*shorts = '\0';
}

bool options_parse(struct options *o, const struct verb_options *verb, int argc, char **argv,
		   int *ret_status)
{
	struct option longs[LINES + 1];
	char shorts[2 * LINES + 3];
	bool nodes = false;
	int letter;

	*o = (struct options){.probes = strchr(verb->accepts, 'k') ? DEFAULT_KINDS : ALL_KINDS};
	if (strchr(verb->accepts, 'S'))
		o->probes |= STACKS;
	*ret_status = STATUS_OK;
	make_getopt(verb, longs, shorts);
	opterr = 0;
	optind = 0;
	while (!*ret_status && (letter = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (letter == 'h') {
			print_help(verb);
			return false;
		}
		if (letter == '?')
			*ret_status = fail_usage("unknown option: '%s': see `cuprobe %s --help`",
						 argv[optind - 1], argv[0]);
		else if (letter == ':')
			*ret_status = fail_usage("option needs a value: '%s'", argv[optind - 1]);
		else
			*ret_status = parse_option(o, letter, &nodes);
	}
	apply_stacks(o);
	if (nodes)
		o->probes &= ~(1u << CUPROBE_PROBE_graph);
	if (o->probes & 1u << CUPROBE_PROBE_pc_sample) /* without the code samples mean little */
		o->probes |= 1u << CUPROBE_PROBE_module;
	o->probes |= ALWAYS;
	o->args = argv + optind;
	o->arg_count = (unsigned int)(argc - optind);
	return !*ret_status;
}

void options_free(struct options *o)
{
	free(o->pids);
}

int options_check_target(const struct options *o, const char *verb)
{
	int given = (o->pid_count > 0) + o->all + (o->arg_count > 0);

	if (given == 1 && o->via == VIA_DIRECT && !o->arg_count)
		return fail_usage("--via=direct is for a command: processes that run already, and"
				  " -a, need BPF");
	if (given == 1)
		return 0;
	if (given)
		return fail_usage("give only one of -p PID, -a and a command");
	return fail_usage("nothing to trace: give -p PID, -a or a command: see `cuprobe %s --help`",
			  verb);
}
