/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of the direct channel as its writer sees it. The other side may write anything
 * anywhere in it: what is read back is taken for no more than "so much room there is".
 */
#ifndef CUPROBE_INJECT_DIRECT_RING_H
#define CUPROBE_INJECT_DIRECT_RING_H

#include <stdbool.h>

#include "cuprobe/direct.h"

struct cuprobe_direct_ring {
	struct cuprobe_direct_memory *memory; /* NULL: none */
	__u64 front_written, batches_written; /* as they stand in the memory */
};

/* The memory's descriptor, to be sent away and closed, or -errno. Children do not inherit it. */
int cuprobe_direct_ring_open(struct cuprobe_direct_ring *ret);
void cuprobe_direct_ring_close(struct cuprobe_direct_ring *ring);

/*
 * Puts a batch in, or counts it as lost when there is no room. True when so much is pending that
 * the collector is to be woken.
 */
bool cuprobe_direct_ring_put(struct cuprobe_direct_ring *ring,
			     const struct cuprobe_batch_header *header, const void *data);

#endif
