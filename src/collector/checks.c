// SPDX-License-Identifier: Apache-2.0
/* The kernel, the privileges, and our own parts. What lacks for BPF leaves the direct channel. */
#include "src/collector/checks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "src/collector/child.h"
#include "src/collector/features.h"
#include "src/collector/library.h"
#include "src/collector/program.h"
#include "src/collector/session.h"
#include "src/collector/source.h"

void check_found(struct check *c, enum check_state state, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->found, sizeof(c->found), format, args);
	va_end(args);
	c->state = state;
}

void check_remedy(struct check *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->remedy, sizeof(c->remedy), format, args);
	va_end(args);
}

static void check_kernel(struct check *c)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	check_found(c, CHECK_OK, "%s", name.release);
	if (major < 5 || (major == 5 && minor < 15)) {
		c->state = CHECK_WARN;
		check_remedy(c, "use Linux 5.15 or later");
	}
}

static void check_privileges(struct check *c)
{
	check_found(c, CHECK_OK, "may trace");
	if (!feature_privileged()) {
		check_found(c, CHECK_WARN,
			    "neither root nor CAP_BPF and CAP_PERFMON: only what cuprobe starts "
			    "(`-- CMD`) can be traced");
		check_remedy(c, "for other programs: try again with sudo");
	}
}

static void check_paranoia(struct check *c)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 0;

	if (!file || fscanf(file, "%d", &level) != 1)
		check_found(c, CHECK_WARN, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	else
		check_found(c, CHECK_OK, "perf_event_paranoid is %d, which does not bind %s", level,
			    feature_privileged() ? "us" : "those who may trace");
	if (file)
		fclose(file);
}

static void check_bpf(struct check *c)
{
	check_found(c, CHECK_OK, "there");
	if (!feature_bpf()) {
		check_found(c, CHECK_WARN, "the kernel has no BPF");
		check_remedy(c, "use a kernel with CONFIG_BPF_SYSCALL");
	}
}

static void check_btf(struct check *c)
{
	check_found(c, CHECK_OK, "/sys/kernel/btf/vmlinux");
	if (!feature_btf()) {
		check_found(c, CHECK_WARN, "the kernel does not tell its types");
		check_remedy(c, "use a kernel with CONFIG_DEBUG_INFO_BTF, and mount sysfs");
	}
}

static void check_uprobes(struct check *c)
{
	check_found(c, CHECK_OK, "there, with semaphores");
	if (!feature_uprobes()) {
		check_found(c, CHECK_WARN, "the kernel has no uprobes with semaphores");
		check_remedy(c, "use a kernel with CONFIG_UPROBE_EVENTS, and mount sysfs");
	}
}

static bool form_loads(enum program_form form, struct program *program, int *ret_err)
{
	const struct program_opts opts = {.form = form, .ring_bytes = 1 << 16};

	*program = (struct program){0};
	*ret_err = program_load(program, &opts);
	return !*ret_err;
}

/* What an optional form of the program is good for, and what is so without it. */
static void check_form(struct check *c, enum program_form form, const char *good, const char *bad)
{
	struct program program;
	int err;

	if (form_loads(form, &program, &err))
		check_found(c, CHECK_OK, "%s", good);
	else if (err == -EPERM || err == -EACCES)
		check_found(c, CHECK_WARN, "cannot be tried without privilege");
	else
		check_found(c, CHECK_WARN, "not there (%s): %s", strerror(-err), bad);
	program_free(&program);
}

static void check_sleepable(struct check *c)
{
	check_form(c, PROGRAM_SLEEPABLE, "bring memory in that is not resident",
		   "a batch whose memory was swapped out is lost, and counted; Linux 6.0 has them");
}

static void check_dynptr(struct check *c)
{
	check_form(c, PROGRAM_DYNPTR, "copies the exact size",
		   "batches take up to twice their size in the ring; Linux 6.16 has it");
}

static void check_program(struct check *c)
{
	struct program program;
	int err;

	if (form_loads(PROGRAM_BEST, &program, &err)) {
		check_found(c, CHECK_OK, "loads in its form '%s', %s",
			    program_form_name(program.form),
			    program.multi ? "one link for all probes"
					  : "a perf event for each probe: detaching takes about a "
					    "second; Linux 6.10 has better");
	} else {
		check_found(c, CHECK_WARN, "does not load: %s", strerror(-err));
		features_explain(err, c->remedy, sizeof(c->remedy));
	}
	program_free(&program);
}

static void check_limits(struct check *c)
{
	struct rlimit files, memory;

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_MEMLOCK, &memory);
	check_found(c, CHECK_OK, "%llu open files; %llu KiB of locked memory, not used for BPF",
		    (unsigned long long)files.rlim_max, (unsigned long long)memory.rlim_cur / 1024);
	if (files.rlim_max < 4096) {
		c->state = CHECK_WARN;
		check_remedy(c, "for many processes or containers: ulimit -n 65536");
	}
}

static void check_pid_namespace(struct check *c)
{
	check_found(c, CHECK_OK, "the machine's own");
	if (!feature_initial_pid_namespace()) {
		check_found(c, CHECK_WARN,
			    "we are in a container: process ids are not the machine's");
		check_remedy(c, "start the container with --pid=host, or run cuprobe outside");
	}
}

static void check_direct(struct check *c)
{
	const struct source_handler handler = {0};
	const struct session_opts opts = {0};
	struct child_opts child = {.as_root = true};
	struct source *source;
	int err = source_direct.open(&source, &opts, &handler, c->remedy, sizeof(c->remedy));

	check_found(c, CHECK_OK, "there: `-- CMD` works without privilege and without BPF");
	if (!err) {
		err = source_direct.add_command(source, &child, c->remedy, sizeof(c->remedy));
		source_direct.free(source);
	}
	if (err)
		check_found(c, CHECK_FAIL, "not there: %s", strerror(-err));
}

static void check_library(struct check *c)
{
	struct library_copy copy = {.fd = -1};
	char path[PATH_MAX];

	if (library_find(path, NULL, c->remedy, sizeof(c->remedy))) {
		check_found(c, CHECK_FAIL, "libcuprobe.so is not where we look for it");
		return;
	}
	check_found(c, CHECK_OK, "%.400s", path);
	if (library_copy_make(&copy, path, c->remedy, sizeof(c->remedy)))
		check_found(c, CHECK_FAIL, "no place for the copy that a run of `-- CMD` makes");
	library_copy_remove(&copy);
}

static const struct {
	const char *name;
	void (*run)(struct check *c);
} checks[] = {
	{"kernel", check_kernel},
	{"privileges", check_privileges},
	{"perf events", check_paranoia},
	{"BPF", check_bpf},
	{"kernel types (BTF)", check_btf},
	{"uprobes", check_uprobes},
	{"sleepable uprobes", check_sleepable},
	{"dynptr copy", check_dynptr},
	{"BPF program", check_program},
	{"limits", check_limits},
	{"process ids", check_pid_namespace},
	{"direct channel", check_direct},
	{"libcuprobe", check_library},
	{"NVIDIA driver", check_driver},
	{"libcuda", check_libcuda},
	{"libcupti", check_libcupti},
	{"profiling rights", check_restriction},
};

bool check_run(unsigned int index, struct check *ret)
{
	if (index >= sizeof(checks) / sizeof(checks[0]))
		return false;
	*ret = (struct check){.name = checks[index].name};
	checks[index].run(ret);
	return true;
}
