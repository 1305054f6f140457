/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the probes of the provider parcagpu as parca-agent's programs do: without sleeping, so that
 * what is not in memory cannot be read; at fixed sizes, whatever the count; at the same offsets.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <stdbool.h>

/* As <asm/ptrace.h> has it for programs on x86-64, which this is not compiled for. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi,
		orig_rax, rip, cs, eflags, rsp, ss;
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

#include "test/parca/consumer.h"

#define BATCH_MOST 128
#define POINTERS 16
#define NAME_AT 104
#define NVTX_MOST 256
#define MESSAGE_AT 48
#define PC_MOST 1024
#define PC_BYTES 60
#define FUNCTION_AT 32
#define STALL_COUNT_AT 40
#define STALLS_AT 48
#define STALL_BYTES 512
#define MAP_BYTES 4096
#define REASON_BYTES 64

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 20);
} events SEC(".maps");

__u64 missed = 0; /* events that found no room */

static struct event *event_begin(__u32 type)
{
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&missed, 1);
		return NULL;
	}
	e->type = type;
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->text_bytes = 0;
	e->text[0] = 0;
	return e;
}

static void event_text(struct event *e, const void *text)
{
	e->text_bytes = bpf_probe_read_user_str(e->text, sizeof(e->text), text);
}

static void tell(__u32 type, __s64 value)
{
	struct event *e = event_begin(type);

	if (!e)
		return;
	e->values[0] = value;
	bpf_ringbuf_submit(e, 0);
}

SEC("usdt")
int BPF_USDT(cuda_correlation, __u32 correlation, __s32 cbid, const char *name)
{
	struct event *e = event_begin(EVENT_CORRELATION);

	if (!e)
		return 0;
	e->values[0] = correlation;
	e->values[1] = cbid;
	event_text(e, name);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("usdt")
int BPF_USDT(kernel_executed, __u64 start, __u64 end, __u32 correlation, __u32 device, __u32 stream,
	     __u32 graph, __u64 node, const char *name)
{
	struct event *e = event_begin(EVENT_EXECUTED);

	if (!e)
		return 0;
	e->values[0] = correlation;
	e->values[1] = start;
	e->values[2] = end;
	e->values[3] = device;
	e->values[4] = stream;
	e->values[5] = graph;
	e->values[6] = node;
	event_text(e, name);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static void kernel_read(const void *record)
{
	struct event *e = event_begin(EVENT_KERNEL);
	const void *name;
	__u32 kind;

	if (!e)
		return;
	if (bpf_probe_read_user(e->record, RECORD_BYTES, record)) {
		e->type = EVENT_BAD;
		e->values[0] = 0;
	} else {
		__builtin_memcpy(&kind, e->record, sizeof(kind));
		__builtin_memcpy(&name, e->record + NAME_AT, sizeof(name));
		if (kind != 3 && kind != 10) {
			e->type = EVENT_BAD;
			e->values[0] = kind;
		}
		event_text(e, name);
	}
	bpf_ringbuf_submit(e, 0);
}

/* Pointers are read as the agent reads them, POINTERS at a time and at most `most`. */
static __always_inline int batch_read(const void **records, __u32 count, __u32 most,
				      void (*read)(const void *record))
{
	const void *pointers[POINTERS];

	tell(EVENT_BATCH, count);
	if (count > most)
		tell(EVENT_LOST, count - most);
	for (__u32 first = 0; first < most; first += POINTERS) {
		if (first >= count)
			break;
		if (bpf_probe_read_user(pointers, sizeof(pointers), records + first)) {
			tell(EVENT_BAD, -1);
			break;
		}
		for (__u32 i = 0; i < POINTERS; i++) {
			if (first + i < count)
				read(pointers[i]);
		}
	}
	return 0;
}

SEC("usdt")
int BPF_USDT(activity_batch, const void **records, __u32 count)
{
	return batch_read(records, count, BATCH_MOST, kernel_read);
}

SEC("usdt")
int BPF_USDT(cubin_loaded, __u64 crc, const void *cubin, __u64 bytes)
{
	struct event *e = event_begin(EVENT_CUBIN);

	if (!e)
		return 0;
	e->values[0] = crc;
	e->values[1] = (__s64)cubin;
	e->values[2] = bytes;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("usdt")
int BPF_USDT(cubin_unloaded, __u64 crc)
{
	tell(EVENT_UNLOADED, crc);
	return 0;
}

SEC("usdt")
int BPF_USDT(error, __s32 code, const char *message, const char *component)
{
	struct event *e = event_begin(EVENT_ERROR);

	if (!e)
		return 0;
	e->values[0] = code;
	if (bpf_probe_read_user(e->text, TEXT_BYTES, message) ||
	    bpf_probe_read_user(e->record, COMPONENT_BYTES, component))
		e->type = EVENT_BAD;
	e->text[TEXT_BYTES - 1] = 0;
	e->text_bytes = TEXT_BYTES;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static void nvtx_read(const void *record)
{
	struct event *e = event_begin(EVENT_NVTX);
	const void *message;

	if (!e)
		return;
	if (bpf_probe_read_user(e->record, NVTX_BYTES, record)) {
		e->type = EVENT_BAD;
	} else {
		__builtin_memcpy(&message, e->record + MESSAGE_AT, sizeof(message));
		event_text(e, message);
	}
	bpf_ringbuf_submit(e, 0);
}

SEC("usdt")
int BPF_USDT(nvtx_event_batch, const void **records, __u32 count)
{
	return batch_read(records, count, NVTX_MOST, nvtx_read);
}

SEC("usdt")
int BPF_USDT(nvtx_resource_name, __u32 kind, __u64 id, const char *name)
{
	struct event *e = event_begin(EVENT_NAME);

	if (!e)
		return 0;
	e->values[0] = kind;
	e->values[1] = id;
	event_text(e, name);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("usdt")
int BPF_USDT(gpu_config, __u32 device, __u32 factor, __u32 khz, __u32 multiprocessors)
{
	struct event *e = event_begin(EVENT_CONFIG);

	if (!e)
		return 0;
	e->values[0] = device;
	e->values[1] = factor;
	e->values[2] = khz;
	e->values[3] = multiprocessors;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

struct scratch {
	char map[MAP_BYTES];
	__u32 stalls[STALL_BYTES / 4];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __u64 stalls_sum(const __u32 *stalls, __u64 count)
{
	__u64 sum = 0;

	for (__u32 i = 0; i < STALL_BYTES / 8; i++)
		sum += i < count ? stalls[2 * i + 1] : 0;
	return sum;
}

static void pc_read(struct scratch *scratch, const void *record)
{
	struct event *e = event_begin(EVENT_PC);
	const void *function, *stalls;
	__u64 count;

	if (!e)
		return;
	if (bpf_probe_read_user(e->record, PC_BYTES, record)) {
		e->type = EVENT_BAD;
	} else {
		__builtin_memcpy(&function, e->record + FUNCTION_AT, 8);
		__builtin_memcpy(&count, e->record + STALL_COUNT_AT, 8);
		__builtin_memcpy(&stalls, e->record + STALLS_AT, 8);
		event_text(e, function);
		e->values[0] = count;
		if (bpf_probe_read_user(scratch->stalls, STALL_BYTES, stalls))
			e->type = EVENT_BAD;
		else
			e->values[1] = stalls_sum(scratch->stalls, count);
		e->values[2] = scratch->stalls[0];
	}
	bpf_ringbuf_submit(e, 0);
}

static long pc_each(__u32 i, void *context)
{
	const void **records = *(void **)context, *record;
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);

	if (!scratch)
		return 1;
	if (bpf_probe_read_user(&record, sizeof(record), records + i)) {
		tell(EVENT_BAD, -1);
		return 1;
	}
	pc_read(scratch, record);
	return 0;
}

SEC("usdt")
int BPF_USDT(pc_sample_batch, const void **records, __u32 count)
{
	const void **first = records;

	tell(EVENT_BATCH, count);
	if (count > PC_MOST) {
		tell(EVENT_LOST, count - PC_MOST);
		count = PC_MOST;
	}
	bpf_loop(count, pc_each, &first, 0);
	return 0;
}

SEC("usdt")
int BPF_USDT(stall_reason_map, const char *names, __u32 count)
{
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);

	if (!scratch)
		return 0;
	tell(EVENT_REASONS, count);
	if (bpf_probe_read_user(scratch->map, MAP_BYTES, names)) {
		tell(EVENT_BAD, -2);
		return 0;
	}
	for (__u32 i = 0; i < MAP_BYTES / REASON_BYTES; i++) {
		struct event *e = i < count ? event_begin(EVENT_REASON) : NULL;

		if (!e)
			break;
		e->values[0] = i;
		__builtin_memcpy(e->text, scratch->map + i * REASON_BYTES, REASON_BYTES);
		e->text[REASON_BYTES] = 0;
		e->text_bytes = REASON_BYTES;
		bpf_ringbuf_submit(e, 0);
	}
	return 0;
}

SEC("usdt")
int BPF_USDT(native)
{
	return 0;
}
