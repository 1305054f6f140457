/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/code.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/collector/cubin.h"
#include "src/collector/cubins.h"
#include "src/collector/fatbin.h"
#include "src/collector/json.h"
#include "src/collector/map.h"
#include "src/collector/model.h"
#include "src/collector/procs.h"
#include "src/collector/stalls.h"

struct code_file {
	struct code_file *next;
	__u32 pid;
	char path[];
};

/* What is looked for: a cubin with all of these functions. */
struct wanted {
	struct wanted *next;
	__u64 crc;
	__u32 device_arch;	/* 0 not known */
	const char *name;	/* the first of its functions; the others come from the stalls */
	unsigned int functions; /* how many there are */
	unsigned int cubins;	/* that have them all, are for `arch`, and differ */
	__u32 arch;		/* of those, the highest that runs on the device */
	void *image;		/* of the first of those */
	size_t bytes;
};

struct search {
	const struct stalls *stalls;
	const struct map *known;
	struct wanted *wanted;
	int err;
};

void code_free(struct code *c)
{
	struct code_file *next;

	for (struct code_file *f = c->files; f; f = next) {
		next = f->next;
		free(f);
	}
	c->files = NULL;
}

static int file_add(struct code *c, __u32 pid, const char *path)
{
	struct code_file *f = c->files;

	while (f && strcmp(f->path, path) != 0)
		f = f->next;
	if (f || !*path)
		return 0;
	f = malloc(sizeof(*f) + strlen(path) + 1);
	if (!f)
		return -ENOMEM;
	f->pid = pid;
	strcpy(f->path, path);
	f->next = c->files;
	c->files = f;
	return 0;
}

int code_process(struct code *c, const char *json, size_t bytes)
{
	struct json object = json_open(json, bytes), maps = json_member(object, "maps"), map;
	__u32 pid = (__u32)json_number(json_member(object, "pid"));
	char path[PATH_MAX];
	int err = 0;

	while (!err && json_next(&maps, &map)) {
		json_string(json_member(map, "path"), path, sizeof(path));
		err = file_add(c, pid, path);
	}
	return err;
}

static __u32 arch_of(const struct stalls_kernel *kernel)
{
	const struct cuprobe_info_device *device = process_device(kernel->process, kernel->device);

	return device ? 10 * device->compute_major + device->compute_minor : 0;
}

static void want(void *arg, const struct stalls_kernel *kernel)
{
	struct search *s = arg;
	struct wanted *w = s->wanted;

	while (w && w->crc != kernel->crc)
		w = w->next;
	if (w) {
		w->functions++;
		return;
	}
	if (!kernel->crc || map_find(s->known, kernel->crc))
		return;
	w = calloc(1, sizeof(*w));
	if (!w) {
		s->err = -ENOMEM;
		return;
	}
	w->crc = kernel->crc;
	w->device_arch = arch_of(kernel);
	w->name = kernel->name;
	w->functions = 1;
	w->next = s->wanted;
	s->wanted = w;
}

struct trial {
	const struct cubin *cubin;
	__u64 crc;
	unsigned int there;
};

static void try_kernel(void *arg, const struct stalls_kernel *kernel)
{
	struct trial *t = arg;
	struct cubin_frame frames[CUBIN_FRAMES];

	t->there += kernel->crc == t->crc && cubin_frames(t->cubin, kernel->name, 0, frames) > 0;
}

static void forget(struct wanted *w)
{
	free(w->image);
	w->image = NULL;
	w->cubins = 0;
}

static int take(struct wanted *w, __u32 arch, const void *image, size_t bytes)
{
	if (w->device_arch && arch > w->arch)
		forget(w);
	w->arch = arch;
	if (w->image && w->bytes == bytes && !memcmp(w->image, image, bytes))
		return 0; /* the same again, of another file */
	w->cubins++;
	if (w->image)
		return 0;
	w->image = malloc(bytes);
	if (!w->image)
		return -ENOMEM;
	memcpy(w->image, image, bytes);
	w->bytes = bytes;
	return 0;
}

/*
 * A cubin runs on devices of the same major version, and the same or a higher minor one (CUDA C++
 * Programming Guide, "Binary Compatibility"); the driver takes the highest that does.
 */
static bool may_be(const struct wanted *w, __u32 arch)
{
	__u32 device = w->device_arch;

	return !device || (arch / 10 == device / 10 && arch <= device && arch >= w->arch);
}

static bool any_may_be(void *arg, __u32 arch)
{
	const struct search *s = arg;
	const struct wanted *w = s->wanted;

	while (w && !may_be(w, arch))
		w = w->next;
	return w;
}

/* Most cubins have none of the names; only what does is read. */
static bool has_text(const void *image, size_t bytes, const char *name)
{
	return memmem(image, bytes, name, strlen(name) + 1) != NULL;
}

static int search_cubin(void *arg, __u32 arch, const void *image, size_t bytes)
{
	struct search *s = arg;
	struct cubin *cubin = NULL;
	int err = 0;

	if (bytes > CUBIN_LARGEST)
		return 0;
	for (struct wanted *w = s->wanted; w && !err; w = w->next) {
		struct trial trial = {.crc = w->crc};

		if (!may_be(w, arch) || !has_text(image, bytes, w->name))
			continue;
		if (!cubin && cubin_open(&cubin, image, bytes))
			break;
		trial.cubin = cubin;
		stalls_each_kernel(s->stalls, try_kernel, &trial);
		if (trial.there == w->functions)
			err = take(w, arch, image, bytes);
	}
	cubin_free(cubin);
	return err;
}

static int search_file(struct search *s, const struct code_file *f)
{
	const struct fatbin_visitor visitor = {any_may_be, search_cubin, s};
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "/proc/%d/root%s", proc_thread((pid_t)f->pid), f->path);
	return fatbin_walk_file(access(path, R_OK) ? f->path : path, &visitor);
}

/* Of a process that ended before its files could be listed, its own file is known all the same. */
static void add_executable(void *arg, const struct stalls_kernel *kernel)
{
	const struct process *p = kernel->process;
	const char *path = process_string(p, p->info.executable, NULL);
	struct code *c = arg;

	if (path)
		file_add(c, p->pid, path); /* without memory it is not looked at */
}

int code_find(struct code *c, const struct stalls *stalls, const struct map *known,
	      int (*found)(void *arg, __u64 crc, const void *image, size_t bytes), void *arg)
{
	struct search s = {.stalls = stalls, .known = known};
	struct wanted *next;
	int err;

	stalls_each_kernel(stalls, add_executable, c);
	stalls_each_kernel(stalls, want, &s);
	err = s.err;
	for (const struct code_file *f = c->files; f && s.wanted && !err; f = f->next)
		err = search_file(&s, f);
	for (struct wanted *w = s.wanted; w; w = next) {
		next = w->next;
		if (!err && w->cubins == 1)
			err = found(arg, w->crc, w->image, w->bytes);
		free(w->image);
		free(w);
	}
	return err;
}
