/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/profile.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/capture.h"
#include "src/collector/cubins.h"
#include "src/collector/leaves.h"
#include "src/collector/map.h"
#include "src/collector/model.h"
#include "src/collector/names.h"
#include "src/collector/nvtx_ranges.h"
#include "src/collector/sink.h"
#include "src/collector/stacks.h"
#include "src/collector/stalls.h"
#include "src/collector/table.h"

#define SAMPLES_MOST (1u << 22) /* what hostile processes can make us hold */
#define RANGES_DEEPEST 64

struct profile {
	struct profile_opts opts;
	struct launches *launches;
	struct nvtx_ranges *ranges; /* NULL unless asked for */
	struct works works;
	struct map samples_by_hash, paths_by_hash;
	struct sample *samples;
	struct range_path *paths;
	struct map apis; /* names of calls, by process and domain_api */
	struct profile_totals totals;
	struct stalls *stalls; /* NULL: no PC samples came */
	struct leaves *leaves;
};

static __u64 sample_hash(const struct sample *s)
{
	__u64 hash = map_mix(map_mix(1, (uintptr_t)s->origin.stack), (uintptr_t)s->work);

	hash = map_mix(hash, (__u64)s->origin.thread << 32 | s->origin.domain_api);
	return map_mix(hash, (uintptr_t)s->range) + s->origin.known;
}

static bool sample_is(const void *sample, const void *wanted)
{
	const struct sample *a = sample, *b = wanted;

	return a->origin.stack == b->origin.stack && a->work == b->work && a->range == b->range &&
	       a->origin.known == b->origin.known && a->origin.thread == b->origin.thread &&
	       a->origin.domain_api == b->origin.domain_api;
}

/* A copy, in the list. */
static struct sample *sample_new(struct profile *p, const struct sample *from)
{
	struct sample *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = *from;
	s->next = p->samples;
	p->samples = s;
	return s;
}

static int sample_get(struct profile *p, const struct sample *wanted, struct sample **ret)
{
	__u64 key = sample_hash(wanted);

	*ret = map_search(&p->samples_by_hash, &key, sample_is, wanted);
	if (*ret)
		return 0;
	if (p->samples_by_hash.count >= SAMPLES_MOST)
		return -ENOMEM;
	*ret = sample_new(p, wanted);
	return *ret ? map_insert(&p->samples_by_hash, key, *ret) : -ENOMEM;
}

static int profile_work(void *arg, const struct launch_origin *origin, const void *range,
			struct work *work, __u64 gpu_ns, __u64 count, __u64 launches)
{
	const struct sample key = {.origin = *origin, .range = range, .work = work};
	struct profile *p = arg;
	struct sample *s;
	int err = sample_get(p, &key, &s);

	if (err)
		return err;
	s->gpu_ns += gpu_ns;
	s->works += count;
	s->launches += launches;
	p->totals.gpu_ns += gpu_ns;
	p->totals.works += count;
	return 0;
}

static int api_add(struct profile *p, const struct event *e)
{
	const struct cuprobe_api *a = e->api;
	__u64 key = (__u64)e->process->number << 32 | a->cbid |
		    (a->domain == CUPROBE_API_DRIVER ? CUPROBE_LAUNCH_DRIVER : 0);
	const char *text;
	char *name;
	size_t bytes;
	int err;

	if (map_find(&p->apis, key))
		return 0;
	text = process_string(e->process, a->name, &bytes);
	if (!text)
		return 0;
	name = strndup(text, api_name_bytes(text, bytes));
	if (!name)
		return -ENOMEM;
	err = map_insert(&p->apis, key, name);
	if (err)
		free(name);
	return err;
}

const char *profile_api_name(const struct profile *p, const struct sample *s)
{
	__u64 key = (__u64)s->work->process->number << 32 | s->origin.domain_api;
	const char *name = map_find(&p->apis, key);

	return name ? name : launch_api_name(s->origin.domain_api);
}

static bool path_is(const void *path, const void *wanted)
{
	const struct range_path *a = path, *b = wanted;

	return a->outer == b->outer && a->name == b->name;
}

static int path_get(struct profile *p, const struct range_path *outer, const char *name,
		    const struct range_path **ret)
{
	const struct range_path wanted = {.next = p->paths, .outer = outer, .name = name};
	__u64 key = map_mix(map_mix(7, (uintptr_t)outer), (uintptr_t)name);
	struct range_path *path = map_search(&p->paths_by_hash, &key, path_is, &wanted);

	if (!path) {
		path = malloc(sizeof(*path));
		if (!path || map_insert(&p->paths_by_hash, key, path)) {
			free(path);
			return -ENOMEM;
		}
		*path = wanted;
		p->paths = path;
	}
	*ret = path;
	return 0;
}

/* `ranges` are those around a launch, the outermost first. */
static int profile_ranges(void *arg, struct process *process, __u32 correlation,
			  const struct nvtx_range *const *ranges, unsigned int count)
{
	const struct range_path *path = NULL;
	struct profile *p = arg;
	int err = 0;

	for (unsigned int i = 0; i < count && i < RANGES_DEEPEST && !err; i++) {
		const char *name = process_string(process, ranges[i]->start.message, NULL);

		err = path_get(p, path, name ? name : "(no name)", &path);
	}
	if (!err && path)
		launches_set_range(p->launches, process, correlation, path);
	return err;
}

int profile_open(struct profile **ret, const struct profile_opts *opts)
{
	struct profile *p = calloc(1, sizeof(*p));
	const struct launches_handler launches = {profile_work, p};
	const struct nvtx_ranges_handler ranges = {.launch = profile_ranges, .arg = p};
	int err;

	if (!p)
		return -ENOMEM;
	p->opts = *opts;
	p->works.mangled = opts->mangled;
	err = launches_open(&p->launches, opts->capture, &launches);
	if (!err && opts->nvtx)
		err = nvtx_ranges_open(&p->ranges, &ranges);
	if (err) {
		profile_free(p);
		return err;
	}
	*ret = p;
	return 0;
}

int profile_open_for_sink(struct profile **ret, const struct sink_opts *opts)
{
	const struct profile_opts profile = {
		.model = opts->model,
		.inside = true,
		.mangled = opts->mangled,
		.native = opts->info->native_stacks,
		.remarks = opts->remarks,
	};

	return profile_open(ret, &profile);
}

int profile_event(struct profile *p, const struct event *e)
{
	struct work *work;
	int err = 0;

	if (e->probe == CUPROBE_PROBE_pc_sample) {
		if (!p->opts.inside)
			return 0;
		if (!p->stalls)
			err = stalls_open(&p->stalls, p->opts.mangled);
		if (!err)
			err = stalls_event(p->stalls, e);
	} else if (e->probe == CUPROBE_PROBE_launch) {
		err = launches_launch(p->launches, e);
	} else if (e->probe == CUPROBE_PROBE_api) {
		err = api_add(p, e);
	} else if (PROFILE_WORK & 1u << e->probe) {
		err = works_get(&p->works, e, &work);
		if (!err)
			err = launches_work(p->launches, e, work);
	}
	return err || !p->ranges ? err : nvtx_ranges_event(p->ranges, e);
}

/* The samples' own device has to be known, else a sample is worth one nanosecond. */
static double sample_ns(const struct stalls_kernel *kernel)
{
	const struct cuprobe_info_pc_sampling *sampling =
		process_pc_sampling(kernel->process, kernel->context);
	const struct cuprobe_info_device *device =
		sampling ? process_device(kernel->process, sampling->device) : NULL;

	if (!device || !device->clock_khz || !device->multiprocessors || !sampling->period_log2 ||
	    sampling->period_log2 > 31)
		return 1;
	return (double)(1u << sampling->period_log2) / (double)device->clock_khz * 1e6 /
	       (double)device->multiprocessors;
}

/* A kernel without any record: PC samples alone tell how long it ran. */
static int sampled_work(struct profile *p, struct stalls_kernel *kernel)
{
	const struct work from = {
		.process = kernel->process,
		.image = kernel->process->image,
		.probe = CUPROBE_PROBE_pc_sample,
		.key = (uintptr_t)kernel,
		.device = kernel->device,
		.context = kernel->context,
		.stream = CUPROBE_NO_ID,
	};
	const struct launch_origin nowhere = {0};
	struct work *work;
	int err = works_add(&p->works, &from, kernel->readable, &work);

	if (err)
		return err;
	return profile_work(p, &nowhere, NULL, work,
			    (__u64)((double)kernel->tally.samples * sample_ns(kernel)), 0, 0);
}

static const char *work_mangled(const struct work *w)
{
	if (w->probe == CUPROBE_PROBE_pc_sample)
		return ((const struct stalls_kernel *)(uintptr_t)w->key)->name;
	if (w->probe != CUPROBE_PROBE_kernel || w->image != w->process->image)
		return NULL;
	return process_string(w->process, w->name_id, NULL);
}

/* Where kernels or graphs were recorded, their times hold all there is. */
static bool kernels_are_recorded(const struct profile *p)
{
	const struct work *w = p->works.all;

	while (w && w->probe != CUPROBE_PROBE_kernel && w->probe != CUPROBE_PROBE_graph)
		w = w->next;
	return w;
}

/* One sample becomes one for each leaf, which share its time as they share the PC samples. */
static int sample_split(struct profile *p, struct sample *s)
{
	const char *name = work_mangled(s->work);
	__u64 all = 0, before = 0, whole_ns = s->gpu_ns, given_ns = 0;
	const struct kernel_leaf *leaf = name ? leaves_of(p->leaves, name, &all) : NULL;

	for (const struct kernel_leaf *first = leaf; leaf && all; leaf = leaf->next) {
		struct sample *part = s;
		__u64 until_ns;

		before += leaf->samples;
		until_ns = (__u64)((double)whole_ns * (double)before / (double)all);
		if (leaf != first) {
			part = sample_new(p, s);
			if (!part)
				return -ENOMEM;
			part->works = part->launches = 0;
		}
		part->leaf = leaf;
		part->gpu_ns = until_ns - given_ns;
		given_ns = until_ns;
	}
	return 0;
}

static int stalls_apply(struct profile *p)
{
	struct cubins *cubins = model_cubins(p->opts.model);
	const struct stalls_view *view = stalls_view(p->stalls);
	bool recorded = kernels_are_recorded(p);
	struct sample *next;
	int err = stalls_finish(p->stalls, cubins);

	if (!err)
		err = leaves_open(&p->leaves, p->stalls, cubins, p->opts.mangled);
	for (size_t i = 0; i < view->kernel_count && !recorded && !err; i++)
		err = sampled_work(p, view->kernels[i]);
	for (struct sample *s = p->samples; s && !err; s = next) {
		next = s->next;
		err = sample_split(p, s);
	}
	return err;
}

const char *profile_totals_text(char *buffer, const struct profile_totals *t)
{
	char time[32];

	snprintf(buffer, PROFILE_TOTALS_TEXT,
		 "%s in %llu kernels, copies and graphs; %.2f %% of it without a known launch, "
		 "%.2f %% without a stack",
		 format_duration(time, (double)t->gpu_ns), t->works,
		 100 * share(t->unlaunched_ns, t->gpu_ns), 100 * share(t->unstacked_ns, t->gpu_ns));
	return buffer;
}

static void totals_finish(struct profile *p)
{
	char text[PROFILE_TOTALS_TEXT];

	for (const struct sample *s = p->samples; s; s = s->next) {
		if (!s->origin.known)
			p->totals.unlaunched_ns += s->gpu_ns;
		else if (!stack_is_defined(s->origin.stack))
			p->totals.unstacked_ns += s->gpu_ns;
	}
	if (p->opts.remarks)
		fprintf(p->opts.remarks, "cuprobe: %s\n", profile_totals_text(text, &p->totals));
}

int profile_finish(struct profile *p)
{
	int err = p->ranges ? nvtx_ranges_finish(p->ranges, 0) : 0;

	if (!err)
		err = launches_finish(p->launches);
	for (struct process *process = model_processes(p->opts.model); process;
	     process = process->next)
		process_settle_stacks(process);
	if (!err)
		err = works_finish(&p->works);
	if (!err && p->stalls)
		err = stalls_apply(p);
	if (!err)
		totals_finish(p);
	return err;
}

const struct sample *profile_samples(const struct profile *p)
{
	return p->samples;
}

bool profile_is_native(const struct profile *p)
{
	return p->opts.native;
}

struct profile_totals profile_totals(const struct profile *p)
{
	return p->totals;
}

static void samples_free(struct sample *all)
{
	struct sample *next;

	for (struct sample *s = all; s; s = next) {
		next = s->next;
		free(s);
	}
}

static void paths_free(struct range_path *all)
{
	struct range_path *next;

	for (struct range_path *path = all; path; path = next) {
		next = path->next;
		free(path);
	}
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	launches_free(p->launches);
	nvtx_ranges_free(p->ranges);
	leaves_free(p->leaves);
	stalls_free(p->stalls);
	works_free(&p->works);
	samples_free(p->samples);
	paths_free(p->paths);
	map_clear(&p->samples_by_hash, NULL);
	map_clear(&p->paths_by_hash, NULL);
	map_clear(&p->apis, free);
	free(p);
}
