/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct process; for the model only. */
#ifndef CUPROBE_COLLECTOR_PROCESS_H
#define CUPROBE_COLLECTOR_PROCESS_H

#include "src/collector/model.h"
#include "src/collector/nvtx_names.h"
#include "src/collector/stacks.h"
#include "src/collector/strings.h"
#include "src/collector/symbols.h"

/* What one process may make us hold. */
#define PROCESS_DEVICES 256
#define PROCESS_CONTEXTS 65536
#define PROCESS_STREAMS 65536
#define PROCESS_THREADS 65536
#define PROCESS_STALLS 4096
#define PROCESS_MESSAGES 1024

struct process_private {
	struct process *same_key; /* chain of the model */
	struct strings strings;
	struct stacks stacks;
	struct symbols symbols;
	struct map contexts; /* id -> struct cuprobe_info_context */
	struct map streams;  /* context << 32 | id -> struct cuprobe_info_stream */
	struct map stalls;   /* device << 32 | index -> struct cuprobe_info_stall_reason */
	struct map sampling; /* context -> struct cuprobe_info_pc_sampling */
	struct map threads;  /* thread -> tid, as a pointer's value */
	struct nvtx_names nvtx;
	struct cuprobe_info_device *devices[PROCESS_DEVICES]; /* sorted by id */
	unsigned int device_count;
	struct process_message *messages, *last_message;
	unsigned int message_count;
	struct cuprobe_status_ledger past[CUPROBE_PROBE_COUNT];	  /* of earlier images */
	struct cuprobe_status_ledger before[CUPROBE_PROBE_COUNT]; /* of this one, when we came */
};

struct process *process_new(__u32 pid, __u64 start_ns);
void process_free(struct process *p);

/* Each 0, -ENOMEM, or -ENOSPC at a limit above. */
int process_set_info(struct process *p, const struct cuprobe_info *info);
int process_set_status(struct process *p, const struct cuprobe_status *status);
int process_set_thread(struct process *p, __u32 thread, __u32 tid);

/* The process executed another program: string ids and seq start anew. */
void process_new_image(struct process *p);

#endif
