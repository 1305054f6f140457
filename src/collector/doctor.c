// SPDX-License-Identifier: Apache-2.0
/* cuprobe doctor: what works on this machine, what does not, and what to do. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/checks.h"
#include "src/collector/error.h"
#include "src/collector/json.h"
#include "src/collector/options.h"
#include "src/collector/verbs.h"

static const struct verb_options doctor_options = {
	.usage = "doctor [OPTION...]",
	.about = "Tries what tracing needs, and says what to do where something is missing. The "
		 "exit\n"
		 "status is 1 when programs cannot be traced here.",
	.examples = "    sudo cuprobe doctor\n"
		    "    sudo cuprobe doctor --json | jq '.checks[] | select(.state != \"ok\")'\n",
	.accepts = "j",
};

static const char *const states[] = {
	[CHECK_OK] = "ok",
	[CHECK_WARN] = "warn",
	[CHECK_FAIL] = "fail",
};

static void print_check(const struct check *c)
{
	printf("%-5s %-20s %s\n", states[c->state], c->name, c->found);
	if (c->remedy[0])
		printf("%26s > %s\n", "", c->remedy);
}

static void print_check_json(const struct check *c, bool first)
{
	const char *const members[] = {"name", "state", "found", "remedy"};
	const char *const values[] = {c->name, states[c->state], c->found, c->remedy};

	printf("%s\n{", first ? "" : ",");
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		printf("%s\"%s\":", i ? "," : "", members[i]);
		json_write_string(stdout, values[i], strlen(values[i]));
	}
	putchar('}');
}

static int doctor_run(const struct options *o)
{
	struct check check;
	bool failed = false;

	if (o->arg_count)
		return fail_usage("doctor takes no argument: '%s'", o->args[0]);
	if (o->json)
		printf("{\"checks\":[");
	for (unsigned int i = 0; check_run(i, &check); i++) {
		failed = failed || check.state == CHECK_FAIL;
		if (o->json)
			print_check_json(&check, !i);
		else
			print_check(&check);
	}
	if (o->json)
		printf("\n],\"ok\":%s}\n", failed ? "false" : "true");
	return failed ? STATUS_FAILED : STATUS_OK;
}

int verb_doctor(int argc, char **argv)
{
	struct options o;
	int status;

	if (options_parse(&o, &doctor_options, argc, argv, &status))
		status = doctor_run(&o);
	options_free(&o);
	return status;
}
