/* SPDX-License-Identifier: Apache-2.0 */
/* Work on the GPU: kernels, graphs launched as a whole, copies and memsets. */
#include "src/collector/output/chrome.h"

#include <errno.h>

#include "src/collector/model.h"
#include "src/collector/output/fields.h"
#include "src/collector/output/occupancy.h"

static char *put_three(char *p, const __u32 xyz[3])
{
	*p++ = '[';
	p = put_u64(p, xyz[0]);
	*p++ = ',';
	p = put_u64(p, xyz[1]);
	*p++ = ',';
	p = put_u64(p, xyz[2]);
	*p++ = ']';
	return p;
}

static char *put_per_multiprocessor(char *p, const struct cuprobe_info_device *d,
				    const struct cuprobe_kernel *k)
{
	unsigned __int128 blocks = kernel_blocks(k);

	if (!d || !d->multiprocessors || !d->warp_size)
		return p;
	p = PUT(p, "\"blocks per SM\":");
	p = put_ratio(p, blocks, d->multiprocessors);
	p = PUT(p, ",\"warps per SM\":");
	p = put_ratio(p, blocks * kernel_block_threads(k),
		      (__u64)d->multiprocessors * d->warp_size);
	*p++ = ',';
	return p;
}

static char *put_shape(char *p, const struct cuprobe_info_device *d, const struct cuprobe_kernel *k)
{
	int occupancy = occupancy_percent(d, k);

	p = PUT(p, "\"registers per thread\":");
	p = put_u64(p, k->registers_per_thread);
	p = PUT(p, ",\"shared memory\":");
	p = put_u64(p, (__u64)k->static_shared_bytes + k->dynamic_shared_bytes);
	*p++ = ',';
	p = put_per_multiprocessor(p, d, k);
	p = PUT(p, "\"grid\":");
	p = put_three(p, k->grid);
	p = PUT(p, ",\"block\":");
	p = put_three(p, k->block);
	if (k->cluster[0]) {
		p = PUT(p, ",\"cluster\":");
		p = put_three(p, k->cluster);
	}
	if (occupancy >= 0) {
		p = PUT(p, ",\"est. achieved occupancy %\":");
		p = put_u64(p, (__u64)occupancy);
	}
	*p++ = ',';
	return p;
}

static unsigned int shape_hash(const __u32 key[SHAPE_NUMBERS])
{
	__u64 hash = 0;

	for (int i = 0; i < SHAPE_NUMBERS; i++)
		hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15ull;
	return (unsigned int)(hash >> 40) % SHAPES;
}

/* The arguments of put_shape, which a program's launches repeat over and over. */
static char *put_shape_again(struct sink *s, char *p, const struct event *e)
{
	const struct cuprobe_kernel *k = e->kernel;
	const struct cuprobe_info_device *d = process_device(e->process, k->device);
	const __u32 key[SHAPE_NUMBERS] = {
		e->process->number,
		k->device,
		k->grid[0],
		k->grid[1],
		k->grid[2],
		k->block[0],
		k->block[1],
		k->block[2],
		k->cluster[0],
		k->cluster[1],
		k->cluster[2],
		k->registers_per_thread,
		k->static_shared_bytes,
		k->dynamic_shared_bytes,
	};
	struct chrome_shape *shape = &s->shapes[shape_hash(key)];

	if (!d) /* may be told later */
		return put_shape(p, d, k);
	if (!shape->bytes || memcmp(shape->key, key, sizeof(key)) != 0) {
		memcpy(shape->key, key, sizeof(key));
		shape->bytes = (unsigned int)(put_shape(shape->text, d, k) - shape->text);
	}
	return put_bytes(p, shape->text, shape->bytes);
}

struct gpu_slice {
	struct event_work work;
	const struct lane *lane;
};

/* Up to the first argument; NULL without memory. `name` is escaped. */
static char *slice_begin(struct sink *s, struct gpu_slice *g, const struct event *e,
			 const char *category, const char *name, size_t bytes)
{
	const struct event_work *w = &g->work;

	event_work(e, &g->work);
	g->lane = lanes_slice(s->lanes, e->process, LANE_STREAM, w->device, w->context, w->stream,
			      w->start_ns, w->end_ns);
	return g->lane ? chrome_slice(s, category, g->lane, w->start_ns, w->end_ns, name, bytes)
		       : NULL;
}

/* The same of what event_name() names. */
static char *slice_begin_named(struct sink *s, struct gpu_slice *g, const struct event *e,
			       const char *category)
{
	struct event_name name;

	event_name(&name, e, false);
	return slice_begin(s, g, e, category, name.text, name.bytes);
}

static int slice_end(struct sink *s, char *p, const struct gpu_slice *g)
{
	chrome_end(s, p);
	chrome_flow_end(s, g->lane, g->work.start_ns, g->work.correlation);
	return s->out->err;
}

static char *put_place(char *p, const struct event_work *w)
{
	p = PUT(p, "\"device\":");
	p = put_u64(p, w->device);
	p = PUT(p, ",\"context\":");
	p = put_u64(p, w->context);
	p = PUT(p, ",\"stream\":");
	p = put_u64(p, w->stream);
	p = PUT(p, ",\"correlation\":");
	p = put_u64(p, w->correlation);
	*p++ = ',';
	return p;
}

/* The last arguments of all that can be part of a graph. */
static char *put_graph_node(char *p, __u32 graph_id, __u64 node_id, __u32 channel,
			    __u32 channel_type)
{
	p = PUT(p, "\"graph id\":");
	p = put_u64(p, graph_id);
	p = PUT(p, ",\"graph node id\":");
	p = put_u64(p, node_id);
	p = PUT(p, ",\"channel\":");
	p = put_u64(p, channel);
	p = PUT(p, ",\"channel_type\":");
	return put_u64(p, channel_type);
}

static char *put_bandwidth(char *p, __u64 bytes, __u64 duration_ns)
{
	p = PUT(p, "\"bytes\":");
	p = put_u64(p, bytes);
	*p++ = ',';
	if (!duration_ns)
		return p;
	p = PUT(p, "\"memory bandwidth (GB/s)\":"); /* = bytes / ns */
	p = put_ratio(p, bytes, duration_ns);
	*p++ = ',';
	return p;
}

int chrome_kernel(struct sink *s, const struct event *e)
{
	const struct cuprobe_kernel *k = e->kernel;
	const struct chrome_name *name = chrome_kernel_name(s, e->process, k->name);
	struct gpu_slice g;
	char *p = name ? slice_begin(s, &g, e, "kernel", name->text, name->bytes) : NULL;

	if (!p)
		return -ENOMEM;
	p = PUT(p, "\"queued\":");
	p = put_u64(p, k->queued_ns > s->base_ns ? k->queued_ns - s->base_ns : 0);
	*p++ = ',';
	p = put_place(p, &g.work);
	p = put_shape_again(s, p, e);
	if (k->priority != CUPROBE_NO_PRIORITY) {
		p = PUT(p, "\"priority\":");
		p = put_s64(p, k->priority);
		*p++ = ',';
	}
	p = put_graph_node(p, k->graph_id, k->graph_node_id, k->channel, k->channel_type);
	return slice_end(s, p, &g);
}

int chrome_graph(struct sink *s, const struct event *e)
{
	struct gpu_slice g;
	char *p = slice_begin_named(s, &g, e, "kernel");

	if (!p)
		return -ENOMEM;
	p = put_place(p, &g.work);
	p = PUT(p, "\"graph id\":");
	p = put_u64(p, e->graph->graph_id);
	p = PUT(p, ",\"graph exec id\":");
	p = put_u64(p, e->graph->exec_id);
	return slice_end(s, p, &g);
}

static char *put_peers(char *p, const struct cuprobe_memcpy *m)
{
	if (m->src_device == CUPROBE_NO_ID && m->dst_device == CUPROBE_NO_ID)
		return p;
	p = PUT(p, "\"fromDevice\":");
	p = put_u64(p, m->src_device);
	p = PUT(p, ",\"inDevice\":");
	p = put_u64(p, m->device);
	p = PUT(p, ",\"toDevice\":");
	p = put_u64(p, m->dst_device);
	p = PUT(p, ",\"fromContext\":");
	p = put_u64(p, m->src_context);
	p = PUT(p, ",\"inContext\":");
	p = put_u64(p, m->context);
	p = PUT(p, ",\"toContext\":");
	p = put_u64(p, m->dst_context);
	*p++ = ',';
	return p;
}

int chrome_memcpy(struct sink *s, const struct event *e)
{
	const struct cuprobe_memcpy *m = e->memcpy;
	struct gpu_slice g;
	char *p = slice_begin_named(s, &g, e, "gpu_memcpy");

	if (!p)
		return -ENOMEM;
	p = put_peers(p, m);
	p = put_place(p, &g.work);
	p = put_bandwidth(p, m->bytes, m->end_ns - m->start_ns);
	p = put_graph_node(p, m->graph_id, m->graph_node_id, m->channel, m->channel_type);
	return slice_end(s, p, &g);
}

int chrome_memset(struct sink *s, const struct event *e)
{
	const struct cuprobe_memset *m = e->memset;
	struct gpu_slice g;
	char *p = slice_begin_named(s, &g, e, "gpu_memset");

	if (!p)
		return -ENOMEM;
	p = put_place(p, &g.work);
	p = put_bandwidth(p, m->bytes, m->end_ns - m->start_ns);
	p = put_graph_node(p, m->graph_id, m->graph_node_id, m->channel, m->channel_type);
	return slice_end(s, p, &g);
}
