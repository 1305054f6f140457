// SPDX-License-Identifier: Apache-2.0
#include "src/collector/direct_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/collector/source.h"

int peer_open(struct peer **ret, int fd)
{
	struct peer *p = calloc(1, sizeof(*p));
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (!p)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) {
		free(p);
		return -errno;
	}
	p->fd = fd;
	p->pid = peer.pid;
	p->uid = peer.uid;
	*ret = p;
	return 0;
}

void peer_free(struct peer *p)
{
	if (p->memory)
		munmap(p->memory, sizeof(*p->memory));
	close(p->fd);
	free(p);
}

/* Its size cannot change, and each page of it can be had: no access to it ends in a SIGBUS. */
static bool memory_is_sound(int fd)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW;
	struct statfs fs;
	struct stat st;

	return (fcntl(fd, F_GET_SEALS) & seals) == seals && fcntl(fd, F_GET_SEALS) >= 0 &&
	       !fstat(fd, &st) && st.st_size == sizeof(struct cuprobe_direct_memory) &&
	       !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC;
}

static int peer_map(struct peer *p, int fd)
{
	struct cuprobe_direct_memory *m;

	if (!memory_is_sound(fd))
		return -EBADMSG;
	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		return -EBADMSG;
	p->memory = m;
	p->front = (struct ring){&m->front_read,   &m->front_written, (const char *)m->front,
				 sizeof(m->front), sizeof(m->front),  0};
	p->batches =
		(struct ring){&m->batches_read,	  &m->batches_written, (const char *)m->batches,
			      sizeof(m->batches), sizeof(m->batches),  0};
	return 0;
}

/* The first descriptor of a message, the only one that there is room for; -1: none. */
static int message_fd(struct msghdr *message)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(head), sizeof(int));
	return fd;
}

static int peer_greeting(struct peer *p)
{
	struct cuprobe_direct_hello hello = {0};
	struct iovec iov = {&hello, sizeof(hello)};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_LEN(sizeof(int)), /* there is room for two in the space */
	};
	ssize_t bytes = recvmsg(p->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd, err = -EBADMSG;

	if (bytes <= 0)
		return bytes < 0 && errno == EAGAIN ? 0 : -EPIPE;
	fd = message_fd(&message);
	if (fd < 0 && message.msg_flags & MSG_CTRUNC)
		err = -EMFILE; /* we had no descriptor left for it */
	if (bytes == sizeof(hello) && !(message.msg_flags & MSG_CTRUNC) &&
	    hello.magic == CUPROBE_DIRECT_MAGIC && hello.version == CUPROBE_DIRECT_VERSION)
		err = peer_map(p, fd);
	if (fd >= 0)
		close(fd);
	p->start_ns = hello.process_start_ns;
	return err;
}

int peer_receive(struct peer *p)
{
	char bytes[4096];
	ssize_t count;

	if (!p->memory) {
		int err = peer_greeting(p);

		if (err || !p->memory)
			return err;
	}
	count = recv(p->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	return count > 0 || (count < 0 && errno == EAGAIN) ? 0 : -EPIPE;
}

/* What is in shared memory can change under our eyes, so that only a copy can be checked. */
struct copying {
	const struct source_handler *handler;
	const struct peer *peer;
	bool bad, enough;
};

static int batch_copy(void *arg, const void *data, size_t bytes)
{
	static struct {
		_Alignas(CUPROBE_RING_ALIGN) __u64 of_the_ring; /* so that records are aligned */
		struct cuprobe_ring_batch batch;
		__u8 records[CUPROBE_BATCH_BYTES];
	} copy;
	struct copying *c = arg;

	c->bad = bytes < sizeof(copy.batch) || bytes > sizeof(copy.batch) + sizeof(copy.records);
	if (c->bad)
		return 1;
	memcpy(&copy.batch, data, bytes);
	copy.batch.header.pid = (__u32)c->peer->pid;
	copy.batch.header.process_start_ns = c->peer->start_ns;
	c->enough = c->handler->sample(c->handler->arg, &copy.batch, bytes);
	return c->enough;
}

int peer_read(struct peer *p, const struct source_handler *handler)
{
	struct copying c = {handler, p, false, false};
	int ret;

	if (!p->memory)
		return 1;
	ret = rings_read(&p->front, &p->batches, batch_copy, &c);
	/* Nobody is writing below the end, as it can be with the kernel's. */
	return ret || c.enough ? ret : -EBADMSG;
}

bool peer_losses(struct peer *p, __u32 probe, struct cuprobe_loss *ret)
{
	struct cuprobe_loss *told = &p->told[probe], now = {0};

	if (!p->memory)
		return false;
	now.batches = __atomic_load_n(&p->memory->lost[probe].batches, __ATOMIC_RELAXED);
	now.records = __atomic_load_n(&p->memory->lost[probe].records, __ATOMIC_RELAXED);
	*ret = (struct cuprobe_loss){.batches = now.batches - told->batches,
				     .records = now.records - told->records};
	*told = now;
	return ret->batches;
}
