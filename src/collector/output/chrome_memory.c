/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: allocations as one counter track for each device, with a series for each kind of memory,
 * and what unified memory did by itself as slices.
 */
#include "src/collector/output/chrome.h"

#include <errno.h>
#include <stdlib.h>

#include "src/collector/model.h"
#include "src/collector/names.h"
#include "src/collector/output/fields.h"

#define MEMORY_KINDS 8
#define COUNTERS_MOST 1024 /* devices that junk can make up */

/* Bytes allocated less bytes freed since the recording began; negative when older ones are freed.
 */
struct memory_counter {
	__u64 bytes[MEMORY_KINDS]; /* modulo 2^64 */
	bool seen[MEMORY_KINDS];
};

static struct memory_counter *find_counter(struct sink *s, const struct event *e)
{
	__u64 key = (__u64)e->process->number << 32 | e->memory->device;
	struct memory_counter *c = map_find(&s->memory, key);

	if (c || s->memory.count >= COUNTERS_MOST)
		return c;
	c = calloc(1, sizeof(*c));
	if (c && map_insert(&s->memory, key, c)) {
		free(c);
		return NULL;
	}
	return c;
}

static char *put_series(char *p, const struct memory_counter *c)
{
	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		const char *kind = memory_kind_name(i);

		if (!c->seen[i])
			continue;
		*p++ = '"';
		p = put_bytes(p, kind, strlen(kind));
		p = PUT(p, "\":");
		p = put_s64(p, (__s64)c->bytes[i]);
		*p++ = ',';
	}
	return p - 1; /* without the last comma */
}

int chrome_memory(struct sink *s, const struct event *e)
{
	const struct cuprobe_memory *m = e->memory;
	const struct lane_group *group;
	struct memory_counter *c;
	char *p;

	if ((m->op != CUPROBE_MEMORY_ALLOC && m->op != CUPROBE_MEMORY_FREE) ||
	    m->memory_kind >= MEMORY_KINDS)
		return 0;
	c = find_counter(s, e);
	if (!c)
		return s->memory.count < COUNTERS_MOST ? -ENOMEM : 0;
	group = lanes_group(s->lanes, e->process, m->device, m->time_ns);
	if (!group)
		return -ENOMEM;
	c->seen[m->memory_kind] = true;
	c->bytes[m->memory_kind] += m->op == CUPROBE_MEMORY_ALLOC ? m->bytes : -m->bytes;
	p = output_room(s->out, CHROME_ARGS_BYTES);
	p = PUT(p, "{\"ph\":\"C\",\"cat\":\"memory\",\"name\":\"allocated bytes\",\"pid\":");
	p = put_u64(p, group->pid);
	p = PUT(p, ",\"ts\":");
	p = put_ts(s, p, m->time_ns);
	p = PUT(p, ",\"args\":{");
	return chrome_end(s, put_series(p, c));
}

static bool is_transfer(__u32 kind)
{
	return kind == 1 || kind == 2 || kind == 8;
}

int chrome_unified_memory(struct sink *s, const struct event *e)
{
	const struct cuprobe_unified_memory *u = e->unified_memory;
	__u32 device = u->dst_device != CUPROBE_NO_ID ? u->dst_device : u->src_device;
	__u64 start_ns = 0, end_ns = 0;
	const struct lane *lane;
	struct event_name name;
	char *p;

	event_times(e, &start_ns, &end_ns);
	lane = lanes_slice(s->lanes, e->process, LANE_MEMORY, device, 0, 0, start_ns, end_ns);
	if (!lane)
		return -ENOMEM;
	event_name(&name, e, false);
	p = chrome_slice(s, "unified_memory", lane, start_ns, end_ns, name.text, name.bytes);
	p = PUT(p, "\"address\":\"");
	p = put_hex(p, u->address);
	p = is_transfer(u->kind) ? PUT(p, "\",\"bytes\":") : PUT(p, "\",\"value\":");
	p = put_u64(p, u->value);
	if (is_transfer(u->kind) && end_ns > start_ns) {
		p = PUT(p, ",\"memory bandwidth (GB/s)\":");
		p = put_ratio(p, u->value, end_ns - start_ns);
	}
	return chrome_end(s, p);
}
