/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/fields.h"

#include <string.h>

#include "src/collector/model.h"
#include "src/collector/names.h"
#include "src/collector/nvtx_names.h"
#include "src/collector/output/text.h"

#define FIELD(record, member, type)                                                                \
	{                                                                                          \
#member, offsetof(struct cuprobe_##record, member), FIELD_##type, false            \
	}
#define BRIEF(record, member, type)                                                                \
	{                                                                                          \
#member, offsetof(struct cuprobe_##record, member), FIELD_##type, true             \
	}
#define AS(name, record, member, type)                                                             \
	{                                                                                          \
		name, offsetof(struct cuprobe_##record, member), FIELD_##type, false               \
	}
#define BRIEF_AS(name, record, member, type)                                                       \
	{                                                                                          \
		name, offsetof(struct cuprobe_##record, member), FIELD_##type, true                \
	}
#define PLACE(record)                                                                              \
	FIELD(record, device, ID), FIELD(record, context, ID), FIELD(record, stream, ID),          \
		FIELD(record, correlation, U32)

static const struct field kernel_fields[] = {
	PLACE(kernel),
	BRIEF(kernel, grid, XYZ),
	BRIEF(kernel, block, XYZ),
	FIELD(kernel, cluster, XYZ),
	FIELD(kernel, registers_per_thread, U32),
	FIELD(kernel, static_shared_bytes, U32),
	FIELD(kernel, dynamic_shared_bytes, U32),
	FIELD(kernel, executed_shared_bytes, U32),
	FIELD(kernel, local_bytes_per_thread, U32),
	FIELD(kernel, local_memory_total_bytes, U64),
	FIELD(kernel, queued_ns, KNOWN),
	FIELD(kernel, submitted_ns, KNOWN),
	FIELD(kernel, completed_ns, KNOWN),
	BRIEF(kernel, graph_id, U32),
	FIELD(kernel, graph_node_id, U64),
	FIELD(kernel, grid_id, U64),
	FIELD(kernel, channel, U32),
	FIELD(kernel, channel_type, U8),
	FIELD(kernel, priority, PRIORITY),
	FIELD(kernel, launch_type, U8),
	FIELD(kernel, device_launched, U8),
	FIELD(kernel, cache_config, U8),
	{0},
};

static const struct field graph_fields[] = {
	PLACE(graph),
	FIELD(graph, graph_id, U32),
	BRIEF(graph, exec_id, U32),
	FIELD(graph, end_device, ID),
	FIELD(graph, end_context, ID),
	{0},
};

static const struct field memcpy_fields[] = {
	PLACE(memcpy),
	BRIEF(memcpy, bytes, U64),
	FIELD(memcpy, copy_kind, COPY_KIND),
	FIELD(memcpy, src_kind, MEMORY),
	FIELD(memcpy, dst_kind, MEMORY),
	BRIEF(memcpy, src_device, ID),
	FIELD(memcpy, src_context, ID),
	BRIEF(memcpy, dst_device, ID),
	FIELD(memcpy, dst_context, ID),
	FIELD(memcpy, copy_count, U64),
	BRIEF(memcpy, graph_id, U32),
	FIELD(memcpy, graph_node_id, U64),
	FIELD(memcpy, channel, U32),
	FIELD(memcpy, channel_type, U8),
	FIELD(memcpy, device_launched, U8),
	FIELD(memcpy, flags, U8),
	{0},
};

static const struct field memset_fields[] = {
	PLACE(memset),
	BRIEF(memset, bytes, U64),
	BRIEF(memset, value, U32),
	FIELD(memset, memory_kind, MEMORY16),
	BRIEF(memset, graph_id, U32),
	FIELD(memset, graph_node_id, U64),
	FIELD(memset, channel, U32),
	FIELD(memset, channel_type, U8),
	FIELD(memset, flags, U8),
	{0},
};

static const struct field memory_fields[] = {
	PLACE(memory),
	BRIEF(memory, bytes, U64),
	FIELD(memory, op, MEMORY_OP),
	FIELD(memory, memory_kind, MEMORY),
	BRIEF(memory, address, ADDRESS),
	FIELD(memory, pc, ADDRESS),
	FIELD(memory, pool_address, ADDRESS),
	FIELD(memory, pool_bytes, KNOWN),
	FIELD(memory, pool_used_bytes, KNOWN),
	FIELD(memory, pool_release_threshold_bytes, KNOWN),
	FIELD(memory, pool_type, U8),
	AS("variable", memory, name, TEXT),
	FIELD(memory, source, TEXT),
	FIELD(memory, flags, U8),
	{0},
};

static const struct field sync_fields[] = {
	PLACE(sync),
	BRIEF(sync, event, ID),
	FIELD(sync, event_sync_id, KNOWN),
	FIELD(sync, device_time_ns, KNOWN),
	BRIEF(sync, return_value, U32),
	{0},
};

static const struct field api_fields[] = {
	FIELD(api, thread, THREAD), FIELD(api, correlation, U32),  FIELD(api, domain, API_DOMAIN),
	FIELD(api, cbid, U32),	    BRIEF(api, return_value, U32), {0},
};

static const struct field unified_memory_fields[] = {
	FIELD(unified_memory, stream, ID),
	BRIEF(unified_memory, value, U64),
	BRIEF(unified_memory, address, ADDRESS),
	BRIEF(unified_memory, src_device, ID),
	BRIEF(unified_memory, dst_device, ID),
	FIELD(unified_memory, flags, U32),
	{0},
};

static const struct field overhead_fields[] = {
	PLACE(overhead),
	FIELD(overhead, thread, THREAD),
	FIELD(overhead, object_kind, U32),
	{0},
};

static const struct field nvtx_fields[] = {
	FIELD(nvtx, thread, THREAD),
	AS("nvtx_kind", nvtx, kind, NVTX_KIND),
	BRIEF_AS("nvtx_range", nvtx, range, KNOWN),
	BRIEF_AS("nvtx_domain", nvtx, domain, NVTX_DOMAIN),
	BRIEF_AS("nvtx_category", nvtx, category, NVTX_CATEGORY),
	AS("nvtx_level", nvtx, level, S32),
	BRIEF_AS("nvtx_payload", nvtx, payload, NVTX_PAYLOAD),
	AS("nvtx_payload_type", nvtx, payload_type, U8),
	AS("nvtx_color", nvtx, color, U32),
	{0},
};

static const struct field launch_fields[] = {
	FIELD(launch, thread, THREAD),
	FIELD(launch, correlation, U32),
	FIELD(launch, graph_node_id, U64),
	BRIEF(launch, stack, U32),
	FIELD(launch, weight, U32),
	FIELD(launch, domain_api, U32),
	{0},
};

static const struct field module_fields[] = {
	FIELD(module, context, ID),
	BRIEF(module, bytes, U64),
	BRIEF(module, crc, ADDRESS),
	FIELD(module, address, ADDRESS),
	AS("module", module, id, U32),
	AS("module_op", module, op, MODULE_OP),
	{0},
};

static const struct field pc_sample_fields[] = {
	FIELD(pc_sample, device, ID),	       FIELD(pc_sample, context, ID),
	FIELD(pc_sample, correlation, U32),    BRIEF(pc_sample, samples, U64),
	FIELD(pc_sample, not_issued, U32),     BRIEF(pc_sample, pc_offset, U64),
	BRIEF(pc_sample, stall, STALL),	       BRIEF(pc_sample, crc, ADDRESS),
	FIELD(pc_sample, function_index, U32), AS("pc_kind", pc_sample, kind, PC_KIND),
	AS("pc_range", pc_sample, range, U64), {0},
};

static const struct field no_fields[] = {{0}};

const struct field *probe_fields(enum cuprobe_probe_id probe)
{
	static const struct field *const fields[CUPROBE_PROBE_COUNT] = {
		[CUPROBE_PROBE_kernel] = kernel_fields,
		[CUPROBE_PROBE_graph] = graph_fields,
		[CUPROBE_PROBE_memcpy] = memcpy_fields,
		[CUPROBE_PROBE_memset] = memset_fields,
		[CUPROBE_PROBE_memory] = memory_fields,
		[CUPROBE_PROBE_sync] = sync_fields,
		[CUPROBE_PROBE_api] = api_fields,
		[CUPROBE_PROBE_unified_memory] = unified_memory_fields,
		[CUPROBE_PROBE_overhead] = overhead_fields,
		[CUPROBE_PROBE_nvtx] = nvtx_fields,
		[CUPROBE_PROBE_launch] = launch_fields,
		[CUPROBE_PROBE_module] = module_fields,
		[CUPROBE_PROBE_pc_sample] = pc_sample_fields,
	};

	return probe < CUPROBE_PROBE_COUNT && fields[probe] ? fields[probe] : no_fields;
}

static __u64 field_raw(const struct field *f, const struct event *e)
{
	const unsigned char *at = (const unsigned char *)e->record + f->offset;
	__u64 u64;
	__u32 u32;
	__u16 u16;

	switch (f->type) {
	case FIELD_U64:
	case FIELD_KNOWN:
	case FIELD_ADDRESS:
	case FIELD_NVTX_PAYLOAD:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	case FIELD_U16:
	case FIELD_MEMORY16:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case FIELD_U8:
	case FIELD_COPY_KIND:
	case FIELD_MEMORY:
	case FIELD_API_DOMAIN:
	case FIELD_MEMORY_OP:
	case FIELD_NVTX_KIND:
	case FIELD_MODULE_OP:
	case FIELD_PC_KIND:
		return *at;
	default:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	}
}

bool field_number(const struct field *f, const struct event *e, __u64 *ret)
{
	__u64 raw = field_raw(f, e);

	switch (f->type) {
	case FIELD_KNOWN:
	case FIELD_ADDRESS:
		*ret = raw;
		return raw != 0;
	case FIELD_THREAD:
		*ret = raw == CUPROBE_NO_ID ? raw : process_thread(e->process, (__u32)raw);
		return raw != CUPROBE_NO_ID;
	case FIELD_ID:
		*ret = raw;
		return raw != CUPROBE_NO_ID;
	case FIELD_STALL:
		*ret = raw;
		return e->pc_sample->kind == CUPROBE_PC_SAMPLES;
	case FIELD_S32:
	case FIELD_NVTX_PAYLOAD:
		return false;
	case FIELD_PRIORITY:
		*ret = (__u64)(__s64)(__s32)raw;
		return f->type == FIELD_S32 || (__s32)raw != CUPROBE_NO_PRIORITY;
	default:
		*ret = raw;
		return true;
	}
}

const char *field_text(const struct field *f, const struct event *e)
{
	static char payload[NVTX_PAYLOAD_ROOM];
	__u64 raw = field_raw(f, e);

	switch (f->type) {
	case FIELD_TEXT:
		return process_string(e->process, (__u32)raw, NULL);
	case FIELD_COPY_KIND:
		return copy_kind_name((unsigned int)raw);
	case FIELD_MEMORY:
	case FIELD_MEMORY16:
		return memory_kind_name((unsigned int)raw);
	case FIELD_API_DOMAIN:
		return raw == CUPROBE_API_RUNTIME ? "runtime" : "driver";
	case FIELD_MEMORY_OP:
		return memory_op_name((unsigned int)raw);
	case FIELD_NVTX_KIND:
		return nvtx_kind_name((unsigned int)raw);
	case FIELD_NVTX_DOMAIN:
		return process_nvtx_domain(e->process, (__u32)raw);
	case FIELD_NVTX_CATEGORY:
		return process_nvtx_category(e->process, e->nvtx->domain, (__u32)raw);
	case FIELD_NVTX_PAYLOAD:
		return nvtx_payload_text(e->process, e->nvtx, payload);
	case FIELD_MODULE_OP:
		return raw == CUPROBE_MODULE_LOADED ? "loaded" : "unloaded";
	case FIELD_PC_KIND:
		return pc_kind_name((unsigned int)raw);
	case FIELD_STALL:
		return e->pc_sample->kind == CUPROBE_PC_SAMPLES
			       ? process_stall_reason(e->process, e->pc_sample->device, (__u32)raw)
			       : NULL;
	default:
		return NULL;
	}
}

const __u32 *field_xyz(const struct field *f, const struct event *e)
{
	return (const __u32 *)(const void *)((const char *)e->record + f->offset);
}

static char *put_word(char *p, const char *word)
{
	return put_bytes(p, word, strlen(word));
}

static char *put_copy_name(char *p, const struct cuprobe_memcpy *m)
{
	p = PUT(p, "Memcpy ");
	p = put_word(p, copy_kind_name(m->copy_kind));
	p = PUT(p, " (");
	p = put_word(p, memory_kind_name(m->src_kind));
	p = PUT(p, " -> ");
	p = put_word(p, memory_kind_name(m->dst_kind));
	*p++ = ')';
	return p;
}

/* The names that are made up of words, at `p`; NULL for other kinds. */
static char *put_made_name(char *p, const struct event *e)
{
	switch (e->probe) {
	case CUPROBE_PROBE_graph:
		return put_u64(PUT(p, "CUDA Graph "), e->graph->graph_id);
	case CUPROBE_PROBE_memcpy:
		return put_copy_name(p, e->memcpy);
	case CUPROBE_PROBE_memset:
		p = put_word(PUT(p, "Memset ("), memory_kind_name(e->memset->memory_kind));
		return PUT(p, ")");
	case CUPROBE_PROBE_memory:
		p = put_word(p, memory_op_name(e->memory->op));
		p = put_word(PUT(p, " ("), memory_kind_name(e->memory->memory_kind));
		return PUT(p, ")");
	case CUPROBE_PROBE_sync:
		return put_word(p, sync_kind_name(e->sync->kind));
	case CUPROBE_PROBE_unified_memory:
		return put_word(PUT(p, "Unified Memory "),
				unified_memory_kind_name(e->unified_memory->kind));
	case CUPROBE_PROBE_overhead:
		return put_word(p, overhead_kind_name(e->overhead->kind));
	case CUPROBE_PROBE_launch:
		return put_word(p, launch_api_name(e->launch->domain_api));
	case CUPROBE_PROBE_pc_sample:
		p = put_word(PUT(p, "Samples ("), pc_kind_name(e->pc_sample->kind));
		return PUT(p, ")");
	case CUPROBE_PROBE_module:
		return put_word(p, e->module->op == CUPROBE_MODULE_LOADED ? "Module load"
									  : "Module unload");
	default:
		return NULL;
	}
}

static void text_name(struct event_name *n, const struct event *e, __u32 id, bool mangled)
{
	n->text = id ? process_name(e->process, id, mangled) : "";
	n->bytes = strlen(n->text);
}

void event_name(struct event_name *n, const struct event *e, bool mangled)
{
	char *end;

	switch (e->probe) {
	case CUPROBE_PROBE_kernel:
		text_name(n, e, e->kernel->name, mangled);
		return;
	case CUPROBE_PROBE_api:
		text_name(n, e, e->api->name, true);
		n->bytes = api_name_bytes(n->text, n->bytes);
		return;
	case CUPROBE_PROBE_nvtx:
		text_name(n, e, e->nvtx->message, true);
		return;
	case CUPROBE_PROBE_pc_sample:
		if (e->pc_sample->kind == CUPROBE_PC_SAMPLES) {
			text_name(n, e, e->pc_sample->function, mangled);
			return;
		}
		__attribute__((fallthrough));
	default:
		end = put_made_name(n->room, e);
		n->text = n->room;
		n->bytes = end ? (size_t)(end - n->room) : 0;
	}
}
