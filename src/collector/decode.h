/* SPDX-License-Identifier: Apache-2.0 */
/* From batches, which may hold junk, to events. */
#ifndef CUPROBE_COLLECTOR_DECODE_H
#define CUPROBE_COLLECTOR_DECODE_H

#include "src/collector/event.h"

struct cuprobe_batch_header;
struct model;

#define DECODE_SLACK_NS 1000000000ull /* a calibrated clock may be that wrong, and no more */

/* A receiver of events; returns 0, or a negative errno that ends the work. */
struct event_sink {
	int (*event)(void *arg, const struct event *e);
	void *arg;
};

/*
 * Checks a batch (probe, sizes, stride, kind-specific limits), feeds its records to the model and
 * then one by one to `sink`, which may be NULL. A batch that breaks the rules is counted with
 * its process in the model and otherwise ignored; so is a record whose times cannot be: a sink
 * sees 0 < start <= end, and no end after the moment of firing (plus DECODE_SLACK_NS).
 * `data`, 8-byte aligned, holds header->bytes bytes.
 * Returns 0, -ENOMEM, or what the sink returned.
 */
int decode_batch(struct model *model, const struct cuprobe_batch_header *header, const void *data,
		 const struct event_sink *sink);

#endif
