/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/direct_link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cuprobe/direct.h"

static int link_connect(int fd, const char *path, char *ret_why, size_t size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;
	int err;

	if (strlen(path) >= sizeof(address.sun_path)) {
		snprintf(ret_why, size, "'%.100s...' is too long a name for a socket", path);
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return 0;
	err = -errno;
	snprintf(ret_why, size, "nobody listens at '%s': %s", path, strerror(-err));
	if (!stat(path, &st) && !S_ISSOCK(st.st_mode)) {
		snprintf(ret_why, size, "'%s' is not a socket", path);
		err = -ENOTSOCK;
	}
	return err;
}

static int link_check_peer(int fd, const char *path, char *ret_why, size_t size)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) {
		snprintf(ret_why, size, "'%s' does not say whose it is", path);
		return -EACCES;
	}
	if (peer.uid == geteuid() || !peer.uid)
		return 0;
	snprintf(ret_why, size, "user %u listens at '%s', which is neither us nor root", peer.uid,
		 path);
	return -EACCES;
}

int cuprobe_direct_link_open(struct cuprobe_direct_link *ret, const char *path, char *ret_why,
			     size_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		snprintf(ret_why, size, "there can be no socket: %s", strerror(-err));
		return err;
	}
	err = link_connect(fd, path, ret_why, size);
	if (!err)
		err = link_check_peer(fd, path, ret_why, size);
	if (err) {
		close(fd);
		return err;
	}
	*ret = (struct cuprobe_direct_link){fd, st.st_dev, st.st_ino};
	return 0;
}

int cuprobe_direct_link_greet(const struct cuprobe_direct_link *link, int memory_fd,
			      __u64 process_start_ns)
{
	struct cuprobe_direct_hello hello = {CUPROBE_DIRECT_MAGIC, CUPROBE_DIRECT_VERSION,
					     process_start_ns};
	struct iovec iov = {&hello, sizeof(hello)};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {{0}};
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &memory_fd, sizeof(int));
	return sendmsg(link->fd, &message, MSG_NOSIGNAL) == sizeof(hello) ? 0 : -errno;
}

static bool link_is_ours(const struct cuprobe_direct_link *link)
{
	struct stat st;

	return !fstat(link->fd, &st) && st.st_dev == link->device && st.st_ino == link->inode;
}

void cuprobe_direct_link_close(struct cuprobe_direct_link *link)
{
	if (link->fd >= 0 && link_is_ours(link))
		close(link->fd);
	link->fd = -1;
}

int cuprobe_direct_link_check(const struct cuprobe_direct_link *link)
{
	ssize_t bytes;
	char byte;

	if (!link_is_ours(link))
		return -EPIPE;
	bytes = recv(link->fd, &byte, sizeof(byte), MSG_DONTWAIT);
	if (bytes > 0)
		return -EPROTO;
	return bytes < 0 && errno == EAGAIN ? 0 : -EPIPE;
}

void cuprobe_direct_link_wake(const struct cuprobe_direct_link *link)
{
	if (link_is_ours(link))
		(void)!send(link->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

__u32 cuprobe_direct_link_wanted(const char *path, __u32 before)
{
	char name[PATH_MAX];
	__u32 wanted = 0;
	int fd;

	snprintf(name, sizeof(name), "%s" CUPROBE_DIRECT_WANTED, path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return before;
	if (read(fd, &wanted, sizeof(wanted)) != sizeof(wanted))
		wanted = 0;
	close(fd);
	return wanted;
}
