/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, time and the end of a recording. */
#include "src/collector/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "src/collector/capture.h"
#include "src/collector/error.h"
#include "src/collector/model.h"
#include "src/collector/options.h"
#include "src/collector/procinfo.h"
#include "src/collector/progress.h"
#include "src/collector/session.h"

#define POLL_MS 50
#define GRACE_MS 1500		     /* for the last batches of processes that go on */
#define INTERRUPTED_NS 2000000000ull /* for the command to end after ^C, while still recorded */
#define DESCRIBE_NS 1000000000ull

struct live {
	const struct options *options;
	struct model *model;
	struct live_handler handler;
	struct session *session;
	struct session_info info;
	__u64 described_ns;
	bool started; /* the command was let go */
};

/* Set by the handler: the signal, and whether somebody sent it to us alone. */
static volatile sig_atomic_t caught, caught_alone;

/* The second of its kind finds the default action again: it ends us at once. */
static void catch (int signal, siginfo_t *info, void *context)
{
	(void)context;
	caught = signal;
	caught_alone = info->si_code <= 0;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESETHAND};

	action.sa_sigaction = catch;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static void info_command(struct session_info *info)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? 0 : read(fd, info->command, sizeof(info->command) - 1);

	for (ssize_t i = 0; i + 1 < bytes; i++)
		info->command[i] = info->command[i] ? info->command[i] : ' ';
	if (fd >= 0)
		close(fd);
}

static void info_begin(struct session_info *info, __u32 probes)
{
	struct timespec real;
	struct utsname system;

	info->probes = probes;
	info->start_ns = monotonic_ns();
	clock_gettime(CLOCK_REALTIME, &real);
	info->realtime_offset_ns =
		(__u64)real.tv_sec * 1000000000ull + (__u64)real.tv_nsec - info->start_ns;
	gethostname(info->host, sizeof(info->host) - 1);
	if (!uname(&system))
		strncpy(info->kernel, system.release, sizeof(info->kernel) - 1);
	info_command(info);
}

static int live_describe(struct live *l, pid_t pid, __u64 start_ns, bool maps)
{
	char *json = NULL;
	size_t bytes;
	int err = procinfo_read(pid, start_ns, maps, &json, &bytes);

	if (!err)
		err = procinfo_apply(l->model, json, bytes);
	if (!err && l->handler.process)
		err = l->handler.process(l->handler.arg, json, bytes);
	free(json);
	return err;
}

static int on_process(void *arg, pid_t pid, __u64 start_ns)
{
	return live_describe(arg, pid, start_ns, true);
}

static int on_batch(void *arg, const struct cuprobe_batch_header *h, const void *data)
{
	struct live *l = arg;

	return l->handler.batch ? l->handler.batch(l->handler.arg, h, data) : 0;
}

static void on_message(void *arg, const char *text)
{
	const struct live *l = arg;

	if (!l->options->quiet)
		fprintf(stderr, "cuprobe: %s\n", text);
}

static int on_losses(void *arg, const struct cuprobe_loss_key *key, const struct cuprobe_loss *loss)
{
	struct live *l = arg;
	int err = model_losses(l->model, key, loss);

	return !err && l->handler.losses ? l->handler.losses(l->handler.arg, key, loss) : err;
}

/* In another pid namespace new threads have to be looked up while they live. */
static int live_describe_threads(struct live *l)
{
	__u64 now_ns = monotonic_ns();
	int err = 0;

	if (now_ns - l->described_ns < DESCRIBE_NS)
		return 0;
	l->described_ns = now_ns;
	for (struct process *p = model_processes(l->model); p && !err; p = p->next) {
		if (p->info_known && p->info.pid != p->pid)
			err = live_describe(l, (pid_t)p->pid, p->start_ns, false);
	}
	return err;
}

static int open_failed(int err, const char *why, bool command)
{
	int status = fail("%s", why);

	if (command && err == -ENOENT)
		return 127;
	return command && err == -EACCES ? 126 : status;
}

int live_open(struct live **ret, const struct options *o, struct model *model)
{
	struct live *l = calloc(1, sizeof(*l));
	const struct session_opts opts = {
		.via = o->via,
		.probes = o->probes,
		.pids = o->pids,
		.pid_count = o->pid_count,
		.all = o->all,
		.command = o->arg_count ? o->args : NULL,
		.as_root = o->as_root,
		.native_stacks = o->stacks == STACKS_NATIVE,
		.library = o->library,
	};
	const struct session_handler handler = {on_batch, on_process, on_message, l};
	char why[1024] = "";
	int err;

	if (!l)
		return fail("cannot trace: out of memory");
	l->options = o;
	l->model = model;
	err = session_open(&l->session, &opts, &handler, why, sizeof(why));
	if (err) {
		free(l);
		return open_failed(err, why, o->arg_count);
	}
	info_begin(&l->info, o->probes);
	l->info.native_stacks = o->stacks == STACKS_NATIVE;
	*ret = l;
	return 0;
}

/* The terminal sends ^C to the command too; what came to us alone is passed on. */
static void pass_signal(struct live *l)
{
	if (caught_alone)
		session_signal(l->session, caught);
	caught_alone = 0;
}

/* 1 when it is over, 0 to go on, or a negative errno. */
static int live_step(struct live *l, __u64 *interrupted_ns)
{
	__u64 now_ns = monotonic_ns();
	int err;

	if (caught && !*interrupted_ns) {
		pass_signal(l);
		*interrupted_ns = now_ns;
	}
	if (*interrupted_ns &&
	    (!l->options->arg_count || now_ns - *interrupted_ns > INTERRUPTED_NS))
		return 1;
	if (l->options->duration_ns && now_ns - l->info.start_ns >= l->options->duration_ns)
		return 1;
	err = session_poll(l->session, POLL_MS);
	if (!err)
		err = live_describe_threads(l);
	if (!err && l->handler.tick)
		err = l->handler.tick(l->handler.arg);
	return err;
}

/* Collection goes on for a moment after the end was decided. */
static void live_widen(struct live *l)
{
	__u64 first_ns, last_ns;

	model_window(l->model, &first_ns, &last_ns);
	if (last_ns > l->info.end_ns && last_ns < monotonic_ns())
		l->info.end_ns = last_ns;
}

int live_run(struct live *l, const struct live_handler *handler)
{
	__u64 interrupted_ns = 0;
	int err, over = 0;

	l->handler = *handler;
	catch_signals();
	l->info.start_ns = monotonic_ns();
	err = session_start(l->session);
	if (err)
		return open_failed(err, strerror(-err), true);
	l->started = true;
	while (!over)
		over = live_step(l, &interrupted_ns);
	l->info.end_ns = monotonic_ns();
	err = over < 0 ? over : session_stop(l->session, GRACE_MS);
	live_widen(l);
	if (!err)
		err = session_losses(l->session, on_losses, l);
	return err ? fail("the recording broke off: %s", strerror(-err)) : 0;
}

int live_wait(struct live *l)
{
	l->handler = (struct live_handler){0};
	while (l->started && l->options->arg_count && !session_poll(l->session, POLL_MS)) {
		if (caught)
			pass_signal(l);
	}
	return session_exit_status(l->session);
}

void live_free(struct live *l)
{
	if (!l)
		return;
	session_free(l->session);
	free(l);
}

const struct session_info *live_info(const struct live *l)
{
	return &l->info;
}
