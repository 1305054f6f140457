/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/symbol_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/binary.h"
#include "src/collector/perf_map.h"

struct symbol_file {
	struct symbol_file *next;
	struct file_key key;
	struct binary *binary; /* NULL: cannot be read */
};

struct symbol_job *symbol_job_new(pid_t pid, __u64 start_ns, __u32 image)
{
	struct symbol_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->pid = pid;
	job->start_ns = start_ns;
	job->image = image;
	job->jit_fd = -1;
	return job;
}

void symbol_job_free(struct symbol_job *job)
{
	if (!job)
		return;
	for (unsigned int i = 0; i < job->area_count; i++) {
		if (job->areas[i].fd >= 0)
			close(job->areas[i].fd);
		free(job->areas[i].path);
		free(job->areas[i].build_id);
	}
	if (job->jit_fd >= 0)
		close(job->jit_fd);
	free(job->jit_path);
	free(job->areas);
	free(job->addresses);
	free(job->json);
	free(job);
}

/* Room for one more element in an array that doubles. */
static int reserve(void *array_at, unsigned int *room, unsigned int count, size_t size)
{
	void **array = array_at, *larger;

	if (count < *room)
		return 0;
	larger = realloc(*array, size * (*room ? 2 * *room : 16));
	if (!larger)
		return -ENOMEM;
	*array = larger;
	*room = *room ? 2 * *room : 16;
	return 0;
}

/* The process's mappings are gone through once, for all addresses that are new. */
struct look {
	struct symbol_job *job;
	struct symbol_address *first, *end;
};

static int area_new(struct symbol_job *job, const struct proc_mapping *m, int fd, unsigned int *ret)
{
	struct symbol_area *area;
	int err = reserve(&job->areas, &job->area_room, job->area_count, sizeof(*job->areas));
	char *path = strdup(m->path);

	if (err || !path) {
		free(path);
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	area = &job->areas[job->area_count];
	*area = (struct symbol_area){
		.start = m->start, .end = m->end, .offset = m->offset, .path = path, .fd = fd};
	if (fd >= 0 && file_key_of(&area->key, fd)) {
		close(fd);
		area->fd = -1;
	}
	*ret = job->area_count++;
	return 0;
}

static bool look_wants(const struct look *l, const struct proc_mapping *m)
{
	for (const struct symbol_address *a = l->first; a < l->end; a++) {
		if (a->area == SYMBOL_NO_AREA && a->pc >= m->start && a->pc < m->end)
			return true;
	}
	return false;
}

static void look_found(struct look *l, const struct proc_mapping *m, unsigned int area)
{
	for (struct symbol_address *a = l->first; a < l->end; a++) {
		if (a->area == SYMBOL_NO_AREA && a->pc >= m->start && a->pc < m->end)
			a->area = area;
	}
}

static int look_mapping(void *arg, const struct proc_mapping *m)
{
	struct look *l = arg;
	unsigned int area;
	int err;

	if (!look_wants(l, m))
		return 0;
	err = area_new(l->job, m, proc_open_mapping(l->job->thread, m), &area);
	if (!err)
		look_found(l, m, area);
	return err;
}

/* A mapping as it was: another file may lie under that name now, or none. */
static int look_past_mapping(struct look *l, struct json object)
{
	char build_id[256];
	struct proc_mapping m = {
		.start = json_number(json_member(object, "start")),
		.end = json_number(json_member(object, "end")),
		.offset = json_number(json_member(object, "offset")),
	};
	unsigned int area;
	int err;

	json_string(json_member(object, "path"), m.path, sizeof(m.path));
	json_string(json_member(object, "build_id"), build_id, sizeof(build_id));
	if (!look_wants(l, &m))
		return 0;
	err = area_new(l->job, &m, open(m.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), &area);
	if (err)
		return err;
	look_found(l, &m, area);
	l->job->areas[area].build_id = strdup(build_id);
	return l->job->areas[area].build_id ? 0 : -ENOMEM;
}

/* The innermost pid namespace's id, which is what the process calls itself; 0 when it is gone. */
static pid_t inner_pid(pid_t pid)
{
	char path[64], line[512];
	const char *last;
	pid_t inner = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	if (!status)
		return 0;
	while (!inner && fgets(line, sizeof(line), status)) {
		last = strncmp(line, "NSpid:", 6) ? NULL : strrchr(line, '\t');
		inner = last ? (pid_t)atoi(last) : 0;
	}
	fclose(status);
	return inner;
}

/* No link is followed and no pipe waited for: the file is in the hands of the process. */
static int jit_open(struct symbol_job *job)
{
	pid_t inner = inner_pid(job->pid);
	char path[96];

	if (!inner || job->jit_fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", job->thread, inner);
	job->jit_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (job->jit_fd < 0)
		return 0;
	free(job->jit_path);
	return asprintf(&job->jit_path, "/tmp/perf-%d.map", inner) < 0 ? -ENOMEM : 0;
}

int symbol_job_add(struct symbol_job *job, const __u64 *pcs, unsigned int count, struct json maps)
{
	unsigned int before = job->address_count;
	struct look look = {.job = job};
	bool outside = false;
	struct json map;
	int err = 0;

	for (unsigned int i = 0; i < count && !err; i++) {
		err = reserve(&job->addresses, &job->address_room, job->address_count,
			      sizeof(*job->addresses));
		if (!err)
			job->addresses[job->address_count++] =
				(struct symbol_address){pcs[i], SYMBOL_NO_AREA};
	}
	if (err || !count)
		return err;
	job->thread = proc_thread(job->pid);
	look.first = job->addresses + before;
	look.end = job->addresses + job->address_count;
	err = proc_each_mapping(job->thread, look_mapping, &look);
	while (err != -ENOMEM && json_next(&maps, &map))
		err = look_past_mapping(&look, map);
	for (struct symbol_address *a = look.first; a < look.end; a++)
		outside |= a->area == SYMBOL_NO_AREA;
	if (err != -ENOMEM && outside)
		err = jit_open(job);
	return err == -ENOMEM ? err : 0;
}

static void file_free(struct symbol_file *f)
{
	binary_free(f->binary);
	free(f);
}

void symbol_cache_clear(struct symbol_cache *cache)
{
	struct symbol_file *next;

	for (struct symbol_file *f = cache->files; f; f = next) {
		next = f->next;
		file_free(f);
	}
	cache->files = NULL;
}

static bool area_is_of(const struct symbol_area *area, const struct binary *binary)
{
	return !area->build_id ||
	       (*area->build_id && binary && !strcmp(area->build_id, binary_build_id(binary)));
}

/* NULL when the file cannot be read. */
static struct binary *cache_get(struct symbol_cache *cache, struct symbol_area *area, pid_t pid)
{
	struct symbol_file *f = cache->files;
	char root[32];

	while (f && !file_key_equal(&f->key, &area->key))
		f = f->next;
	if (f || area->fd < 0)
		return f ? f->binary : NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	binary_open(&f->binary, area->fd, area->path, root);
	area->fd = -1;
	f->key = area->key;
	f->next = cache->files;
	cache->files = f;
	return f->binary;
}

static struct binary *area_binary(struct symbol_area *area, struct symbol_cache *cache, pid_t pid)
{
	struct binary *binary = cache_get(cache, area, pid);

	return area_is_of(area, binary) ? binary : NULL;
}

static void write_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\"%s\":", name);
	json_write_string(out, text, strlen(text));
}

static void write_areas(FILE *out, struct symbol_job *job, struct symbol_cache *cache)
{
	const char *separator = "";

	for (unsigned int i = 0; i < job->area_count; i++) {
		struct symbol_area *area = &job->areas[i];
		struct binary *binary = area_binary(area, cache, job->thread);

		fprintf(out, "%s{\"start\":%llu,\"end\":%llu,\"offset\":%llu", separator,
			area->start, area->end, area->offset);
		write_text(out, "path", area->path);
		write_text(out, "build_id", binary ? binary_build_id(binary) : "");
		fputc('}', out);
		separator = ",\n";
	}
	if (job->jit_path) {
		fprintf(out, "%s{\"jit\":1", separator);
		write_text(out, "path", job->jit_path);
		fputc('}', out);
	}
}

struct lines {
	FILE *out;
	bool any;
};

/* Without the version of the symbol: main@@PROGRAM_1.0 */
static int write_line(void *arg, const struct binary_line *line)
{
	const char *function = line->function ? line->function : "?";
	struct lines *l = arg;

	fprintf(l->out, "%s{\"line\":%u,\"function\":", l->any ? "," : "", line->line);
	json_write_string(l->out, function, strcspn(function, "@"));
	if (line->file)
		write_text(l->out, "file", line->file);
	fputc('}', l->out);
	l->any = true;
	return 0;
}

/* What is there is the call: the address is where it returns to. */
static void write_address(FILE *out, struct symbol_job *job, const struct symbol_address *a,
			  struct symbol_cache *cache, const struct perf_map *jit)
{
	struct symbol_area *area = a->area == SYMBOL_NO_AREA ? NULL : &job->areas[a->area];
	struct binary *binary = area ? area_binary(area, cache, job->pid) : NULL;
	const char *name = !area && jit ? perf_map_find(jit, a->pc - 1) : NULL;
	struct binary_line line = {.function = name};
	struct lines lines = {.out = out};

	fprintf(out, "{\"pc\":%llu", a->pc);
	if (area || name)
		fprintf(out, ",\"module\":%u", area ? a->area : job->area_count);
	fputs(",\"lines\":[", out);
	if (binary)
		binary_lookup(binary, a->pc - 1 - area->start + area->offset, write_line, &lines);
	else if (name)
		write_line(&lines, &line);
	fputs("]}", out);
}

int symbol_job_run(struct symbol_job *job, struct symbol_cache *cache)
{
	FILE *out = open_memstream(&job->json, &job->bytes);
	struct perf_map *jit = NULL;

	if (!out)
		return -ENOMEM;
	if (job->jit_fd >= 0)
		perf_map_read(&jit, job->jit_fd);
	fprintf(out, "{\"pid\":%d,\"start_ns\":%llu,\"image\":%u,\n\"modules\":[", job->pid,
		job->start_ns, job->image);
	write_areas(out, job, cache);
	fputs("],\n\"symbols\":[", out);
	for (unsigned int i = 0; i < job->address_count; i++) {
		fputs(i ? ",\n" : "", out);
		write_address(out, job, &job->addresses[i], cache, jit);
	}
	fputs("]}\n", out);
	perf_map_free(jit);
	return fclose(out) ? -ENOMEM : 0;
}
