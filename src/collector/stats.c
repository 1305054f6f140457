/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While events pass, rows are kept by number (process, image, string id), which costs one look into
 * a hash table. stats_rows.c brings them together at the end.
 */
#include "src/collector/stats.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "src/collector/model.h"
#include "src/collector/stats_parts.h"

#define ROWS_MOST (1u << 20)	/* all together: what hostile processes can make us hold */
#define DEVICES_MOST (1u << 12) /* likewise; a device counts once for each process */

int stats_open(struct stats **ret, struct model *model, bool mangled)
{
	struct stats *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->model = model;
	s->mangled = mangled;
	*ret = s;
	return 0;
}

void stats_free_parts(struct stats *s)
{
	struct part *next;
	struct device_part *next_device;

	for (struct part *p = s->all_parts; p; p = next) {
		next = p->next;
		spread_free(&p->times);
		free(p);
	}
	for (struct device_part *d = s->all_devices; d; d = next_device) {
		next_device = d->next;
		busy_free(&d->figures.busy);
		free(d);
	}
	s->all_parts = NULL;
	s->all_devices = NULL;
	for (int section = 0; section < STATS_SECTIONS; section++)
		map_clear(&s->parts[section], NULL);
	map_clear(&s->devices, NULL);
}

void stats_free(struct stats *s)
{
	if (!s)
		return;
	stats_free_parts(s);
	for (int section = 0; section < STATS_SECTIONS; section++) {
		for (size_t i = 0; i < s->row_count[section]; i++) {
			spread_free(&s->rows[section][i].times);
			free(s->rows[section][i].name);
		}
		free(s->rows[section]);
	}
	for (size_t i = 0; i < s->device_count; i++) {
		busy_free(&s->joined_devices[i].busy);
		free(s->joined_devices[i].name);
	}
	free(s->joined_devices);
	free(s);
}

/* Of one process and image; wraps, and then joins what is not one, only beyond 2^20 of them. */
static __u64 key_of(const struct process *p, __u32 id)
{
	return (__u64)(p->number & 0xfffff) << 44 | (__u64)(p->image & 0xfff) << 32 | id;
}

static int part_get(struct stats *s, enum stats_section section, const struct event *e, __u64 key,
		    __u32 name_id, struct part **ret)
{
	struct part *p = map_find(&s->parts[section], key);
	int err;

	if (p) {
		*ret = p;
		return 0;
	}
	if (s->part_count == ROWS_MOST) {
		*ret = NULL;
		return 0;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	err = map_insert(&s->parts[section], key, p);
	if (err) {
		free(p);
		return err;
	}
	*p = (struct part){
		.next = s->all_parts,
		.section = section,
		.process = e->process,
		.key = key,
		.image = e->process->image,
		.name_id = name_id,
	};
	s->all_parts = p;
	s->part_count++;
	*ret = p;
	return 0;
}

/* An id stands for a name only in the image of the process that defined it. */
void stats_part_name(struct stats *s, struct part *p)
{
	if (p->name || !p->name_id || p->image != p->process->image ||
	    !process_string(p->process, p->name_id, NULL))
		return;
	p->name = process_name(p->process, p->name_id, s->mangled);
}

static int stats_add(struct stats *s, enum stats_section section, const struct event *e, __u64 key,
		     __u32 name_id, __u64 bytes)
{
	__u64 start_ns = 0, end_ns = 0;
	struct part *p;
	int err = part_get(s, section, e, key, name_id, &p);

	if (err || !p)
		return err;
	event_times(e, &start_ns, &end_ns);
	stats_part_name(s, p);
	p->bytes += bytes;
	return spread_add(&p->times, end_ns - start_ns);
}

static int device_get(struct stats *s, const struct event *e, __u32 device,
		      struct device_part **ret)
{
	__u64 key = (__u64)e->process->number << 32 | device;
	struct device_part *d = map_find(&s->devices, key);
	int err;

	*ret = d;
	if (d || s->device_part_count == DEVICES_MOST)
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	err = map_insert(&s->devices, key, d);
	if (err) {
		free(d);
		return err;
	}
	d->next = s->all_devices;
	d->process = e->process;
	d->device = device;
	s->all_devices = d;
	s->device_part_count++;
	*ret = d;
	return 0;
}

static int stats_device_work(struct stats *s, const struct event *e, __u32 device)
{
	__u64 start_ns, end_ns;
	struct device_part *d;
	int err = device_get(s, e, device, &d);

	if (err || !d)
		return err;
	d->figures.kernels += e->probe == CUPROBE_PROBE_kernel;
	d->figures.graphs += e->probe == CUPROBE_PROBE_graph;
	d->figures.copies += e->probe == CUPROBE_PROBE_memcpy;
	d->figures.memsets += e->probe == CUPROBE_PROBE_memset;
	event_times(e, &start_ns, &end_ns);
	return busy_add(&d->figures.busy, start_ns, end_ns);
}

static int stats_kernel(struct stats *s, const struct event *e)
{
	__u32 name = e->kernel->name;
	int err = stats_add(s, STATS_KERNELS, e, key_of(e->process, name), name, 0);

	return err ? err : stats_device_work(s, e, e->kernel->device);
}

static int stats_graph(struct stats *s, const struct event *e)
{
	int err = stats_add(s, STATS_GRAPHS, e, key_of(e->process, e->graph->graph_id), 0, 0);

	s->graph_launches++;
	return err ? err : stats_device_work(s, e, e->graph->device);
}

static int stats_memcpy(struct stats *s, const struct event *e)
{
	const struct cuprobe_memcpy *m = e->memcpy;
	__u64 key = (__u64)m->copy_kind << 16 | (__u64)m->src_kind << 8 | m->dst_kind;
	int err = stats_add(s, STATS_COPIES, e, key, 0, m->bytes);

	return err ? err : stats_device_work(s, e, m->device);
}

static int stats_memset(struct stats *s, const struct event *e)
{
	int err = stats_add(s, STATS_MEMSETS, e, e->memset->memory_kind, 0, e->memset->bytes);

	return err ? err : stats_device_work(s, e, e->memset->device);
}

/* Net of what was freed; frees of what was allocated before the recording do not count below 0. */
static int stats_memory(struct stats *s, const struct event *e)
{
	const struct cuprobe_memory *m = e->memory;
	struct part *p;
	int err;

	if (m->op != CUPROBE_MEMORY_ALLOC && m->op != CUPROBE_MEMORY_FREE)
		return 0;
	err = part_get(s, STATS_MEMORY, e, (__u64)m->memory_kind, 0, &p);
	if (err || !p)
		return err;
	if (m->op == CUPROBE_MEMORY_FREE) {
		p->live_bytes -= (__s64)(m->bytes & ~(1ull << 63));
		p->live_bytes = p->live_bytes < 0 ? 0 : p->live_bytes;
		return 0;
	}
	if (__builtin_add_overflow(p->live_bytes, (__s64)(m->bytes & ~(1ull << 63)),
				   &p->live_bytes))
		p->live_bytes = INT64_MAX;
	if (p->live_bytes > p->peak_bytes)
		p->peak_bytes = p->live_bytes;
	p->bytes += m->bytes;
	return spread_add(&p->times, m->bytes);
}

static int stats_sync(struct stats *s, const struct event *e)
{
	if (e->sync->kind == CUPROBE_SYNC_EVENT_RECORD)
		return 0;
	return stats_add(s, STATS_SYNCS, e, e->sync->kind, 0, 0);
}

static int stats_unified_memory(struct stats *s, const struct event *e)
{
	__u32 kind = e->unified_memory->kind;
	bool in_bytes = kind == 1 || kind == 2 || kind == 8; /* migrations, by direction */

	return stats_add(s, STATS_UNIFIED_MEMORY, e, kind, 0,
			 in_bytes ? e->unified_memory->value : 0);
}

/* Not what only defines or describes it. */
static bool is_activity(enum cuprobe_probe_id probe)
{
	return probe < CUPROBE_PROBE_string || probe == CUPROBE_PROBE_nvtx ||
	       probe == CUPROBE_PROBE_pc_sample;
}

int stats_event(void *stats, const struct event *e)
{
	struct stats *s = stats;

	s->events += is_activity(e->probe);
	switch (e->probe) {
	case CUPROBE_PROBE_kernel:
		return stats_kernel(s, e);
	case CUPROBE_PROBE_graph:
		return stats_graph(s, e);
	case CUPROBE_PROBE_memcpy:
		return stats_memcpy(s, e);
	case CUPROBE_PROBE_memset:
		return stats_memset(s, e);
	case CUPROBE_PROBE_memory:
		return stats_memory(s, e);
	case CUPROBE_PROBE_sync:
		return stats_sync(s, e);
	case CUPROBE_PROBE_api:
		return stats_add(s, STATS_APIS, e, key_of(e->process, e->api->name), e->api->name,
				 0);
	case CUPROBE_PROBE_unified_memory:
		return stats_unified_memory(s, e);
	case CUPROBE_PROBE_overhead:
		return stats_add(s, STATS_OVERHEADS, e, e->overhead->kind, 0, 0);
	default:
		return 0;
	}
}

__u64 stats_graph_launches(const struct stats *s)
{
	return s->graph_launches;
}

__u64 stats_events(const struct stats *s)
{
	return s->events;
}
