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
#include "src/collector/output/fields.h"
#include "src/collector/sink.h"
#include "src/collector/stacks.h"
#include "src/collector/stalls.h"
#include "src/collector/table.h"

#define SAMPLES_MOST (1u << 22) /* what hostile processes can make us hold */
#define WORKS_MOST (1u << 20)
#define RANGES_DEEPEST 64

struct profile {
	struct profile_opts opts;
	struct launches *launches;
	struct nvtx_ranges *ranges; /* NULL unless asked for */
	struct map works_by_hash, samples_by_hash, ranges_by_hash;
	struct map apis;	       /* names of calls, by process and domain_api */
	void *works, *samples, *paths; /* lists, by link.next */
	struct profile_totals totals;
	struct stalls *stalls; /* NULL: no PC samples came */
	struct leaves *leaves;
};

static __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static __u64 mix_pointer(__u64 hash, const void *pointer)
{
	return mix(hash, (uintptr_t)pointer);
}

static __u64 sample_hash(const struct sample *s)
{
	__u64 hash = mix_pointer(mix_pointer(1, s->origin.stack), s->work);

	hash = mix(hash, (__u64)s->origin.thread << 32 | s->origin.domain_api);
	return mix_pointer(hash, s->range) + s->origin.known;
}

static bool sample_equal(const struct sample *a, const struct sample *b)
{
	return a->origin.stack == b->origin.stack && a->work == b->work && a->range == b->range &&
	       a->origin.known == b->origin.known && a->origin.thread == b->origin.thread &&
	       a->origin.domain_api == b->origin.domain_api;
}

/* Puts what is new into its list and under its hash; `first` is what was there, or NULL. */
static int link_add(struct map *map, __u64 hash, void *first, void *added, void **list)
{
	struct profile_link *f = first, *a = added;

	a->same_hash = f ? f->same_hash : NULL;
	if (f) {
		f->same_hash = a;
	} else {
		int err = map_insert(map, hash, a);

		if (err)
			return err;
	}
	a->next = *list;
	*list = a;
	return 0;
}

static int sample_get(struct profile *p, const struct sample *key, struct sample **ret)
{
	__u64 hash = sample_hash(key);
	struct sample *first = map_find(&p->samples_by_hash, hash), *s = first;
	int err;

	while (s && !sample_equal(s, key))
		s = s->link.same_hash;
	*ret = s;
	if (s)
		return 0;
	if (p->samples_by_hash.count >= SAMPLES_MOST)
		return -ENOMEM;
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = *key;
	err = link_add(&p->samples_by_hash, hash, first, s, &p->samples);
	if (err) {
		free(s);
		return err;
	}
	*ret = s;
	return 0;
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

/* What the record says, but for times and ids that differ from one execution to the next. */
static struct work work_of(const struct event *e)
{
	struct work w = {.process = e->process, .image = e->process->image, .probe = e->probe};

#define PLACE(record)                                                                              \
	w.device = (record)->device, w.context = (record)->context, w.stream = (record)->stream
	switch (e->probe) {
	case CUPROBE_PROBE_kernel:
		PLACE(e->kernel);
		w.name_id = e->kernel->name;
		break;
	case CUPROBE_PROBE_graph:
		PLACE(e->graph);
		w.key = e->graph->graph_id;
		break;
	case CUPROBE_PROBE_memcpy:
		PLACE(e->memcpy);
		w.key = (__u64)e->memcpy->copy_kind << 16 | (__u64)e->memcpy->src_kind << 8 |
			e->memcpy->dst_kind;
		break;
	default:
		PLACE(e->memset);
		w.key = e->memset->memory_kind;
		break;
	}
#undef PLACE
	return w;
}

static __u64 work_hash(const struct work *w)
{
	__u64 hash = mix(mix_pointer(w->probe, w->process), w->image);

	hash = mix(mix(hash, w->key), (__u64)w->name_id << 32 | w->device);
	return mix(hash, (__u64)w->context << 32 | w->stream);
}

static bool work_equal(const struct work *a, const struct work *b)
{
	return a->process == b->process && a->image == b->image && a->probe == b->probe &&
	       a->key == b->key && a->name_id == b->name_id && a->device == b->device &&
	       a->context == b->context && a->stream == b->stream;
}

/* An id stands for a name only in the image that defined it, and its definition may come later. */
static int work_name(struct profile *p, struct work *w)
{
	if (w->name || !w->name_id || w->image != w->process->image ||
	    !process_string(w->process, w->name_id, NULL))
		return 0;
	w->name = strdup(process_name(w->process, w->name_id, p->opts.mangled));
	return w->name ? 0 : -ENOMEM;
}

static int work_new(struct profile *p, const struct event *e, const struct work *key,
		    struct work *first, struct work **ret)
{
	struct work *w = malloc(sizeof(*w));
	struct event_name name;
	int err = 0;

	if (!w)
		return -ENOMEM;
	*w = *key;
	if (e->probe != CUPROBE_PROBE_kernel) {
		event_name(&name, e, p->opts.mangled);
		w->name = strndup(name.text, name.bytes);
		err = w->name ? 0 : -ENOMEM;
	}
	if (!err)
		err = link_add(&p->works_by_hash, work_hash(key), first, w, &p->works);
	if (err) {
		free(w->name);
		free(w);
		return err;
	}
	*ret = w;
	return 0;
}

static int work_get(struct profile *p, const struct event *e, struct work **ret)
{
	const struct work key = work_of(e);
	struct work *first = map_find(&p->works_by_hash, work_hash(&key)), *w = first;
	int err = 0;

	while (w && !work_equal(w, &key))
		w = w->link.same_hash;
	if (!w && p->works_by_hash.count >= WORKS_MOST)
		return -ENOMEM;
	if (!w)
		err = work_new(p, e, &key, first, &w);
	if (err)
		return err;
	*ret = w;
	return work_name(p, w);
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

static int path_get(struct profile *p, const struct range_path *outer, const char *name,
		    const struct range_path **ret)
{
	__u64 hash = mix_pointer(mix_pointer(7, outer), name);
	struct range_path *first = map_find(&p->ranges_by_hash, hash), *path = first;
	int err;

	while (path && (path->outer != outer || path->name != name))
		path = path->link.same_hash;
	if (!path) {
		path = calloc(1, sizeof(*path));
		if (!path)
			return -ENOMEM;
		path->outer = outer;
		path->name = name;
		err = link_add(&p->ranges_by_hash, hash, first, path, &p->paths);
		if (err) {
			free(path);
			return err;
		}
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
		err = work_get(p, e, &work);
		if (!err)
			err = launches_work(p->launches, e, work);
	}
	return err || !p->ranges ? err : nvtx_ranges_event(p->ranges, e);
}

/* What is left without a name. */
static int works_finish(struct profile *p)
{
	int err = 0;

	for (struct work *w = p->works; w && !err; w = w->link.next) {
		err = work_name(p, w);
		if (!err && !w->name)
			w->name =
				strdup(w->name_id ? "(a name that was not received)" : "(no name)");
		if (!w->name)
			err = -ENOMEM;
	}
	return err;
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
	const struct launch_origin nowhere = {0};
	struct work *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->process = kernel->process;
	w->image = kernel->process->image;
	w->probe = CUPROBE_PROBE_pc_sample;
	w->key = (uintptr_t)kernel;
	w->device = kernel->device;
	w->context = kernel->context;
	w->stream = CUPROBE_NO_ID;
	w->name = strdup(kernel->readable);
	err = w->name ? link_add(&p->works_by_hash, work_hash(w), NULL, w, &p->works) : -ENOMEM;
	if (err) {
		free(w->name);
		free(w);
		return err;
	}
	return profile_work(p, &nowhere, NULL, w,
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
	const struct work *w = p->works;

	while (w && w->probe != CUPROBE_PROBE_kernel && w->probe != CUPROBE_PROBE_graph)
		w = w->link.next;
	return w;
}

/* One sample becomes one for each leaf, which share its time as they share the PC samples. */
static int sample_split(struct profile *p, struct sample *s)
{
	const char *name = work_mangled(s->work);
	__u64 all = 0, before = 0, whole_ns = s->gpu_ns, given_ns = 0;
	const struct kernel_leaf *leaf = name ? leaves_of(p->leaves, name, &all) : NULL;

	for (const struct kernel_leaf *first = leaf; leaf; leaf = leaf->next) {
		struct sample *part = s;
		__u64 until_ns;

		before += leaf->samples;
		until_ns = (__u64)((double)whole_ns * (double)before / (double)all);
		if (leaf != first) {
			part = calloc(1, sizeof(*part));
			if (!part)
				return -ENOMEM;
			*part = *s;
			part->works = part->launches = 0;
			part->link.next = p->samples;
			p->samples = part;
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
		next = s->link.next;
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

	for (const struct sample *s = p->samples; s; s = s->link.next) {
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
		err = works_finish(p);
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

static void list_free(struct profile_link *all)
{
	struct profile_link *next;

	for (struct profile_link *l = all; l; l = next) {
		next = l->next;
		free(l);
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
	for (struct work *w = p->works; w; w = w->link.next)
		free(w->name);
	list_free(p->works);
	list_free(p->samples);
	list_free(p->paths);
	map_clear(&p->works_by_hash, NULL);
	map_clear(&p->samples_by_hash, NULL);
	map_clear(&p->ranges_by_hash, NULL);
	map_clear(&p->apis, free);
	free(p);
}
