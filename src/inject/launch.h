/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record of every call that puts work on a GPU, with the stack that it came from: the probes
 * `launch` and `stack`.
 */
#ifndef CUPROBE_INJECT_LAUNCH_H
#define CUPROBE_INJECT_LAUNCH_H

#include <cupti.h>
#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/unwind_machine.h"

/* The pump looks for launches that often while they are taken. */
#define CUPROBE_LAUNCH_PERIOD_NS 10000000ull

/*
 * Makes ready for launches, or for none; true when they are taken. The calls that launch are shown
 * only while they are. Control thread.
 */
bool cuprobe_launch_apply(bool wanted);

/* A call that puts work on a GPU begins or ends, on the application's thread. */
void cuprobe_launch_call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			 const CUpti_CallbackData *call, struct cuprobe_registers at);

/*
 * A node was captured or added to a graph by the calling thread, or copied from `original`. 0: not
 * known which.
 */
void cuprobe_launch_node(__u64 node, struct cuprobe_registers at);
void cuprobe_launch_copy(__u64 node, __u64 original);

/* True while launches are taken. */
bool cuprobe_launch_busy(void);

/* Moves what threads have put down into batches. Pump thread. */
void cuprobe_launch_pump(void);

#endif
