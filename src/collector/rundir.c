// SPDX-License-Identifier: Apache-2.0
#include "src/collector/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "cuprobe-"
#define LONGEST_NAME 32 /* of a file in it */

void rundir_remove(char path[PATH_MAX])
{
	int fd = *path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		unlinkat(fd, entry->d_name, 0);
	if (directory) {
		closedir(directory);
		rmdir(path);
	}
	*path = '\0';
}

/* Removes what runs that were killed have left. */
static void rundirs_sweep(const char *parent)
{
	DIR *directory = opendir(parent);
	struct dirent *entry;
	char path[PATH_MAX];
	struct stat st;
	int pid;

	while (directory && (entry = readdir(directory))) {
		if (sscanf(entry->d_name, PREFIX "%d-", &pid) != 1 || !kill(pid, 0) ||
		    errno != ESRCH)
			continue;
		if (fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
			continue;
		snprintf(path, sizeof(path), "%.3800s/%.255s", parent, entry->d_name);
		rundir_remove(path);
	}
	if (directory)
		closedir(directory);
}

static int rundir_try(char path[PATH_MAX], const char *parent, mode_t mode,
		      int (*fill)(void *arg, const char *directory), void *arg)
{
	int err;

	if (snprintf(path, PATH_MAX, "%s/" PREFIX "%d-XXXXXX", parent, getpid()) >
	    PATH_MAX - LONGEST_NAME)
		return -ENAMETOOLONG;
	if (!mkdtemp(path)) {
		*path = '\0';
		return -errno;
	}
	err = chmod(path, mode) ? -errno : fill(arg, path);
	if (err)
		rundir_remove(path);
	return err;
}

int rundir_make(char ret_path[PATH_MAX], mode_t mode, int (*fill)(void *arg, const char *directory),
		void *arg, const char *what, char *ret_why, size_t size)
{
	const char *own = getenv("TMPDIR");
	const char *parents[] = {own ? own : "/tmp", "/tmp", "/var/tmp", "/dev/shm"};
	int err = -ENOENT;

	for (size_t i = 0; err && i < sizeof(parents) / sizeof(parents[0]); i++) {
		rundirs_sweep(parents[i]);
		err = rundir_try(ret_path, parents[i], mode, fill, arg);
	}
	if (err) {
		*ret_path = '\0';
		snprintf(ret_why, size,
			 "cannot %s in %s, /tmp, /var/tmp or /dev/shm: %s: name another place in "
			 "TMPDIR",
			 what, parents[0], strerror(-err));
	}
	return err;
}
