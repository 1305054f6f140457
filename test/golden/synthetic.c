/* SPDX-License-Identifier: Apache-2.0 */
/* Fires into a function what the library would fire into its probes. */
#include "test/golden/synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void synthetic_fire(struct synthetic *s, enum cuprobe_probe_id probe, const void *records,
		    size_t size, unsigned int count, __u64 time_ns)
{
	struct cuprobe_batch_header h = {
		.time_ns = time_ns,
		.process_start_ns = s->start_ns,
		.seq = s->seq[probe],
		.pid = s->pid,
		.tid = s->pid + 7, /* the pump */
		.bytes = (__u32)(size * count),
		.count = count,
		.probe = (__u16)probe,
	};

	if (s->err)
		return;
	s->err = s->target.batch(s->target.arg, &h, records);
	s->seq[probe] += count;
}

__u32 synthetic_string(struct synthetic *s, const char *text)
{
	__u32 id = ++s->next_string, total = (__u32)strlen(text), offset = 0;

	do {
		struct cuprobe_string piece = {.id = id, .total_bytes = total, .offset = offset};

		piece.bytes = total - offset < CUPROBE_STRING_PIECE ? total - offset
								    : CUPROBE_STRING_PIECE;
		memcpy(piece.text, text + offset, piece.bytes);
		offset += piece.bytes;
		synthetic_fire(s, CUPROBE_PROBE_string, &piece, sizeof(piece), 1, s->now_ns);
	} while (offset < total);
	return id;
}
