/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the test consumer's BPF programs hand to its other half. */
#ifndef CUPROBE_TEST_PARCA_CONSUMER_H
#define CUPROBE_TEST_PARCA_CONSUMER_H

#include <linux/types.h>

enum event_type {
	EVENT_CORRELATION,
	EVENT_EXECUTED,
	EVENT_BATCH,	/* one firing of a batch, values[0] records */
	EVENT_KERNEL,	/* one record of it */
	EVENT_CUBIN,	/* loaded: crc, address, bytes */
	EVENT_UNLOADED, /* crc */
	EVENT_ERROR,	/* code; the component is in the record */
	EVENT_NVTX,	/* one event of a batch */
	EVENT_NAME,	/* kind, id */
	EVENT_CONFIG,	/* device, factor, kHz, multiprocessors */
	EVENT_PC,	/* one record: stalls, samples, first reason */
	EVENT_REASONS,	/* how many follow, one by one */
	EVENT_REASON,	/* place */
	EVENT_LOST,	/* values[0] records of a batch that is larger than what is read */
	EVENT_BAD,	/* something could not be read, or is no kernel: see text */
};

#define RECORD_BYTES 160
#define TEXT_BYTES 256
#define COMPONENT_BYTES 64
#define NVTX_BYTES 56

struct event {
	__u32 type;
	__u32 pid;
	__s64 values[8];
	__u8 record[RECORD_BYTES];
	__s32 text_bytes; /* with the final 0; negative: it could not be read */
	char text[TEXT_BYTES];
};

#endif
