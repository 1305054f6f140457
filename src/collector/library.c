// SPDX-License-Identifier: Apache-2.0
#include "src/collector/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/collector/notes.h"
#include "src/collector/rundir.h"

#define NAME "libcuprobe.so"

/* Has the probes; -errno and a line in `ret_why` otherwise. */
static int library_check(const char *path, bool from_environment, char *ret_why, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct notes notes = {0};
	char why[256];
	int err;

	if (fd < 0) {
		err = -errno;
		snprintf(ret_why, size, "cannot open the library '%s': %m", path);
		return err;
	}
	err = notes_read(&notes, fd, why, sizeof(why));
	if (err)
		snprintf(ret_why, size, "'%s' is not a libcuprobe.so: %s%s", path, why,
			 from_environment ? "; unset CUDA_INJECTION64_PATH, which names it" : "");
	notes_free(&notes);
	close(fd);
	return err;
}

static int library_beside(char ret_path[PATH_MAX])
{
	/* installed; in dist; in the build tree */
	static const char *const places[] = {"../lib/" NAME, "../" CUPROBE_LIBDIR "/" NAME,
					     "../inject/" NAME, NAME};
	char self[PATH_MAX], path[2 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length < 0)
		return -errno;
	self[length] = '\0';
	slash = strrchr(self, '/');
	slash[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", self, places[i]);
		if (realpath(path, ret_path))
			return 0;
	}
	return -ENOENT;
}

int library_find(char ret_path[PATH_MAX], const char *wanted, char *ret_why, size_t size)
{
	const char *named = wanted ? wanted : getenv("CUDA_INJECTION64_PATH");
	int err;

	if (!named || !*named) {
		err = library_beside(ret_path);
		if (err) {
			snprintf(ret_why, size,
				 "cannot find libcuprobe.so beside this command: name it in "
				 "CUDA_INJECTION64_PATH");
			return err;
		}
	} else if (!realpath(named, ret_path)) {
		err = -errno;
		snprintf(ret_why, size, "cannot find the library '%s'%s: %m", named,
			 wanted ? "" : " that CUDA_INJECTION64_PATH names");
		return err;
	}
	return library_check(ret_path, !wanted && named && *named, ret_why, size);
}

static int copy_bytes(int to, int from)
{
	ssize_t n;

	do {
		n = sendfile(to, from, NULL, 1 << 20);
	} while (n > 0);
	return n < 0 ? -errno : 0;
}

struct copying {
	struct library_copy *copy;
	int from;
};

/* A file system may be mounted noexec, or be full. */
static int copy_fill(void *arg, const char *directory)
{
	const struct copying *c = arg;
	int fd, err;
	void *map;

	stpcpy(stpcpy(c->copy->path, directory), "/" NAME);
	fd = open(c->copy->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0)
		return -errno;
	err = fchmod(fd, 0755) || lseek(c->from, 0, SEEK_SET) ? -errno : copy_bytes(fd, c->from);
	if (!err) {
		map = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		err = map == MAP_FAILED ? -errno : 0;
		if (!err)
			munmap(map, 1);
	}
	close(fd);
	if (err)
		return err;
	c->copy->fd = open(c->copy->path, O_RDONLY | O_CLOEXEC);
	return c->copy->fd < 0 ? -errno : 0;
}

int library_copy_make(struct library_copy *ret, const char *path, char *ret_why, size_t size)
{
	struct copying copying = {ret, open(path, O_RDONLY | O_CLOEXEC)};
	int err;

	*ret = (struct library_copy){.fd = -1};
	if (copying.from < 0) {
		err = -errno;
		snprintf(ret_why, size, "cannot open the library '%s': %m", path);
		return err;
	}
	/* The command may run as another user. */
	err = rundir_make(ret->directory, 0755, copy_fill, &copying,
			  "copy the library for this run", ret_why, size);
	close(copying.from);
	return err;
}

void library_copy_remove(struct library_copy *copy)
{
	if (copy->fd >= 0)
		close(copy->fd);
	copy->fd = -1;
	rundir_remove(copy->directory);
}
