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

SEC("usdt")
int BPF_USDT(activity_batch, const void **records, __u32 count)
{
	const void *pointers[POINTERS];

	tell(EVENT_BATCH, count);
	if (count > BATCH_MOST)
		tell(EVENT_LOST, count - BATCH_MOST);
	for (__u32 first = 0; first < BATCH_MOST; first += POINTERS) {
		if (first >= count)
			break;
		if (bpf_probe_read_user(pointers, sizeof(pointers), records + first)) {
			tell(EVENT_BAD, -1);
			break;
		}
		for (__u32 i = 0; i < POINTERS; i++) {
			if (first + i < count)
				kernel_read(pointers[i]);
		}
	}
	return 0;
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
	const void *pointers[POINTERS];

	tell(EVENT_BATCH, count);
	if (count > NVTX_MOST)
		tell(EVENT_LOST, count - NVTX_MOST);
	for (__u32 first = 0; first < NVTX_MOST; first += POINTERS) {
		if (first >= count)
			break;
		if (bpf_probe_read_user(pointers, sizeof(pointers), records + first)) {
			tell(EVENT_BAD, -1);
			break;
		}
		for (__u32 i = 0; i < POINTERS; i++) {
			if (first + i < count)
				nvtx_read(pointers[i]);
		}
	}
	return 0;
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
int BPF_USDT(native)
{
	return 0;
}
