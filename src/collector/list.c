// SPDX-License-Identifier: Apache-2.0
/* cuprobe list: CUDA processes, which can be traced, which are, and why the others cannot. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/error.h"
#include "src/collector/event.h"
#include "src/collector/inspect.h"
#include "src/collector/options.h"
#include "src/collector/procs.h"
#include "src/collector/progress.h"
#include "src/collector/table.h"
#include "src/collector/verbs.h"

static const struct verb_options list_options = {
	.usage = "list [OPTION...]",
	.about = "Lists the processes that use CUDA: which have libcuprobe.so and can be traced,\n"
		 "which of its probes have a consumer, and why it is missing from the others.",
	.examples = "    cuprobe list\n"
		    "    sudo cuprobe list --json | jq '.processes[] | select(.library == \"\")'\n",
	.accepts = "j",
};

static const struct table_column columns[] = {
	{"PID", "pid", TABLE_COUNT},	    {"User", "user", TABLE_TEXT},
	{"Command", "command", TABLE_TEXT}, {"Traced", "consumed", TABLE_TEXT},
	{"Library", "library", TABLE_TEXT}, {"Note", "note", TABLE_TEXT},
	{NULL, NULL, TABLE_TEXT},
};

struct listing {
	struct table *table;
	unsigned int hidden; /* processes that may not be looked at */
	unsigned int shown;
};

/* "kernel,memcpy"; "" for none. */
static void probes_text(char *text, size_t size, __u32 probes)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < CUPROBE_PROBE_COUNT && used < size; i++) {
		if (probes & 1U << i)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "",
						 probe_name(i));
	}
}

static void list_row(struct listing *l, const struct inspection *in)
{
	const struct passwd *pw = getpwuid(in->uid);
	char number[32], probes[256];

	snprintf(number, sizeof(number), "%u", in->uid);
	probes_text(probes, sizeof(probes), in->consumed);
	table_number(l->table, (__u64)in->pid);
	table_text(l->table, pw ? pw->pw_name : number);
	table_text(l->table, in->name);
	table_text(l->table, probes);
	table_text(l->table, in->library ? in->path : "");
	table_text(l->table, in->deleted ? "its file was deleted or replaced" : in->why);
	l->shown++;
}

static int list_process(void *arg, pid_t pid)
{
	struct listing *l = arg;
	struct inspection in;
	int ret = inspect_process(&in, pid);

	if (ret == 1)
		list_row(l, &in);
	else if (ret == -EACCES || ret == -EPERM)
		l->hidden++;
	return 0;
}

static int list_print(const struct listing *l, bool json)
{
	int err = 0;

	if (json) {
		putchar('{');
		err = table_print_json(l->table, stdout);
		printf(",\"hidden\":%u}\n", l->hidden);
	} else if (l->shown) {
		err = table_print(l->table, stdout, terminal_width(STDOUT_FILENO));
	} else {
		puts("No process uses CUDA.");
	}
	if (!json && l->hidden)
		fprintf(stderr,
			"cuprobe: %u processes of other users could not be looked at: "
			"try again with sudo\n",
			l->hidden);
	return err ? fail("cannot print the list: %s", strerror(-err)) : STATUS_OK;
}

static int list_run(const struct options *o)
{
	struct listing l = {.table = table_new("CUDA processes", "processes", columns)};
	int status, err;

	if (o->arg_count)
		return fail_usage("list takes no argument: '%s'", o->args[0]);
	if (!l.table)
		return fail("cannot list: out of memory");
	err = procs_each(list_process, &l);
	status = err ? fail("cannot read /proc: %s", strerror(-err)) : list_print(&l, o->json);
	table_free(l.table);
	return status;
}

int verb_list(int argc, char **argv)
{
	struct options o;
	int status;

	if (options_parse(&o, &list_options, argc, argv, &status))
		status = list_run(&o);
	options_free(&o);
	return status;
}
