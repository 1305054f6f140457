/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes batches as the library would fire them, for tests and benchmarks: deterministic, and
 * delivered to a capture or straight to a model and a sink.
 */
#ifndef CUPROBE_TEST_SYNTHETIC_H
#define CUPROBE_TEST_SYNTHETIC_H

#include <stddef.h>

#include "cuprobe/transport.h"

struct session_info;

/* Of the cubin that the samples in the demo are of. */
#define SYNTHETIC_CUBIN_CRC 0xc0b1ull

/* Where batches go; returns 0 or what ends the work. */
struct synthetic_target {
	int (*batch)(void *arg, const struct cuprobe_batch_header *h, const void *data);
	void *arg;
};

/* A process that fires. Zero it, then set pid, start_ns, now_ns and target. */
struct synthetic {
	__u32 pid;
	__u64 start_ns;
	__u64 now_ns; /* when strings are fired */
	struct synthetic_target target;
	__u64 seq[CUPROBE_PROBE_COUNT];
	__u32 next_string;
	int err; /* the first that the target returned; later calls do nothing */
};

/* Fires one batch of `count` records of `size` bytes each. */
void synthetic_fire(struct synthetic *s, enum cuprobe_probe_id probe, const void *records,
		    size_t size, unsigned int count, __u64 time_ns);
/* Defines a string, in as many pieces as it needs, and returns its id. */
__u32 synthetic_string(struct synthetic *s, const char *text);

/*
 * The demo: two processes (pids 1000 and 2000), two devices each, every kind of record, names with
 * everything that breaks careless writers, one gap of lost records, one restart.
 */
int synthetic_demo(const struct synthetic_target *target);
void synthetic_demo_info(struct session_info *info);
/* Its processes and the addresses in its stacks, as captures describe them: JSON. */
extern const char synthetic_demo_first[], synthetic_demo_second[], synthetic_demo_symbols[];
/*
 * `events` events of one process as a training loop gives them: launch call, kernel, now and then
 * copies, memsets and synchronisations.
 */
int synthetic_big(const struct synthetic_target *target, __u64 events);
void synthetic_big_info(struct session_info *info, __u64 events);

#endif
