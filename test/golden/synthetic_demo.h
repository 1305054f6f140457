/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the demo: one of its processes at work. */
#ifndef CUPROBE_TEST_SYNTHETIC_DEMO_H
#define CUPROBE_TEST_SYNTHETIC_DEMO_H

#include "test/golden/synthetic.h"

#define US 1000ull
#define DEMO_START_NS 1000000000000ull
#define DEMO_END_NS (DEMO_START_NS + 10000 * US)
#define DEMO_FIRED_NS (DEMO_START_NS + 9000 * US)

struct demo {
	struct synthetic process;
	__u64 at_ns;
	__u32 correlation;
	__u32 launch, driver_launch, copy, set, synchronize, graph_launch, allocate;
	__u32 stack; /* of what is launched; 0 none */
};

#define FIRE(d, kind, record)                                                                      \
	synthetic_fire(&(d)->process, CUPROBE_PROBE_##kind, record, sizeof(*(record)), 1,          \
		       DEMO_FIRED_NS)

/* The process, its devices with a context each, and the names of calls. */
void demo_info(struct demo *d, __u32 rank);
/*
 * Stack `id`: the call, `leaf`, what has no symbol, two lines of Python and the way to main(). Its
 * symbols are in synthetic_demo_symbols. Two pieces.
 */
void demo_stack(struct demo *d, __u32 id, __u64 leaf);
/* How PC samples are taken, and the names of stall reasons 0 to 3. */
void demo_sampling(struct demo *d);
/* The state, a message, and the ledger of each probe as it is by now. */
void demo_status(struct demo *d);

#endif
