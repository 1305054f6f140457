/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directives about records: `set` changes fields of some records, `emit` makes records that
 * nothing happened for, `drop` loses some as if there had been no room.
 */
#include "test/mock/cupti.h"
#include "test/mock/cupti_records.h"
#include "test/mock/script.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RECORD_BYTES 512

struct field {
	uint32_t kind;
	const char *name;
	size_t offset, bytes;
};

#define FIELD(kind, type, member)                                                                  \
	{                                                                                          \
		CUPTI_ACTIVITY_KIND_##kind, #member, offsetof(type, member),                       \
			sizeof(((type *)0)->member)                                                \
	}
#define TIMED(kind, type) FIELD(kind, type, start), FIELD(kind, type, end)
#define PLACED(kind, type)                                                                         \
	FIELD(kind, type, deviceId), FIELD(kind, type, contextId), FIELD(kind, type, streamId),    \
		FIELD(kind, type, correlationId)

static const struct field fields[] = {
	TIMED(CONCURRENT_KERNEL, record_kernel),
	PLACED(CONCURRENT_KERNEL, record_kernel),
	FIELD(CONCURRENT_KERNEL, record_kernel, completed),
	FIELD(CONCURRENT_KERNEL, record_kernel, name),
	FIELD(CONCURRENT_KERNEL, record_kernel, gridX),
	FIELD(CONCURRENT_KERNEL, record_kernel, blockX),
	FIELD(CONCURRENT_KERNEL, record_kernel, graphId),
	FIELD(CONCURRENT_KERNEL, record_kernel, graphNodeId),
	FIELD(CONCURRENT_KERNEL, record_kernel, queued),
	FIELD(CONCURRENT_KERNEL, record_kernel, submitted),
	TIMED(GRAPH_TRACE, record_graph_trace),
	PLACED(GRAPH_TRACE, record_graph_trace),
	FIELD(GRAPH_TRACE, record_graph_trace, graphId),
	TIMED(MEMCPY, record_memcpy),
	PLACED(MEMCPY, record_memcpy),
	FIELD(MEMCPY, record_memcpy, bytes),
	FIELD(MEMCPY, record_memcpy, copyKind),
	FIELD(MEMCPY, record_memcpy, srcKind),
	FIELD(MEMCPY, record_memcpy, dstKind),
	TIMED(MEMCPY2, CUpti_ActivityMemcpyPtoP4),
	PLACED(MEMCPY2, CUpti_ActivityMemcpyPtoP4),
	FIELD(MEMCPY2, CUpti_ActivityMemcpyPtoP4, bytes),
	TIMED(MEMSET, CUpti_ActivityMemset4),
	PLACED(MEMSET, CUpti_ActivityMemset4),
	FIELD(MEMSET, CUpti_ActivityMemset4, bytes),
	TIMED(RUNTIME, CUpti_ActivityAPI),
	FIELD(RUNTIME, CUpti_ActivityAPI, cbid),
	FIELD(RUNTIME, CUpti_ActivityAPI, threadId),
	FIELD(RUNTIME, CUpti_ActivityAPI, correlationId),
	FIELD(RUNTIME, CUpti_ActivityAPI, returnValue),
	TIMED(DRIVER, CUpti_ActivityAPI),
	FIELD(DRIVER, CUpti_ActivityAPI, cbid),
	FIELD(DRIVER, CUpti_ActivityAPI, threadId),
	FIELD(DRIVER, CUpti_ActivityAPI, correlationId),
	FIELD(DRIVER, CUpti_ActivityAPI, returnValue),
	TIMED(SYNCHRONIZATION, record_synchronization),
	FIELD(SYNCHRONIZATION, record_synchronization, type),
	FIELD(SYNCHRONIZATION, record_synchronization, streamId),
	FIELD(SYNCHRONIZATION, record_synchronization, correlationId),
	TIMED(OVERHEAD, record_overhead),
	FIELD(OVERHEAD, record_overhead, overheadKind),
	TIMED(UNIFIED_MEMORY_COUNTER, record_unified),
	FIELD(UNIFIED_MEMORY_COUNTER, record_unified, counterKind),
	FIELD(UNIFIED_MEMORY_COUNTER, record_unified, value),
	FIELD(MEMORY2, record_memory4, timestamp),
	FIELD(MEMORY2, record_memory4, bytes),
	FIELD(MEMORY2, record_memory4, name),
	FIELD(NAME, CUpti_ActivityName, objectKind),
	FIELD(NAME, CUpti_ActivityName, objectId),
	FIELD(NAME, CUpti_ActivityName, name),
	FIELD(DEVICE, record_device5, name),
	FIELD(DEVICE, record_device5, id),
};

static const struct {
	const char *name;
	uint32_t kind;
} kinds[] = {
	{"all", CUPTI_ACTIVITY_KIND_INVALID},
	{"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
	{"graph", CUPTI_ACTIVITY_KIND_GRAPH_TRACE},
	{"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY},
	{"memcpy2", CUPTI_ACTIVITY_KIND_MEMCPY2},
	{"memset", CUPTI_ACTIVITY_KIND_MEMSET},
	{"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},
	{"driver", CUPTI_ACTIVITY_KIND_DRIVER},
	{"sync", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
	{"event", CUPTI_ACTIVITY_KIND_CUDA_EVENT},
	{"memory", CUPTI_ACTIVITY_KIND_MEMORY2},
	{"pool", CUPTI_ACTIVITY_KIND_MEMORY_POOL},
	{"unified", CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER},
	{"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},
	{"device", CUPTI_ACTIVITY_KIND_DEVICE},
	{"context", CUPTI_ACTIVITY_KIND_CONTEXT},
	{"stream", CUPTI_ACTIVITY_KIND_STREAM},
	{"name", CUPTI_ACTIVITY_KIND_NAME},
};

static bool any_set, any_drop, any_emit;

/* The kind that the directive's first bare word names, or its number. */
static uint32_t line_kind(const struct script_line *line)
{
	const char *text = drv->script_get(line, "");
	char *end;
	unsigned long kind;

	if (!text)
		drv->script_error(line, "say which kind of record");
	kind = strtoul(text, &end, 0);
	if (end != text && !*end)
		return (uint32_t)kind;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(kinds[i].name, text))
			return kinds[i].kind;
	}
	drv->script_error(line, "there is no kind '%s'", text);
	return 0;
}

static bool key_is_timing(const char *key)
{
	static const char *const keys[] = {"", "nth", "every", "from", "at", "count", "silently"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!strcmp(keys[i], key))
			return true;
	}
	return false;
}

/* A field by its name, or @OFFSET:BYTES. */
static bool field_find(uint32_t kind, const char *name, struct field *ret_field)
{
	char *end;

	if (*name == '@') {
		*ret_field = (struct field){.kind = kind, .offset = strtoul(name + 1, &end, 0)};
		ret_field->bytes = *end == ':' ? strtoul(end + 1, NULL, 0) : 0;
		return ret_field->bytes && ret_field->bytes <= 8 &&
		       ret_field->offset + ret_field->bytes <= record_bytes(kind);
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (fields[i].kind == kind && !strcmp(fields[i].name, name)) {
			*ret_field = fields[i];
			return true;
		}
	}
	return false;
}

static uint64_t field_get(const struct field *field, const uint8_t *record)
{
	uint64_t value = 0;

	memcpy(&value, record + field->offset, field->bytes < 8 ? field->bytes : 8);
	return value;
}

/* A number, INT64_MIN, NULL, another field with what is added to it (end=start-5), or a text. */
static uint64_t value_parse(uint32_t kind, const char *text, const uint8_t *record)
{
	size_t bytes = strcspn(text, "+-");
	char other[64], *end;
	struct field field;
	uint64_t value = strtoull(text, &end, 0);

	if (end != text && !*end)
		return value;
	if (!strcmp(text, "INT64_MIN"))
		return (uint64_t)INT64_MIN;
	if (!strcmp(text, "NULL"))
		return 0;
	if (bytes < sizeof(other)) {
		memcpy(other, text, bytes);
		other[bytes] = '\0';
		if (field_find(kind, other, &field))
			return field_get(&field, record) + strtoull(text + bytes, NULL, 0);
	}
	return (uint64_t)(uintptr_t)text;
}

static void line_apply(const struct script_line *line, uint32_t kind, uint8_t *record)
{
	struct field field;

	for (unsigned int i = 0; i < line->arg_count; i++) {
		uint64_t value;

		if (key_is_timing(line->args[i].key) ||
		    !field_find(kind, line->args[i].key, &field))
			continue;
		value = value_parse(kind, line->args[i].value, record);
		memcpy(record + field.offset, &value, field.bytes < 8 ? field.bytes : 8);
	}
}

static bool lines_check(const char *verb)
{
	struct script_line *line;
	struct field field;
	bool any = false;

	for (line = drv->script_next(verb, NULL); line; line = drv->script_next(verb, line)) {
		uint32_t kind = line_kind(line);

		any = true;
		if (!record_bytes(kind) && (kind || strcmp(verb, "drop")))
			drv->script_error(line, "there is no kind %u", kind);
		for (unsigned int i = 0; i < line->arg_count; i++) {
			if (!key_is_timing(line->args[i].key) &&
			    !field_find(kind, line->args[i].key, &field))
				drv->script_error(line, "its records have no field '%s'",
						  line->args[i].key);
		}
	}
	return any;
}

void script_check(void)
{
	any_set = lines_check("set");
	any_drop = lines_check("drop");
	any_emit = lines_check("emit");
}

enum script_loss script_drops(uint32_t kind)
{
	struct script_line *line;

	if (!any_drop)
		return SCRIPT_KEPT;
	for (line = drv->script_next("drop", NULL); line; line = drv->script_next("drop", line)) {
		uint32_t which = line_kind(line);

		if ((which && which != kind) || !drv->script_due(line))
			continue;
		return drv->script_number(line, "silently", 0) ? SCRIPT_LOST : SCRIPT_DROPPED;
	}
	return SCRIPT_KEPT;
}

bool script_changes(void)
{
	return any_set;
}

void script_change(uint32_t kind, void *record)
{
	struct script_line *line;

	for (line = drv->script_next("set", NULL); line; line = drv->script_next("set", line)) {
		if (line_kind(line) == kind && drv->script_due(line))
			line_apply(line, kind, record);
	}
}

static void line_emit(struct script_line *line)
{
	uint32_t kind = line_kind(line);
	int64_t count = drv->script_number(line, "count", 1);
	_Alignas(8) uint8_t record[MAX_RECORD_BYTES] = {0};
	uint32_t kind_field = kind;

	memcpy(record, &kind_field, sizeof(kind_field));
	line_apply(line, kind, record);
	while (count--)
		lane_put(lane_mine(), kind, record, record_bytes(kind));
}

/* Each directive once, when its time has come and there is somebody to get the records. */
void script_emit(void)
{
	struct script_line *line;

	if (!any_emit || !activity_any() || !lane_registered())
		return;
	for (line = drv->script_next("emit", NULL); line; line = drv->script_next("emit", line)) {
		if (drv->script_ms() < (uint64_t)drv->script_number(line, "at", 0))
			continue;
		if (!atomic_exchange(&line->seen, 1))
			line_emit(line);
	}
}
