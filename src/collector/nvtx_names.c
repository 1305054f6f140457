/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/nvtx_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/model.h"
#include "src/collector/process.h"

static __u64 pair_key(__u32 high, __u32 low)
{
	return (__u64)high << 32 | low;
}

/* The newest name counts. */
static int name_keep(struct map *map, __u64 key, __u32 name)
{
	__u32 *kept = map_find(map, key);
	int err;

	if (kept) {
		*kept = name;
		return 0;
	}
	if (map->count >= NVTX_NAMES_MOST)
		return -ENOSPC;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = name;
	err = map_insert(map, key, kept);
	if (err)
		free(kept);
	return err;
}

static const char *name_find(const struct process *p, const struct map *map, __u64 key)
{
	const __u32 *name = map_find(map, key);

	return name ? process_string(p, *name, NULL) : NULL;
}

int nvtx_names_add(struct nvtx_names *n, const struct cuprobe_info *info)
{
	switch (info->type) {
	case CUPROBE_INFO_NVTX_DOMAIN:
		return name_keep(&n->domains, info->nvtx_domain.id, info->nvtx_domain.name);
	case CUPROBE_INFO_NVTX_CATEGORY:
		return name_keep(&n->categories,
				 pair_key(info->nvtx_category.domain, info->nvtx_category.id),
				 info->nvtx_category.name);
	default:
		if (info->name.object > CUPROBE_OBJECT_OTHER || info->name.id == CUPROBE_NO_ID)
			return 0;
		return name_keep(&n->objects[info->name.object],
				 pair_key(info->name.context, info->name.id), info->name.name);
	}
}

void nvtx_names_clear(struct nvtx_names *n)
{
	map_clear(&n->domains, free);
	map_clear(&n->categories, free);
	for (unsigned int i = 0; i <= CUPROBE_OBJECT_OTHER; i++)
		map_clear(&n->objects[i], free);
}

const char *process_nvtx_domain(const struct process *p, __u32 domain)
{
	return name_find(p, &p->private->nvtx.domains, domain);
}

const char *process_nvtx_category(const struct process *p, __u32 domain, __u32 category)
{
	return name_find(p, &p->private->nvtx.categories, pair_key(domain, category));
}

const char *process_object_name(const struct process *p, enum cuprobe_object object, __u32 context,
				__u32 id)
{
	return name_find(p, &p->private->nvtx.objects[object], pair_key(context, id));
}

const char *nvtx_payload_text(const struct process *p, const struct cuprobe_nvtx *n,
			      char room[NVTX_PAYLOAD_ROOM])
{
	__u32 bits = (__u32)n->payload;
	double real;
	float single;

	memcpy(&real, &n->payload, sizeof(real));
	memcpy(&single, &bits, sizeof(single));
	switch (n->payload_type) {
	case CUPROBE_NVTX_PAYLOAD_U64:
	case CUPROBE_NVTX_PAYLOAD_U32:
		snprintf(room, NVTX_PAYLOAD_ROOM, "%llu", n->payload);
		return room;
	case CUPROBE_NVTX_PAYLOAD_S64:
		snprintf(room, NVTX_PAYLOAD_ROOM, "%lld", (__s64)n->payload);
		return room;
	case CUPROBE_NVTX_PAYLOAD_S32:
		snprintf(room, NVTX_PAYLOAD_ROOM, "%d", (__s32)bits);
		return room;
	case CUPROBE_NVTX_PAYLOAD_DOUBLE:
		snprintf(room, NVTX_PAYLOAD_ROOM, "%.17g", real);
		return room;
	case CUPROBE_NVTX_PAYLOAD_FLOAT:
		snprintf(room, NVTX_PAYLOAD_ROOM, "%.9g", (double)single);
		return room;
	case CUPROBE_NVTX_PAYLOAD_TEXT:
		return process_string(p, bits, NULL);
	default:
		return NULL;
	}
}

const char *nvtx_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[CUPROBE_NVTX_PUSH] = "push",
		[CUPROBE_NVTX_POP] = "pop",
		[CUPROBE_NVTX_START] = "start",
		[CUPROBE_NVTX_END] = "end",
		[CUPROBE_NVTX_MARK] = "mark",
		[CUPROBE_NVTX_THREAD_END] = "thread end",
		[CUPROBE_NVTX_ACQUIRE] = "acquire",
		[CUPROBE_NVTX_ACQUIRED] = "acquired",
		[CUPROBE_NVTX_ACQUIRE_FAILED] = "acquire failed",
		[CUPROBE_NVTX_RELEASE] = "release",
		[CUPROBE_NVTX_COUNTER] = "counter",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "?";
}
