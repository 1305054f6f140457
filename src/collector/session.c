// SPDX-License-Identifier: Apache-2.0
#include "src/collector/session.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/collector/child.h"
#include "src/collector/features.h"
#include "src/collector/library.h"
#include "src/collector/map.h"
#include "src/collector/procs.h"
#include "src/collector/source.h"

#define LOOK_MS 50	      /* the ring has no wake-ups below 1 MiB */
#define ROUND_BYTES (8 << 20) /* delivered before the caller gets its turn */
#define FLUSH_MS 250	      /* the library hands over what it holds every 100 ms */
#define LAST_MS 100	      /* between a library's farewell and its last ledger */

/* A process that has fired. */
struct sender {
	struct sender *next;
	pid_t pid;
	__u64 start_ns;
	bool settled; /* said that it collects nothing any more, or for others only */
};

struct session {
	struct session_handler handler;
	struct source *source;
	struct child child;
	int epoll;
	int *pidfds; /* of -p; -1 once the process has ended */
	unsigned int pidfd_count, living;
	bool all;
	struct map senders_by_key;
	struct sender *senders, *newest;
	__u64 detached_ns; /* since when no data comes any more; 0: it does */
	long budget;	   /* bytes that this round may still deliver; negative: more is waiting */
	int err;	   /* of the handler */
};

static __u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000 + (__u64)ts.tv_nsec / 1000000;
}

/* No two processes have the same, unless they started 2^42 ns apart to the nanosecond. */
static __u64 sender_key(const struct cuprobe_batch_header *h)
{
	return h->process_start_ns << 22 ^ h->pid;
}

static struct sender *sender_get(struct session *s, const struct cuprobe_batch_header *h)
{
	struct sender *sender = s->newest;

	if (sender && sender->pid == (pid_t)h->pid && sender->start_ns == h->process_start_ns)
		return sender;
	sender = map_find(&s->senders_by_key, sender_key(h));
	if (!sender)
		return NULL;
	s->newest = sender;
	return sender;
}

static struct sender *sender_new(struct session *s, const struct cuprobe_batch_header *h)
{
	struct sender *sender = calloc(1, sizeof(*sender));

	if (!sender)
		return NULL;
	sender->pid = (pid_t)h->pid;
	sender->start_ns = h->process_start_ns;
	if (map_insert(&s->senders_by_key, sender_key(h), sender)) {
		free(sender);
		return NULL;
	}
	sender->next = s->senders;
	s->senders = sender;
	return sender;
}

/*
 * Notes that a process collects no data any more. With other readers it goes on: then a whole
 * ledger from after `detached_ns` has all that was for us.
 */
static void sender_status(struct sender *sender, const struct cuprobe_batch_header *h,
			  const char *data, __u64 detached_ns)
{
	__u32 stride = h->bytes / h->count;
	const struct cuprobe_status *status;

	for (__u32 at = 0; stride >= sizeof(*status) && at + stride <= h->bytes; at += stride) {
		status = (const void *)(data + at);
		if (status->type == CUPROBE_STATUS_STATE)
			sender->settled = !(status->state.active_probes & ~PROBES_ALWAYS);
		else if (status->type == CUPROBE_STATUS_LEDGER &&
			 status->ledger.probe == CUPROBE_PROBE_status && detached_ns)
			sender->settled |= status->time_ns >= detached_ns;
	}
}

static int session_deliver(struct session *s, const struct cuprobe_batch_header *h,
			   const void *data)
{
	struct sender *sender = sender_get(s, h);
	bool fresh = !sender;
	int err = 0;

	if (fresh)
		sender = sender_new(s, h);
	if (!sender)
		return -ENOMEM;
	/* Whoever announces itself from the first record on has just begun. */
	if (s->handler.process && (fresh || (h->probe == CUPROBE_PROBE_info && !h->seq)))
		err = s->handler.process(s->handler.arg, sender->pid, sender->start_ns);
	if (h->probe == CUPROBE_PROBE_status)
		sender_status(sender, h, data, s->detached_ns);
	return err ? err : s->handler.batch(s->handler.arg, h, data);
}

static int session_sample(void *arg, const void *data, size_t size)
{
	const struct cuprobe_ring_batch *b = data;
	const struct cuprobe_batch_header *h = &b->header;
	struct session *s = arg;

	if (size >= sizeof(*b) && h->bytes && h->count && h->bytes <= size - sizeof(*b))
		s->err = session_deliver(s, h, b + 1);
	s->budget -= (long)size;
	return s->err || s->budget < 0;
}

/* Delivers what is there now, up to `bytes`. 0, or what the handler returned. */
static int session_consume(struct session *s, long bytes)
{
	s->budget = bytes;
	s->err = 0;
	s->source->ops->consume(s->source);
	return s->err;
}

static int session_drain(struct session *s)
{
	return session_consume(s, LONG_MAX);
}

/* What an epoll event is about; below these it is the number of a process of -p. */
#define ABOUT_SOURCE (1ULL << 32)
#define ABOUT_CHILD (2ULL << 32)

static int session_watch(struct session *s, int fd, __u64 what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int session_add_pid(struct session *s, pid_t pid, char *ret_why, size_t size)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), err;

	if (fd < 0) {
		err = -errno;
		if (err == -ESRCH || err == -EINVAL)
			snprintf(ret_why, size, "there is no process %d", pid);
		return err;
	}
	s->pidfds[s->pidfd_count++] = fd;
	s->living++;
	err = session_watch(s, fd, s->pidfd_count - 1);
	return err ? err : s->source->ops->add_process(s->source, pid, ret_why, size);
}

static int session_open_pids(struct session *s, const struct session_opts *opts, char *ret_why,
			     size_t size)
{
	int err = 0;

	s->pidfds = malloc((opts->pid_count + 1) * sizeof(*s->pidfds));
	if (!s->pidfds)
		return -ENOMEM;
	for (unsigned int i = 0; !err && i < opts->pid_count; i++)
		err = session_add_pid(s, opts->pids[i], ret_why, size);
	return err;
}

static void session_message(void *arg, const char *text)
{
	const struct session *s = arg;

	if (s->handler.message)
		s->handler.message(s->handler.arg, text);
}

/* A source, ready for what is to be traced; of a command, how it is to be started. */
static int session_open_source(struct session *s, const struct source_ops *ops,
			       const struct session_opts *opts, struct child_opts *child,
			       char *ret_why, size_t size)
{
	const struct source_handler handler = {session_sample, session_message, s};
	int err = ops->open(&s->source, opts, &handler, ret_why, size);

	if (err)
		return err;
	if (opts->command)
		err = ops->add_command(s->source, child, ret_why, size);
	else if (opts->all)
		err = ops->add_all(s->source, ret_why, size);
	else
		err = session_open_pids(s, opts, ret_why, size);
	if (!err)
		return session_watch(s, s->source->fd, ABOUT_SOURCE);
	ops->free(s->source);
	s->source = NULL;
	return err;
}

static const char *remedy(const struct session_opts *opts)
{
	if (feature_privileged())
		return "";
	return opts->command ? ": try again with sudo, or without --via"
			     : ": try again with sudo, or start the program with `-- CMD`, which "
			       "needs no privilege";
}

/* When it succeeds and `ret_why` is not empty, that is what the user should know. */
static int session_open_some_source(struct session *s, const struct session_opts *opts,
				    struct child_opts *child, char *ret_why, size_t size)
{
	char why[768] = "";
	int err;

	if (opts->via == VIA_DIRECT)
		return session_open_source(s, &source_direct, opts, child, ret_why, size);
	err = session_open_source(s, &source_bpf, opts, child, why, sizeof(why));
	if (!err)
		return 0;
	if (opts->via == VIA_AUTO && opts->command) {
		err = session_open_source(s, &source_direct, opts, child, ret_why, size);
		if (!err)
			snprintf(ret_why, size, "using the direct channel: %s", why);
		return err;
	}
	snprintf(ret_why, size, "%s%s", why, remedy(opts));
	return err;
}

static int session_open_command(struct session *s, const struct session_opts *opts, char *ret_why,
				size_t size)
{
	char library[PATH_MAX];
	struct child_opts child = {
		.argv = opts->command,
		.library = library,
		.as_root = opts->as_root,
		.native_stacks = opts->native_stacks,
	};
	int err = library_find(library, opts->library, ret_why, size);

	if (!err)
		err = session_open_some_source(s, opts, &child, ret_why, size);
	/* What is wrong with the library is not to be taken for a wrong command. */
	if (err)
		return -ELIBACC;
	err = child_fork(&s->child, &child, ret_why, size);
	return err ? err : session_watch(s, s->child.pidfd, ABOUT_CHILD);
}

static int session_fill(struct session *s, const struct session_opts *opts, char *ret_why,
			size_t size)
{
	int err;

	limits_raise();
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -errno;
	if (opts->command)
		err = session_open_command(s, opts, ret_why, size);
	else
		err = session_open_some_source(s, opts, NULL, ret_why, size);
	if (!err && *ret_why && s->handler.message)
		s->handler.message(s->handler.arg, ret_why);
	return err;
}

int session_open(struct session **ret, const struct session_opts *opts,
		 const struct session_handler *handler, char *ret_why, size_t size)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->handler = *handler;
	s->all = opts->all;
	s->epoll = -1;
	s->child = (struct child){.pidfd = -1, .go_fd = -1, .exec_fd = -1};
	ret_why[0] = '\0';
	err = session_fill(s, opts, ret_why, size);
	if (!err) {
		*ret = s;
		return 0;
	}
	if (!ret_why[0])
		snprintf(ret_why, size, "%s", strerror(-err));
	session_free(s);
	return err;
}

static void session_wait(struct session *s, int timeout_ms)
{
	struct epoll_event events[16];
	int count;

	if (timeout_ms > LOOK_MS)
		timeout_ms = LOOK_MS;
	count = epoll_wait(s->epoll, events, 16, s->budget < 0 ? 0 : timeout_ms);
	for (int i = 0; i < count; i++) {
		__u64 about = events[i].data.u64;

		if (about == ABOUT_CHILD) {
			epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->child.pidfd, NULL);
		} else if (about != ABOUT_SOURCE) {
			close(s->pidfds[about]);
			s->pidfds[about] = -1;
			s->living--;
		}
	}
}

static bool session_over(struct session *s)
{
	if (s->child.pid) {
		child_reap(&s->child);
		return s->child.ended;
	}
	return !s->all && !s->living;
}

int session_poll(struct session *s, int timeout_ms)
{
	bool over;
	int err;

	session_wait(s, timeout_ms);
	over = session_over(s);
	if (s->all)
		s->source->ops->refresh(s->source);
	err = over ? session_drain(s) : session_consume(s, ROUND_BYTES);
	return err ? err : over;
}

int session_start(struct session *s)
{
	return child_go(&s->child);
}

void session_signal(struct session *s, int signal)
{
	if (s->child.pid && !s->child.ended)
		kill(s->child.pid, signal);
}

static bool session_quiet(const struct session *s, bool settled_is_quiet)
{
	for (const struct sender *sender = s->senders; sender; sender = sender->next) {
		if (!(settled_is_quiet && sender->settled) && proc_thread(sender->pid) > 0)
			return false;
	}
	return true;
}

/* Delivers for `ms`, or until nobody is left that could send. */
static int session_deliver_for(struct session *s, int ms, bool settled_is_quiet)
{
	__u64 end = now_ms() + (__u64)ms;
	int err = 0;

	while (!err && now_ms() < end && !session_quiet(s, settled_is_quiet)) {
		session_wait(s, 10);
		err = session_consume(s, ROUND_BYTES);
	}
	return err;
}

struct detachment {
	struct source *source;
	bool all;
	bool done; /* atomic: set by the thread when it has finished */
};

static void *detachment_run(void *arg)
{
	struct detachment *d = arg;

	d->source->ops->detach(d->source, d->all);
	__atomic_store_n(&d->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Detaches, and delivers meanwhile: processes go on firing until the last moment. */
static int session_detach(struct session *s, bool all)
{
	struct detachment d = {.source = s->source, .all = all};
	pthread_t thread;
	int err = 0;

	if (pthread_create(&thread, NULL, detachment_run, &d)) {
		detachment_run(&d);
		return session_drain(s);
	}
	/* Pairs with the store in detachment_run. */
	while (!__atomic_load_n(&d.done, __ATOMIC_ACQUIRE)) {
		session_wait(s, 5);
		if (!err)
			err = session_consume(s, ROUND_BYTES);
	}
	pthread_join(thread, NULL);
	return err;
}

int session_stop(struct session *s, int grace_ms)
{
	int flush_ms = grace_ms < FLUSH_MS ? grace_ms : FLUSH_MS;
	int last_ms = grace_ms - flush_ms;
	int err;

	err = session_deliver_for(s, flush_ms, false);
	for (struct sender *sender = s->senders; sender; sender = sender->next)
		sender->settled = false;
	if (!err)
		err = session_detach(s, false);
	s->detached_ns = (now_ms() + 1) * 1000000;
	if (!err)
		err = session_deliver_for(s, last_ms, true);
	if (!err)
		err = session_deliver_for(s, last_ms < LAST_MS ? last_ms : LAST_MS, false);
	if (!err)
		err = session_detach(s, true);
	return err ? err : session_drain(s);
}

int session_losses(struct session *s,
		   int (*each)(void *arg, const struct cuprobe_loss_key *,
			       const struct cuprobe_loss *),
		   void *arg)
{
	return s->source->ops->losses(s->source, each, arg);
}

int session_exit_status(const struct session *s)
{
	return s->child.status;
}

void session_free(struct session *s)
{
	struct sender *sender;

	if (!s)
		return;
	if (s->source)
		s->source->ops->free(s->source);
	child_done(&s->child);
	if (s->epoll >= 0)
		close(s->epoll);
	while (s->pidfd_count) {
		if (s->pidfds[--s->pidfd_count] >= 0)
			close(s->pidfds[s->pidfd_count]);
	}
	free(s->pidfds);
	map_clear(&s->senders_by_key, NULL);
	while ((sender = s->senders)) {
		s->senders = sender->next;
		free(sender);
	}
	free(s);
}
