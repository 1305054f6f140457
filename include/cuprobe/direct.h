/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The direct channel: how batches get from the library to a collector that may not use BPF.
 *
 * CUPROBE_DIRECT names a Unix stream socket that the collector listens at. The library connects and
 * sends one struct cuprobe_direct_hello together with a memfd, sealed against changes of its size,
 * that holds a struct cuprobe_direct_memory: two rings which the library writes and the collector
 * reads, both in the layout of BPF's ring buffers. Nothing is awaited, so that a collector may be
 * stopped. The batches are those of the probes, with the same headers and sequence numbers.
 *
 * What is wanted stands in the file whose name is the socket's and CUPROBE_DIRECT_WANTED: a __u32
 * whose bit n asks for probe n. The library looks at it as often as at the probes' semaphores.
 *
 * After the hello, bytes from the library wake the collector and mean nothing; the collector sends
 * none. When a side closes the socket, it is over.
 */
#ifndef CUPROBE_DIRECT_H
#define CUPROBE_DIRECT_H

#include "cuprobe/transport.h"

#define CUPROBE_DIRECT_MAGIC 0x54434452 /* "RDCT" */
#define CUPROBE_DIRECT_VERSION 1
#define CUPROBE_DIRECT_WANTED ".wanted"

#define CUPROBE_DIRECT_FRONT_BYTES (2u << 20)
#define CUPROBE_DIRECT_BATCHES_BYTES (16u << 20)
#define CUPROBE_DIRECT_WAKE_BYTES (1u << 20) /* pending in a ring when the collector is woken */
#define CUPROBE_DIRECT_PROBES 64	     /* most probes that losses are counted for */

struct cuprobe_direct_hello {
	__u32 magic, version;
	__u64 process_start_ns; /* as in the headers of the batches */
};
CUPROBE_PINNED(struct cuprobe_direct_hello, 16);

#define CUPROBE_DIRECT_PAGE __attribute__((aligned(4096)))

/*
 * As in the BPF program, `front` is used as long as nothing lies in `batches`, which is why
 * `front` is to be emptied first: it is small and stays in the caches.
 *
 * A position counts bytes since the beginning; the library writes `written` and then no more below
 * it, the collector writes `read`. In a ring lie, each aligned to CUPROBE_RING_ALIGN and whole: 4
 * bytes of length behind the first 8, and BPF_RINGBUF_DISCARD_BIT where nothing lies but space to
 * be passed over; 4 bytes of nothing; a struct cuprobe_ring_batch; the records.
 */
struct cuprobe_direct_memory {
	CUPROBE_DIRECT_PAGE __u64 front_read;
	CUPROBE_DIRECT_PAGE __u64 front_written;
	CUPROBE_DIRECT_PAGE __u8 front[CUPROBE_DIRECT_FRONT_BYTES];
	CUPROBE_DIRECT_PAGE __u64 batches_read;
	CUPROBE_DIRECT_PAGE __u64 batches_written;
	CUPROBE_DIRECT_PAGE __u8 batches[CUPROBE_DIRECT_BATCHES_BYTES];
	/* What found no room, by probe: `bad_` are 0. The library writes. */
	CUPROBE_DIRECT_PAGE struct cuprobe_loss lost[CUPROBE_DIRECT_PROBES];
};
CUPROBE_PINNED(struct cuprobe_direct_memory,
	       5 * 4096 + CUPROBE_DIRECT_FRONT_BYTES + CUPROBE_DIRECT_BATCHES_BYTES);

#endif
