/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch on its way from a probe to its readers: how the BPF program puts it into the ring buffer
 * and, unchanged, how it lies in a capture file.
 */
#ifndef CUPROBE_TRANSPORT_H
#define CUPROBE_TRANSPORT_H

#include "cuprobe/abi.h"

/* Precedes the `bytes` bytes of records, which start 8-byte aligned right behind it. */
struct cuprobe_batch_header {
	__u64 time_ns;		/* CLOCK_MONOTONIC when the probe fired */
	__u64 process_start_ns; /* with pid the identity of the process: CLOCK_BOOTTIME at its start
				 */
	__u64 seq;		/* records fired through this probe by this process before */
	__u32 pid, tid;		/* of the firing thread, in the initial pid namespace */
	__u32 bytes, count;	/* as the probe gave them; 0 < bytes <= CUPROBE_BATCH_BYTES */
	__u16 probe;		/* enum cuprobe_probe_id */
	__u16 reserved[3];
};
CUPROBE_PINNED(struct cuprobe_batch_header, 48);

/*
 * A batch in a ring buffer. With the 8 bytes that the kernel puts in front, and rounded up to the
 * next CUPROBE_RING_ALIGN, its records begin on a cache line: `rep movsb`, with which kernels copy,
 * is three times as slow elsewhere on AMD's processors.
 */
#define CUPROBE_RING_ALIGN 64
struct cuprobe_ring_batch {
	__u64 reserved;
	struct cuprobe_batch_header header;
};
CUPROBE_PINNED(struct cuprobe_ring_batch, CUPROBE_RING_ALIGN - 8);

/* What the BPF program could not deliver: key and value of its `losses` map. */
struct cuprobe_loss_key {
	__u64 process_start_ns;
	__u32 pid;
	__u32 probe;
};

struct cuprobe_loss {
	__u64 batches, records;		/* ring buffer full */
	__u64 bad_batches, bad_records; /* arguments out of range, or memory unreadable */
};

#endif
