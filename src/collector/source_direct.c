// SPDX-License-Identifier: Apache-2.0
/*
 * The direct channel, see cuprobe/direct.h: a command and its descendants bring their batches
 * themselves. It needs no privilege and nothing of BPF.
 */
#include "src/collector/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/collector/child.h"
#include "src/collector/direct_peer.h"
#include "src/collector/rundir.h"
#include "src/collector/session.h"

#define SOCKET_NAME "/direct"
#define BACKLOG 4096
#define STRANGE "what it sends is not from a libcuprobe.so of this version"
#define FULL "there is no descriptor left for it: raise the limit of open files (ulimit -n)"
#define MESSAGES 8 /* about refused processes, at most */

/* What a process that is gone, or one that is there, has lost. */
struct loss_entry {
	struct cuprobe_loss_key key;
	struct cuprobe_loss loss;
};

struct source_direct {
	struct source source;
	__u32 probes;
	struct user_ids user; /* of the command */
	char directory[PATH_MAX];
	struct sockaddr_un address;
	int listener, wanted;
	struct peer *peers;
	unsigned int refused;
	bool full; /* has been told */
	struct loss_entry *losses;
	size_t loss_count;
};

static struct source_direct *direct(struct source *s)
{
	return (struct source_direct *)s;
}

static void direct_refuse(struct source_direct *d, const struct peer *p, const char *why)
{
	char text[256];

	if (d->refused++ >= MESSAGES)
		return;
	snprintf(text, sizeof(text), "refused process %d: %s", (int)p->pid, why);
	d->source.handler.message(d->source.handler.arg, text);
}

static int direct_want(const struct source_direct *d, __u32 probes)
{
	return pwrite(d->wanted, &probes, sizeof(probes), 0) == sizeof(probes) ? 0 : -errno;
}

/* To the user of the command, where that is another one. */
static int direct_hand_over(const struct source_direct *d, const char *path, mode_t mode)
{
	if (chmod(path, mode))
		return -errno;
	if (d->user.uid != geteuid() && lchown(path, d->user.uid, d->user.gid))
		return -errno;
	return 0;
}

static void direct_close(struct source_direct *d)
{
	if (d->listener >= 0)
		close(d->listener);
	if (d->wanted >= 0)
		close(d->wanted);
	d->listener = d->wanted = -1;
}

static int direct_listen(struct source_direct *d, const char *directory)
{
	const char *path = d->address.sun_path;
	char wanted[sizeof(d->address.sun_path) + sizeof(CUPROBE_DIRECT_WANTED)];
	int err;

	d->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->listener < 0 ||
	    bind(d->listener, (const struct sockaddr *)&d->address, sizeof(d->address)) ||
	    listen(d->listener, BACKLOG))
		return -errno;
	snprintf(wanted, sizeof(wanted), "%s" CUPROBE_DIRECT_WANTED, path);
	d->wanted = open(wanted, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (d->wanted < 0)
		return -errno;
	err = direct_want(d, d->probes);
	if (!err)
		err = direct_hand_over(d, wanted, 0600);
	if (!err)
		err = direct_hand_over(d, path, 0600);
	return err ? err : direct_hand_over(d, directory, 0700);
}

static int direct_fill(void *arg, const char *directory)
{
	struct source_direct *d = arg;
	int err = -ENAMETOOLONG;

	d->address.sun_family = AF_UNIX;
	if (strlen(directory) + sizeof(SOCKET_NAME) <= sizeof(d->address.sun_path)) {
		stpcpy(stpcpy(d->address.sun_path, directory), SOCKET_NAME);
		err = direct_listen(d, directory);
	}
	if (err)
		direct_close(d);
	return err;
}

static int direct_add_command(struct source *s, struct child_opts *child, char *ret_why,
			      size_t size)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	struct source_direct *d = direct(s);
	int err;

	d->user = child_user(child);
	err = rundir_make(d->directory, 0700, direct_fill, d, "make a socket for this run", ret_why,
			  size);
	if (err)
		return err;
	if (epoll_ctl(s->fd, EPOLL_CTL_ADD, d->listener, &event)) {
		err = -errno;
		snprintf(ret_why, size, "cannot wait for processes: %s", strerror(-err));
	}
	child->direct = d->address.sun_path;
	return err;
}

static void direct_free(struct source *s)
{
	struct source_direct *d = direct(s);

	direct_close(d);
	rundir_remove(d->directory);
	while (d->peers) {
		struct peer *p = d->peers;

		d->peers = p->next;
		peer_free(p);
	}
	if (s->fd >= 0)
		close(s->fd);
	free(d->losses);
	free(d);
}

static int direct_open(struct source **ret, const struct session_opts *opts,
		       const struct source_handler *handler, char *ret_why, size_t size)
{
	struct source_direct *d = calloc(1, sizeof(*d));

	if (!d) {
		snprintf(ret_why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	d->source = (struct source){&source_direct, *handler, epoll_create1(EPOLL_CLOEXEC)};
	d->probes = opts->probes | PROBES_ALWAYS;
	d->listener = d->wanted = -1;
	*ret = &d->source;
	return 0;
}

static bool peer_is_welcome(struct source_direct *d, const struct peer *p)
{
	if (p->uid != d->user.uid && p->uid)
		direct_refuse(d, p, "it is another user's");
	else if (!p->pid)
		direct_refuse(d, p, "it is in a pid namespace that cannot be seen from here");
	else
		return true;
	return false;
}

static void direct_accept_one(struct source_direct *d, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct peer *p;

	if (peer_open(&p, fd)) {
		close(fd);
		return;
	}
	event.data.ptr = p;
	if (!peer_is_welcome(d, p) || epoll_ctl(d->source.fd, EPOLL_CTL_ADD, fd, &event)) {
		peer_free(p);
		return;
	}
	p->next = d->peers;
	d->peers = p;
}

/* Without a descriptor left for them, processes wait until there is one. */
static void direct_accept(struct source_direct *d)
{
	int fd;

	while ((fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		direct_accept_one(d, fd);
	if ((errno != EMFILE && errno != ENFILE) || d->full)
		return;
	d->full = true;
	d->source.handler.message(d->source.handler.arg,
				  "processes have to wait, and may be missing: there are no "
				  "descriptors left: raise the limit of open files (ulimit -n)");
}

static void direct_receive(struct source_direct *d)
{
	struct epoll_event events[64];
	int count;

	do {
		count = epoll_wait(d->source.fd, events, 64, 0);
		for (int i = 0; i < count; i++) {
			struct peer *p = events[i].data.ptr;
			int err = p ? peer_receive(p) : 0;

			if (!err)
				continue;
			if (err == -EBADMSG || err == -EMFILE)
				direct_refuse(d, p, err == -EMFILE ? FULL : STRANGE);
			p->ended = true;
			epoll_ctl(d->source.fd, EPOLL_CTL_DEL, p->fd, NULL);
		}
	} while (count == 64);
}

static struct cuprobe_loss *direct_loss(struct source_direct *d, const struct cuprobe_loss_key *key)
{
	struct loss_entry *larger;

	for (size_t i = 0; i < d->loss_count; i++) {
		if (!memcmp(&d->losses[i].key, key, sizeof(*key)))
			return &d->losses[i].loss;
	}
	larger = realloc(d->losses, (d->loss_count + 1) * sizeof(*larger));
	if (!larger)
		return NULL;
	d->losses = larger;
	larger[d->loss_count] = (struct loss_entry){.key = *key};
	return &larger[d->loss_count++].loss;
}

/* A process that has executed another program is two peers. */
static int direct_count_losses(struct source_direct *d, struct peer *p)
{
	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		const struct cuprobe_loss_key key = {p->start_ns, (__u32)p->pid, probe};
		struct cuprobe_loss more, *sum;

		if (!peer_losses(p, probe, &more))
			continue;
		sum = direct_loss(d, &key);
		if (!sum)
			return -ENOMEM;
		sum->batches += more.batches;
		sum->records += more.records;
	}
	return 0;
}

static void direct_remove(struct source_direct *d, struct peer **at, bool bad)
{
	struct peer *p = *at;

	if (bad)
		direct_refuse(d, p, STRANGE);
	direct_count_losses(d, p);
	*at = p->next;
	peer_free(p);
}

/* Those behind `p` come first the next time. */
static void direct_rotate(struct source_direct *d, struct peer *p)
{
	struct peer *last = p;

	while (last->next)
		last = last->next;
	if (last == p)
		return;
	last->next = d->peers;
	d->peers = p->next;
	p->next = NULL;
}

static void direct_consume(struct source *s)
{
	struct source_direct *d = direct(s);
	struct peer **at = &d->peers;

	direct_accept(d);
	direct_receive(d);
	while (*at) {
		struct peer *p = *at;
		int ret = peer_read(p, &s->handler);

		if (!ret) {
			direct_rotate(d, p);
			return;
		}
		if (ret < 0 || p->ended)
			direct_remove(d, at, ret < 0);
		else
			at = &p->next;
	}
}

static void direct_detach(struct source *s, bool all)
{
	direct_want(direct(s), all ? 0 : PROBES_ALWAYS);
}

static int direct_losses(struct source *s,
			 int (*each)(void *arg, const struct cuprobe_loss_key *,
				     const struct cuprobe_loss *),
			 void *arg)
{
	struct source_direct *d = direct(s);
	int err = 0;

	for (struct peer *p = d->peers; !err && p; p = p->next)
		err = direct_count_losses(d, p);
	for (size_t i = 0; !err && i < d->loss_count; i++)
		err = each(arg, &d->losses[i].key, &d->losses[i].loss);
	return err;
}

const struct source_ops source_direct = {
	.open = direct_open,
	.add_command = direct_add_command,
	.consume = direct_consume,
	.detach = direct_detach,
	.losses = direct_losses,
	.free = direct_free,
};
