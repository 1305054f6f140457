/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stats.c collected by number is brought together by name: kernels of all processes, devices
 * of one UUID.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/model.h"
#include "src/collector/names.h"
#include "src/collector/nvtx_names.h"
#include "src/collector/stats_parts.h"

/* The name of a row that has no string; to be freed. */
static char *part_name_from_key(const struct part *p)
{
	char *name = NULL;
	int bytes = 0;

	switch (p->section) {
	case STATS_GRAPHS:
		bytes = asprintf(&name, "graph %u of process %u", (__u32)p->key, p->process->pid);
		break;
	case STATS_COPIES:
		bytes = asprintf(&name, "%s (%s -> %s)", copy_kind_name(p->key >> 16 & 0xff),
				 memory_kind_name(p->key >> 8 & 0xff),
				 memory_kind_name(p->key & 0xff));
		break;
	case STATS_MEMSETS:
	case STATS_MEMORY:
		name = strdup(memory_kind_name((__u32)p->key));
		break;
	case STATS_SYNCS:
		name = strdup(sync_kind_name((__u32)p->key));
		break;
	case STATS_UNIFIED_MEMORY:
		name = strdup(unified_memory_kind_name((__u32)p->key));
		break;
	case STATS_OVERHEADS:
		name = strdup(overhead_kind_name((__u32)p->key));
		break;
	default: /* a name that was never defined */
		bytes = asprintf(&name,
				 p->name_id ? "(name %u of process %u was not received)"
					    : "(no name)",
				 p->name_id, p->process->pid);
		break;
	}
	return bytes < 0 ? NULL : name;
}

static char *part_full_name(struct stats *s, struct part *p)
{
	stats_part_name(s, p);
	if (!p->name)
		return part_name_from_key(p);
	if (p->section == STATS_APIS && !s->mangled)
		return strndup(p->name, api_name_bytes(p->name, strlen(p->name)));
	return strdup(p->name);
}

static int by_name(const void *a, const void *b)
{
	const struct stats_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_total(const void *a, const void *b)
{
	const struct stats_row *x = a, *y = b;

	if (x->times.sum != y->times.sum)
		return x->times.sum < y->times.sum ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Joins neighbours of one name. */
static int rows_join(struct stats_row *rows, size_t *count)
{
	size_t last = 0;

	for (size_t i = 1; i < *count; i++) {
		if (strcmp(rows[i].name, rows[last].name) != 0) {
			if (++last != i) {
				rows[last] = rows[i];
				rows[i] = (struct stats_row){0};
			}
			continue;
		}
		if (spread_merge(&rows[last].times, &rows[i].times))
			return -ENOMEM;
		rows[last].bytes += rows[i].bytes;
		rows[last].peak_bytes += rows[i].peak_bytes;
		spread_free(&rows[i].times);
		free(rows[i].name);
		rows[i] = (struct stats_row){0};
	}
	*count = *count ? last + 1 : 0;
	return 0;
}

static int section_finish(struct stats *s, enum stats_section section)
{
	size_t *count = &s->row_count[section];
	struct stats_row *rows = calloc(s->parts[section].count + 1, sizeof(*rows));

	s->rows[section] = rows;
	if (!rows)
		return -ENOMEM;
	for (struct part *p = s->all_parts; p; p = p->next) {
		struct stats_row *row = &rows[*count];

		if (p->section != section)
			continue;
		row->name = part_full_name(s, p);
		if (!row->name)
			return -ENOMEM;
		row->times = p->times;
		row->bytes = p->bytes;
		row->peak_bytes = (__u64)p->peak_bytes;
		p->times = (struct spread){0};
		(*count)++;
	}
	qsort(rows, *count, sizeof(*rows), by_name);
	if (rows_join(rows, count))
		return -ENOMEM;
	qsort(rows, *count, sizeof(*rows), by_total);
	return 0;
}

/* Two processes see one device under numbers of their own; its UUID tells. */
static char *device_name(const struct device_part *d, const __u8 **ret_uuid)
{
	const struct cuprobe_info_device *info = process_device(d->process, d->device);
	static const __u8 none[16];
	const char *model_name, *called;
	char *name;

	*ret_uuid = info && memcmp(info->uuid, none, sizeof(none)) != 0 ? info->uuid : NULL;
	model_name = info && info->name ? process_name(d->process, info->name, true) : "unknown";
	called = process_object_name(d->process, CUPROBE_OBJECT_DEVICE, CUPROBE_NO_ID, d->device);
	if (asprintf(&name, "%u %s%s%s", d->device, called ? called : "", called ? ", " : "",
		     model_name) < 0)
		return NULL;
	return name;
}

static int device_join(struct stats_device *into, struct device_part *d)
{
	into->kernels += d->figures.kernels;
	into->graphs += d->figures.graphs;
	into->copies += d->figures.copies;
	into->memsets += d->figures.memsets;
	return busy_merge(&into->busy, &d->figures.busy);
}

static int devices_finish(struct stats *s)
{
	const __u8 **uuids = calloc(s->device_part_count + 1, sizeof(*uuids));
	int err = 0;

	s->joined_devices = calloc(s->device_part_count + 1, sizeof(*s->joined_devices));
	if (!uuids || !s->joined_devices)
		err = -ENOMEM;
	for (struct device_part *d = s->all_devices; d && !err; d = d->next) {
		const __u8 *uuid;
		char *name = device_name(d, &uuid);
		size_t i = 0;

		while (i < s->device_count && !(uuid && uuids[i] && !memcmp(uuid, uuids[i], 16)))
			i++;
		if (i == s->device_count) {
			s->joined_devices[s->device_count++].name = name;
			uuids[i] = uuid;
		} else {
			free(name);
		}
		err = s->joined_devices[i].name ? device_join(&s->joined_devices[i], d) : -ENOMEM;
	}
	free(uuids);
	return err;
}

static int by_device_name(const void *a, const void *b)
{
	const struct stats_device *x = a, *y = b;
	unsigned long m = strtoul(x->name, NULL, 10), n = strtoul(y->name, NULL, 10);

	return m != n ? (m < n ? -1 : 1) : strcmp(x->name, y->name);
}

int stats_finish(struct stats *s)
{
	int err = devices_finish(s);

	for (int section = 0; section < STATS_SECTIONS && !err; section++)
		err = section_finish(s, (enum stats_section)section);
	if (err)
		return err;
	qsort(s->joined_devices, s->device_count, sizeof(*s->joined_devices), by_device_name);
	stats_free_parts(s);
	return 0;
}

const struct stats_row *stats_rows(const struct stats *s, enum stats_section section,
				   size_t *ret_count)
{
	*ret_count = s->row_count[section];
	return s->rows[section];
}

struct stats_device *stats_devices(struct stats *s, size_t *ret_count)
{
	*ret_count = s->device_count;
	return s->joined_devices;
}
