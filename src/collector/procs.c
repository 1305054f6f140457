// SPDX-License-Identifier: Apache-2.0
#include "src/collector/procs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#define DELETED " (deleted)"

int procs_each(int (*each)(void *arg, pid_t pid), void *arg)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!directory)
		return -errno;
	while (!err && (entry = readdir(directory))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			err = each(arg, (pid_t)atoi(entry->d_name));
	}
	closedir(directory);
	return err;
}

/* "START-END PERM OFFSET DEVICE INODE PATH"; false for a mapping of no file. */
static bool mapping_parse(struct proc_mapping *ret, char *line)
{
	unsigned long long start, end, offset;
	int path_at = 0;
	char write;
	size_t length;

	if (sscanf(line, "%llx-%llx %*c%c%*c%*c %llx %*s %*s %n", &start, &end, &write, &offset,
		   &path_at) != 4 ||
	    !path_at || line[path_at] != '/')
		return false;
	line += path_at;
	length = strcspn(line, "\n");
	line[length] = '\0';
	ret->deleted =
		length > strlen(DELETED) && !strcmp(line + length - strlen(DELETED), DELETED);
	if (ret->deleted)
		line[length - strlen(DELETED)] = '\0';
	snprintf(ret->path, sizeof(ret->path), "%s", line);
	ret->start = start;
	ret->end = end;
	ret->offset = offset;
	ret->writable = write == 'w';
	return true;
}

int proc_each_mapping(pid_t pid, int (*each)(void *arg, const struct proc_mapping *m), void *arg)
{
	struct proc_mapping mapping;
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *maps;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && getline(&line, &size, maps) > 0) {
		if (mapping_parse(&mapping, line))
			err = each(arg, &mapping);
	}
	/* A process that leaves while we read is gone. */
	if (!err && ferror(maps))
		err = -ESRCH;
	free(line);
	fclose(maps);
	return err;
}

int proc_open_mapping(pid_t pid, const struct proc_mapping *m)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, m->start, m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* map_files wants CAP_CHECKPOINT_RESTORE; a path that still names the file does as well. */
	return fd >= 0 || m->deleted ? (fd >= 0 ? fd : -errno) : proc_open_file(pid, m->path);
}

int proc_open_file(pid_t pid, const char *path)
{
	char through[PATH_MAX + 64];
	int fd;

	snprintf(through, sizeof(through), "/proc/%d/%s%s", pid, *path == '/' ? "root" : "cwd/",
		 path);
	fd = open(through, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int proc_environment(pid_t pid, const char *name, char *ret_value, size_t size)
{
	size_t length = strlen(name), room = 0;
	char path[64], *entry = NULL;
	FILE *file;
	int err = -ENOENT;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (err && getdelim(&entry, &room, '\0', file) > 0) {
		if (strncmp(entry, name, length) || entry[length] != '=')
			continue;
		snprintf(ret_value, size, "%s", entry + length + 1);
		err = 0;
	}
	free(entry);
	fclose(file);
	return err;
}

/* '?' when there is no such task. */
static char task_state(pid_t task)
{
	char path[64], line[512], *after;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", task);
	file = fopen(path, "re");
	if (!file)
		return '?';
	/* The state follows the name, which may hold anything. */
	after = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return after && after[1] ? after[2] : '?';
}

static bool task_lives(pid_t task)
{
	char state = task_state(task);

	return state != '?' && state != 'Z' && state != 'X';
}

pid_t proc_thread(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	pid_t found = -ESRCH;
	DIR *directory;

	if (task_lives(pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	directory = opendir(path);
	while (directory && found < 0 && (entry = readdir(directory))) {
		if (isdigit((unsigned char)entry->d_name[0]) && task_lives(atoi(entry->d_name)))
			found = (pid_t)atoi(entry->d_name);
	}
	if (directory)
		closedir(directory);
	return found;
}

void proc_name(pid_t pid, char *ret_name, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	snprintf(ret_name, size, "?");
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(ret_name, (int)size, file))
		ret_name[strcspn(ret_name, "\n")] = '\0';
	fclose(file);
}

static bool named(const char *path, const char *prefix)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !strncmp(base, prefix, strlen(prefix));
}

bool library_named(const char *path)
{
	return named(path, "libcuprobe") && strstr(path, ".so");
}

bool cuda_driver_named(const char *path)
{
	return named(path, "libcuda.so");
}

bool cuda_runtime_named(const char *path)
{
	return named(path, "libcudart.so") || named(path, "libcudart-");
}

int file_key_of(struct file_key *ret, int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -errno;
	*ret = (struct file_key){.device = st.st_dev, .inode = st.st_ino};
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC) {
		ret->device = 0;
		ret->bytes = (__u64)st.st_size;
		ret->modified_ns =
			(__u64)st.st_mtim.tv_sec * 1000000000 + (__u64)st.st_mtim.tv_nsec;
	}
	return 0;
}

bool file_key_equal(const struct file_key *a, const struct file_key *b)
{
	return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
	       a->modified_ns == b->modified_ns;
}
