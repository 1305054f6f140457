/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the traced processes: strings, devices, contexts, streams, names, the loss
 * ledger. Grows with the number of distinct things, never with the number of events.
 */
#ifndef CUPROBE_COLLECTOR_MODEL_H
#define CUPROBE_COLLECTOR_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "cuprobe/abi.h"
#include "cuprobe/transport.h"

struct cubins;
struct event;
struct frame;
struct model;
struct stack;

/*
 * Loss, per process and probe, through all stages. In the library, since the process started:
 *	produced = fired + discarded + invalid + lost + pending
 * and from there to us, since we listen:
 *	fired = delivered + refused + missed
 */
struct ledger {
	/* By the newest that the library sent: since we came, all images together. */
	struct cuprobe_status_ledger library;
	bool library_known;
	__u64 delivered;   /* records given to the sinks */
	__u64 refused;	   /* records with impossible times or fields, kept from the sinks */
	__u64 missed;	   /* gaps in seq: fired while we listened, and not delivered */
	__u64 ring_lost;   /* of those, counted by the BPF program: ring full */
	__u64 copy_failed; /* of those, counted by the BPF program: bad arguments or memory */
	__u64 malformed;   /* batches the decoder refused; their records are missed ones */
	__u64 first_seq;   /* of what was delivered */
	__u64 next_seq;
	bool seen; /* a batch was delivered: what was fired before is not ours */
};

/* Records fired while we listened that did not arrive, by whichever counter knows more. */
__u64 ledger_lost(const struct ledger *l);

/* Identity: (pid, start_ns). Fields may be read; only the model writes. */
struct process {
	struct process *next; /* in the order of appearance; model_processes() is the first */
	__u32 number;	      /* 0, 1, ... in the order of appearance */
	__u32 pid;	      /* initial pid namespace */
	__u64 start_ns;
	__u32 image;  /* 0, 1, ...: execs with the library; string ids start anew with each */
	__u32 state;  /* enum cuprobe_state, as last told */
	__u32 states; /* bit n: was told of state n */
	__u32 active_probes;   /* as last told: what CUPTI collects for readers of the native probes
				*/
	__u64 ledger_ns;       /* when the last whole ledger was told; 0: none was */
	__u64 unknown_batches; /* of probes that only a newer cuprobe knows */
	bool info_known;
	struct cuprobe_info_process info;
	char *command; /* from /proc or the capture; may be NULL */
	struct ledger ledgers[CUPROBE_PROBE_COUNT];
	struct process_private *private;
};

int model_open(struct model **ret);
void model_free(struct model *m);

/* Finds or makes the process; NULL only without memory. */
struct process *model_process(struct model *m, __u32 pid, __u64 start_ns);
/* There are too many processes: this one stands for all further ones, whose batches are left out.
 */
bool model_is_rest(const struct model *m, const struct process *p);
struct process *model_processes(const struct model *m);

/* The cubins of all processes; whoever has one adds it. */
struct cubins *model_cubins(struct model *m);

/* Called by decode for every batch and record, before sinks see them. */
int model_batch(struct model *m, struct process *p, const struct cuprobe_batch_header *h);
int model_event(struct model *m, const struct event *e);
void model_malformed(struct process *p, const struct cuprobe_batch_header *h);
void model_refused(struct process *p, enum cuprobe_probe_id probe);

/* The BPF program's losses (absolute figures); from the live session or a capture. */
int model_losses(struct model *m, const struct cuprobe_loss_key *key,
		 const struct cuprobe_loss *loss);
int model_command(struct model *m, __u32 pid, __u64 start_ns, const char *command);
/* `thread` in the process's own pid namespace is `tid` in the initial one. */
int model_thread(struct model *m, __u32 pid, __u64 start_ns, __u32 thread, __u32 tid);

/*
 * The text of a string id, zero terminated; NULL when it is not (or not wholly) defined, or id 0.
 * `ret_bytes` may be NULL. Stays valid as long as the model.
 */
const char *process_string(const struct process *p, __u32 id, size_t *ret_bytes);

/*
 * The text with C++ and Rust names demangled, else as it is; "?" plus the id when not defined
 * (valid until the next call), "" for id 0. Else valid as long as the model; demangled once for
 * each distinct string.
 */
const char *process_name(struct process *p, __u32 id, bool mangled);

/*
 * The stack of an id, see stacks.h: to be defined by then, or later. Valid as long as the model. 0,
 * -ENOSPC when the process has too many, or -ENOMEM.
 */
int process_stack(struct process *p, __u32 id, struct stack **ret);
/* Gives the frames of all stacks what is known of them now; to be called before they are read. */
void process_settle_stacks(struct process *p);
/* The frames of the program that runs now, the newest first, by `next` up to `ret_end`. */
const struct frame *process_frames(const struct process *p, const struct frame **ret_end);

/* NULL when not announced. */
const struct cuprobe_info_device *process_device(const struct process *p, __u32 device);
const struct cuprobe_info_context *process_context(const struct process *p, __u32 context);
const struct cuprobe_info_stream *process_stream(const struct process *p, __u32 context,
						 __u32 stream);
/* "long_scoreboard": without what is common to CUPTI's names of them. NULL when not announced. */
const char *process_stall_reason(const struct process *p, __u32 device, __u32 stall);
/* How a context is sampled; NULL when not announced. */
const struct cuprobe_info_pc_sampling *process_pc_sampling(const struct process *p, __u32 context);
/* The thread id in the initial pid namespace of a thread id as the process knows it. */
__u32 process_thread(const struct process *p, __u32 thread);

/* Each in turn, in the order of ids. */
void process_each_device(const struct process *p,
			 void (*each)(void *arg, const struct cuprobe_info_device *d), void *arg);

/* Messages (status records), oldest first, without repetitions. */
struct process_message {
	struct process_message *next;
	__u64 time_ns;
	__u64 count;
	struct cuprobe_status_message message;
	const char *text, *remedy; /* of an earlier image, else NULL: use the functions below */
};
const struct process_message *process_messages(const struct process *p);
/* What happened, and what to do; "" when there is none. */
const char *process_message_text(const struct process *p, const struct process_message *m);
const char *process_message_remedy(const struct process *p, const struct process_message *m);

/* Records of all processes and kinds that were made and did not arrive, wherever they were lost. */
__u64 model_lost(const struct model *m);

/* The window in which anything was seen, CLOCK_MONOTONIC; both 0 when nothing was. */
void model_window(const struct model *m, __u64 *ret_first_ns, __u64 *ret_last_ns);

#endif
