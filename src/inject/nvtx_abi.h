/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVTX version 3 clients and their injection library agree on, as far as cuprobe takes part.
 * Declared here and not taken from the toolkit's headers, which do not have all of it before CUDA
 * 12.9; test/nvtx/abi.c holds these declarations against NVIDIA's.
 */
#ifndef CUPROBE_INJECT_NVTX_ABI_H
#define CUPROBE_INJECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_LEVEL_UNKNOWN (-2) /* what push and pop return while nobody listens */
#define NVTX_LEVEL_ERROR (-1)

/* Opaque to clients: cuprobe gives numbers in the clothes of pointers, see nvtx_names.h. */
struct nvtx_domain;
struct nvtx_string;
struct nvtx_resource;
struct nvtx_semantics;
struct nvtx_sync;

enum nvtx_export_table {
	NVTX_EXPORT_CALLBACKS = 1,
};

/* Modules of the callback table, and the places in each. */
enum nvtx_module {
	NVTX_MODULE_CORE = 1,
	NVTX_MODULE_CUDA = 2,
	NVTX_MODULE_OPENCL = 3,
	NVTX_MODULE_CUDART = 4,
	NVTX_MODULE_CORE2 = 5,
	NVTX_MODULE_SYNC = 6,
};

enum nvtx_core {
	NVTX_CORE_MARK_EX = 1,
	NVTX_CORE_MARK_A,
	NVTX_CORE_MARK_W,
	NVTX_CORE_START_EX,
	NVTX_CORE_START_A,
	NVTX_CORE_START_W,
	NVTX_CORE_END,
	NVTX_CORE_PUSH_EX,
	NVTX_CORE_PUSH_A,
	NVTX_CORE_PUSH_W,
	NVTX_CORE_POP,
	NVTX_CORE_NAME_CATEGORY_A,
	NVTX_CORE_NAME_CATEGORY_W,
	NVTX_CORE_NAME_THREAD_A,
	NVTX_CORE_NAME_THREAD_W,
	NVTX_CORE_COUNT,
};

enum nvtx_cuda {
	NVTX_CUDA_NAME_DEVICE_A = 1,
	NVTX_CUDA_NAME_DEVICE_W,
	NVTX_CUDA_NAME_CONTEXT_A,
	NVTX_CUDA_NAME_CONTEXT_W,
	NVTX_CUDA_NAME_STREAM_A,
	NVTX_CUDA_NAME_STREAM_W,
	NVTX_CUDA_NAME_EVENT_A,
	NVTX_CUDA_NAME_EVENT_W,
	NVTX_CUDA_COUNT,
};

enum nvtx_opencl {
	NVTX_OPENCL_NAME_DEVICE_A = 1,
	NVTX_OPENCL_NAME_DEVICE_W,
	NVTX_OPENCL_NAME_CONTEXT_A,
	NVTX_OPENCL_NAME_CONTEXT_W,
	NVTX_OPENCL_NAME_QUEUE_A,
	NVTX_OPENCL_NAME_QUEUE_W,
	NVTX_OPENCL_NAME_MEMORY_A,
	NVTX_OPENCL_NAME_MEMORY_W,
	NVTX_OPENCL_NAME_SAMPLER_A,
	NVTX_OPENCL_NAME_SAMPLER_W,
	NVTX_OPENCL_NAME_PROGRAM_A,
	NVTX_OPENCL_NAME_PROGRAM_W,
	NVTX_OPENCL_NAME_EVENT_A,
	NVTX_OPENCL_NAME_EVENT_W,
	NVTX_OPENCL_COUNT,
};

enum nvtx_cudart {
	NVTX_CUDART_NAME_DEVICE_A = 1,
	NVTX_CUDART_NAME_DEVICE_W,
	NVTX_CUDART_NAME_STREAM_A,
	NVTX_CUDART_NAME_STREAM_W,
	NVTX_CUDART_NAME_EVENT_A,
	NVTX_CUDART_NAME_EVENT_W,
	NVTX_CUDART_COUNT,
};

enum nvtx_core2 {
	NVTX_CORE2_MARK_EX = 1,
	NVTX_CORE2_START_EX,
	NVTX_CORE2_END,
	NVTX_CORE2_PUSH_EX,
	NVTX_CORE2_POP,
	NVTX_CORE2_RESOURCE_CREATE,
	NVTX_CORE2_RESOURCE_DESTROY,
	NVTX_CORE2_NAME_CATEGORY_A,
	NVTX_CORE2_NAME_CATEGORY_W,
	NVTX_CORE2_REGISTER_STRING_A,
	NVTX_CORE2_REGISTER_STRING_W,
	NVTX_CORE2_DOMAIN_CREATE_A,
	NVTX_CORE2_DOMAIN_CREATE_W,
	NVTX_CORE2_DOMAIN_DESTROY,
	NVTX_CORE2_INITIALIZE,
	NVTX_CORE2_COUNT,
};

enum nvtx_sync_slot {
	NVTX_SYNC_CREATE = 1,
	NVTX_SYNC_DESTROY,
	NVTX_SYNC_ACQUIRE,
	NVTX_SYNC_FAILED,
	NVTX_SYNC_ACQUIRED,
	NVTX_SYNC_RELEASING,
	NVTX_SYNC_COUNT,
};

/* A function slot of a client, as a number: NULL is 0. */
struct nvtx_callbacks {
	size_t bytes;
	/* 1, and an array of `*ret_count` pointers to slots (the first is NULL); 0: no such module.
	 */
	int (*table)(int module, uintptr_t ***ret_slots, unsigned int *ret_count);
};

enum nvtx_message_type {
	NVTX_MESSAGE_NONE = 0,
	NVTX_MESSAGE_ASCII = 1,
	NVTX_MESSAGE_WIDE = 2,
	NVTX_MESSAGE_REGISTERED = 3,
};

union nvtx_message {
	const char *ascii;
	const wchar_t *wide;
	const struct nvtx_string *registered;
};

#define NVTX_COLOR_ARGB 1
#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xdfbd0009)

/* `bytes` says up to where the caller has filled it in. */
struct nvtx_attributes {
	uint16_t version, bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t payload_count; /* of an extended payload */
	uint64_t payload;      /* the value; extended: address of struct nvtx_payload[] */
	int32_t message_type;
	union nvtx_message message;
};

struct nvtx_resource_attributes {
	uint16_t version, bytes;
	int32_t identifier_type;
	uint64_t identifier;
	int32_t message_type;
	union nvtx_message message;
};

struct nvtx_sync_attributes {
	uint16_t version, bytes;
	int32_t message_type;
	union nvtx_message message;
};

#define NVTX_RESOURCE(class, index) ((class) << 16 | (index))
enum nvtx_resource_type {
	NVTX_RESOURCE_THREAD_NATIVE = NVTX_RESOURCE(1, 3),
	NVTX_RESOURCE_CUDA_DEVICE = NVTX_RESOURCE(4, 1),
	NVTX_RESOURCE_CUDA_CONTEXT = NVTX_RESOURCE(4, 2),
	NVTX_RESOURCE_CUDA_STREAM = NVTX_RESOURCE(4, 3),
	NVTX_RESOURCE_CUDA_EVENT = NVTX_RESOURCE(4, 4),
	NVTX_RESOURCE_CUDART_DEVICE = NVTX_RESOURCE(5, 0),
	NVTX_RESOURCE_CUDART_STREAM = NVTX_RESOURCE(5, 1),
	NVTX_RESOURCE_CUDART_EVENT = NVTX_RESOURCE(5, 2),
};

/* The payload extension: one segment of slots, in which 0 is fresh and 1 is disabled. */
#define NVTX_EXTENSION_PAYLOAD 2
#define NVTX_SLOT_DISABLED 1

enum nvtx_payload_slot {
	NVTX_SLOT_SCHEMA_REGISTER = 0,
	NVTX_SLOT_ENUM_REGISTER = 1,
	NVTX_SLOT_MARK = 2,
	NVTX_SLOT_PUSH = 3,
	NVTX_SLOT_POP = 4,
	NVTX_SLOT_START = 5,
	NVTX_SLOT_END = 6,
	NVTX_SLOT_DOMAIN_ENABLED = 7,
	NVTX_SLOT_TIMESTAMP = 8,
	NVTX_SLOT_TIME_DOMAIN = 9,
	NVTX_SLOT_EVENT_SUBMIT = 16,
	NVTX_SLOT_EVENT_BATCH = 17,
	NVTX_SLOT_COUNT,
};

/* The extension of counters has one segment likewise. */
#define NVTX_EXTENSION_COUNTERS 4

enum nvtx_counters_slot {
	NVTX_COUNTERS_REGISTER = 0,
	NVTX_COUNTERS_SAMPLE_INT64 = 1,
	NVTX_COUNTERS_SAMPLE_FLOAT64 = 2,
	NVTX_COUNTERS_SAMPLE = 3,
	NVTX_COUNTERS_NO_VALUE = 4,
	NVTX_COUNTERS_BATCH = 5,
	NVTX_COUNTERS_COUNT,
};

struct nvtx_segment {
	size_t id;
	size_t slot_count;
	uintptr_t *slots;
};

struct nvtx_extension {
	uint16_t version, bytes, module, compatibility;
	size_t segment_count;
	struct nvtx_segment *segments;
	intptr_t (*export_function)(uint32_t id);
	const void *info; /* payload: struct nvtx_type_info[], the first is {count, sizeof} */
};

struct nvtx_type_info {
	uint16_t size, align;
};

struct nvtx_payload {
	uint64_t schema;
	size_t bytes; /* SIZE_MAX: not known to the caller */
	const void *data;
};

struct nvtx_schema_entry {
	uint64_t flags;
	uint64_t type; /* enum nvtx_type or the id of a schema */
	const char *name, *description;
	uint64_t detail; /* string length, array length or index of the entry that has it */
	uint64_t offset;
	const struct nvtx_semantics *semantics;
	const void *reserved;
};

struct nvtx_schema_attributes {
	uint64_t fields; /* bit n: the nth member holds, counted from `name` = 1 */
	const char *name;
	uint64_t type, flags;
	const struct nvtx_schema_entry *entries;
	size_t entry_count;
	size_t static_bytes;
	size_t pack_align;
	uint64_t id;
	void *extension;
};

struct nvtx_enum_entry {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct nvtx_enum_attributes {
	uint64_t fields;
	const char *name;
	const struct nvtx_enum_entry *entries;
	size_t entry_count;
	size_t bytes;
	uint64_t id;
	void *extension;
};

enum nvtx_schema_field {
	NVTX_SCHEMA_TYPE = 1 << 2,
	NVTX_SCHEMA_ENTRIES = 1 << 4,
	NVTX_SCHEMA_ENTRY_COUNT = 1 << 5,
	NVTX_SCHEMA_STATIC_BYTES = 1 << 6,
	NVTX_SCHEMA_PACK_ALIGN = 1 << 7,
	NVTX_SCHEMA_ID = 1 << 8,
	NVTX_ENUM_BYTES = 1 << 4,
	NVTX_ENUM_ID = 1 << 5,
};

enum nvtx_schema_type {
	NVTX_SCHEMA_STATIC = 1,
	NVTX_SCHEMA_DYNAMIC = 2,
};

#define NVTX_SCHEMA_FIRST_STATIC (UINT64_C(1) << 24)
#define NVTX_SCHEMA_FIRST_DYNAMIC (UINT64_C(1) << 32)

enum nvtx_entry_flag {
	NVTX_ENTRY_POINTER = 1 << 1,
	NVTX_ENTRY_FROM_BASE = 1 << 2,
	NVTX_ENTRY_FROM_HERE = 1 << 3,
	NVTX_ENTRY_ARRAY_FIXED = 1 << 4,
	NVTX_ENTRY_ARRAY_ZERO = 2 << 4,
	NVTX_ENTRY_ARRAY_INDEX = 3 << 4,
	NVTX_ENTRY_ARRAY = 3 << 4, /* mask of the three */
	NVTX_ENTRY_HIDE = 1 << 9,
	NVTX_ENTRY_MESSAGE = 1 << 10,
	NVTX_ENTRY_TIMESTAMP = 2 << 10,
	NVTX_ENTRY_OF_BEGIN = 1 << 12,
	NVTX_ENTRY_OF_END = 2 << 12,
	NVTX_ENTRY_OF_MARK = 3 << 12,
	NVTX_ENTRY_OF_EVENT = 3 << 12, /* mask of the three */
};

enum nvtx_type {
	NVTX_TYPE_CHAR = 1,
	NVTX_TYPE_UCHAR,
	NVTX_TYPE_SHORT,
	NVTX_TYPE_USHORT,
	NVTX_TYPE_INT,
	NVTX_TYPE_UINT,
	NVTX_TYPE_LONG,
	NVTX_TYPE_ULONG,
	NVTX_TYPE_LONGLONG,
	NVTX_TYPE_ULONGLONG,
	NVTX_TYPE_INT8,
	NVTX_TYPE_UINT8,
	NVTX_TYPE_INT16,
	NVTX_TYPE_UINT16,
	NVTX_TYPE_INT32,
	NVTX_TYPE_UINT32,
	NVTX_TYPE_INT64,
	NVTX_TYPE_UINT64,
	NVTX_TYPE_FLOAT,
	NVTX_TYPE_DOUBLE,
	NVTX_TYPE_LONGDOUBLE,
	NVTX_TYPE_SIZE,
	NVTX_TYPE_ADDRESS,
	NVTX_TYPE_WCHAR,
	NVTX_TYPE_CHAR8,
	NVTX_TYPE_CHAR16,
	NVTX_TYPE_CHAR32,
	NVTX_TYPE_BYTE = 32,
	NVTX_TYPE_INT128 = 33,
	NVTX_TYPE_UINT128 = 34,
	NVTX_TYPE_FLOAT16 = 42,
	NVTX_TYPE_FLOAT32 = 43,
	NVTX_TYPE_FLOAT64 = 44,
	NVTX_TYPE_FLOAT128 = 45,
	NVTX_TYPE_BF16 = 50,
	NVTX_TYPE_TF32 = 52,
	NVTX_TYPE_CATEGORY = 68,
	NVTX_TYPE_COLOR = 69,
	NVTX_TYPE_SCOPE = 70,
	NVTX_TYPE_PID32 = 71,
	NVTX_TYPE_PID64 = 72,
	NVTX_TYPE_TID32 = 73,
	NVTX_TYPE_TID64 = 74,
	NVTX_TYPE_STRING = 75,
	NVTX_TYPE_STRING_UTF8 = 76,
	NVTX_TYPE_STRING_UTF16 = 77,
	NVTX_TYPE_STRING_UTF32 = 78,
	NVTX_TYPE_REGISTERED_STRING = 80,
	NVTX_TYPE_UNION_SELECTOR = 100,
	NVTX_TYPE_REFERENCED = 1022,
	NVTX_TYPE_RAW = 1023,
};

struct nvtx_counter_attributes {
	size_t bytes;
	uint64_t schema;
	const char *name, *description;
	uint64_t scope;
	const struct nvtx_semantics *semantics;
	uint64_t id; /* 0: one is to be made */
};

struct nvtx_counter_batch {
	uint64_t counter;
	const void *samples;
	size_t bytes;
	uint64_t flags;
	const int64_t *times; /* one for each sample; flags may say otherwise */
	size_t times_bytes;
};

#define NVTX_COUNTER_FIRST_DYNAMIC (UINT64_C(1) << 32)

enum nvtx_no_value {
	NVTX_NO_VALUE_ZERO = 0,
	NVTX_NO_VALUE_UNCHANGED = 1,
	NVTX_NO_VALUE_UNAVAILABLE = 2,
};

struct nvtx_event_batch {
	uint64_t schema;
	size_t bytes;
	const void *events;
	uint64_t scope, flags;
	const void *data;
	size_t data_bytes, data_offset;
};

/* The head of what a client says beside an entry or counter, and what follows it for times. */
struct nvtx_semantics {
	uint32_t bytes;
	uint16_t id, version;
	const struct nvtx_semantics *next;
};

#define NVTX_SEMANTICS_TIME 2

struct nvtx_semantics_time {
	struct nvtx_semantics head;
	uint64_t domain; /* that of a client, or enum nvtx_time */
};

struct nvtx_time_attributes {
	uint64_t scope;
	uint64_t time; /* enum nvtx_time */
	uint64_t id;   /* 0: one is to be made */
	uint64_t flags;
	int64_t resolution;
	uint64_t start;
};

enum nvtx_time {
	NVTX_TIME_NONE = 0,
	NVTX_TIME_OF_TOOL = 1, /* what NVTX_SLOT_TIMESTAMP returned */
	NVTX_TIME_MONOTONIC = 14,
	NVTX_TIME_MONOTONIC_COARSE = 16,
	NVTX_TIME_STEADY_CLOCK = 50,
};

#endif
