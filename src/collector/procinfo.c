/* SPDX-License-Identifier: Apache-2.0 */
/* Read while the process lives: afterwards nobody can tell what its addresses and numbers meant. */
#include "src/collector/procinfo.h"

#include <dirent.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/json.h"
#include "src/collector/model.h"
#include "src/collector/procs.h"

#define COMMAND_LONGEST 16384

static size_t read_proc(pid_t pid, const char *name, char *buffer, size_t size)
{
	char path[64];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, buffer, size - 1);
		close(fd);
	}
	n = n < 0 ? 0 : n;
	buffer[n] = '\0';
	return (size_t)n;
}

static void write_command(FILE *out, pid_t pid)
{
	char command[COMMAND_LONGEST];
	size_t bytes = read_proc(pid, "cmdline", command, sizeof(command));

	if (!bytes)
		bytes = read_proc(pid, "comm", command, sizeof(command));
	while (bytes && (command[bytes - 1] == '\0' || command[bytes - 1] == '\n'))
		bytes--;
	for (size_t i = 0; i < bytes; i++)
		command[i] = command[i] ? command[i] : ' ';
	fputs(",\"command\":", out);
	json_write_string(out, command, bytes);
}

static void write_executable(FILE *out, pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, sizeof(path));
	if (n <= 0)
		return;
	fputs(",\"executable\":", out);
	json_write_string(out, path, (size_t)n);
}

/* The thread's id in the innermost pid namespace it is in; 0 when it is gone. */
static __u32 thread_inner_id(pid_t pid, __u32 tid)
{
	char name[64], status[8192], *line, *last;

	snprintf(name, sizeof(name), "task/%u/status", tid);
	read_proc(pid, name, status, sizeof(status));
	line = strstr(status, "\nNSpid:");
	if (!line)
		return 0;
	line = strtok_r(line + 1, "\n", &last);
	last = line ? strrchr(line, '\t') : NULL;
	return last ? (__u32)strtoul(last + 1, NULL, 10) : 0;
}

static void write_threads(FILE *out, pid_t pid)
{
	const char *separator = ",\"threads\":[";
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	if (thread_inner_id(pid, (__u32)pid) == (__u32)pid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	while ((entry = readdir(tasks))) {
		__u32 tid = (__u32)strtoul(entry->d_name, NULL, 10);
		__u32 inner = tid ? thread_inner_id(pid, tid) : 0;

		if (!inner)
			continue;
		fprintf(out, "%s[%u,%u]", separator, inner, tid);
		separator = ",";
	}
	closedir(tasks);
	if (separator[1] == '\0')
		fputc(']', out);
}

/* Through map_files, which works for deleted files and in other mount namespaces. */
static int map_open(pid_t pid, uint64_t start, uint64_t end, const char *path)
{
	char name[PATH_MAX + 64];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(name, sizeof(name), "/proc/%d/root%s", pid, path);
	return open(name, O_RDONLY | O_CLOEXEC);
}

static void write_build_id(FILE *out, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const unsigned char *id = NULL;
	ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, (const void **)&id) : 0;

	if (bytes > 0) {
		fputs(",\"build_id\":\"", out);
		for (ssize_t i = 0; i < bytes; i++)
			fprintf(out, "%02x", id[i]);
		fputc('"', out);
	}
	elf_end(elf);
}

static void write_map(FILE *out, pid_t pid, const char *line, const char **separator)
{
	uint64_t start, end, offset;
	char permissions[5];
	int at = 0, fd;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &end,
		   permissions, &offset, &at) < 4 ||
	    !at || line[at] != '/' || permissions[2] != 'x')
		return;
	fprintf(out,
		"%s{\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"path\":",
		*separator, start, end, offset);
	*separator = ",\n";
	json_write_string(out, line + at, strlen(line + at));
	fd = map_open(pid, start, end, line + at);
	if (fd >= 0) {
		write_build_id(out, fd);
		close(fd);
	}
	fputc('}', out);
}

static void write_maps(FILE *out, pid_t pid)
{
	const char *separator = "";
	char path[64], *line = NULL;
	size_t room = 0;
	ssize_t bytes;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return;
	elf_version(EV_CURRENT);
	fputs(",\"maps\":[", out);
	while ((bytes = getline(&line, &room, maps)) > 0) {
		if (line[bytes - 1] == '\n')
			line[bytes - 1] = '\0';
		write_map(out, pid, line, &separator);
	}
	fputc(']', out);
	free(line);
	fclose(maps);
}

int procinfo_read(pid_t pid, __u64 start_ns, bool maps, char **ret_json, size_t *ret_bytes)
{
	FILE *out = open_memstream(ret_json, ret_bytes);
	pid_t thread = proc_thread(pid); /* a main thread that has left has no memory any more */

	if (!out)
		return -ENOMEM;
	thread = thread > 0 ? thread : pid;
	fprintf(out, "{\"pid\":%d,\"start_ns\":%llu", pid, start_ns);
	write_command(out, thread);
	write_executable(out, thread);
	write_threads(out, pid);
	if (maps)
		write_maps(out, thread);
	fputs("}\n", out);
	return fclose(out) ? -ENOMEM : 0;
}

static int apply_threads(struct model *m, __u32 pid, __u64 start_ns, struct json threads)
{
	struct json pair, inner, tid;
	int err = 0;

	while (!err && json_next(&threads, &pair)) {
		if (json_next(&pair, &inner) && json_next(&pair, &tid))
			err = model_thread(m, pid, start_ns, (__u32)json_number(inner),
					   (__u32)json_number(tid));
	}
	return err == -ENOSPC ? 0 : err;
}

__u32 procinfo_pid(const char *json, size_t bytes)
{
	return (__u32)json_number(json_member(json_open(json, bytes), "pid"));
}

int procinfo_apply(struct model *m, const char *json, size_t bytes)
{
	struct json object = json_open(json, bytes);
	__u32 pid = procinfo_pid(json, bytes);
	__u64 start_ns = json_number(json_member(object, "start_ns"));
	char command[COMMAND_LONGEST];
	int err = 0;

	if (!pid)
		return 0;
	json_string(json_member(object, "command"), command, sizeof(command));
	if (*command)
		err = model_command(m, pid, start_ns, command);
	return err ? err : apply_threads(m, pid, start_ns, json_member(object, "threads"));
}
