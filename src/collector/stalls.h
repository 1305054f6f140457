/* SPDX-License-Identifier: Apache-2.0 */
/* PC samples summed up: by kernel, by instruction, by source line, and by what warps waited for. */
#ifndef CUPROBE_COLLECTOR_STALLS_H
#define CUPROBE_COLLECTOR_STALLS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "src/collector/cubin.h"

#define STALLS_REASONS 64 /* different ones, whatever numbers devices give them */

struct event;
struct process;
struct stalls;

struct stalls_tally {
	__u64 samples;
	__u64 not_issued; /* of those, where the scheduler issued nothing */
	__u64 reasons[STALLS_REASONS];
};

/* A line of source, or one instruction where the line is not known. */
struct stalls_line {
	const char *file; /* NULL: not known */
	__u32 line;
	__u64 pc; /* of the instruction that was sampled most */
	__u64 pc_samples;
	struct stalls_kernel *kernel; /* that it was sampled most in */
	const char *function;	      /* readable; the innermost one */
	struct stalls_tally tally;
};

struct stalls_kernel {
	struct stalls_kernel *next;
	const char *name, *readable;
	__u64 crc;
	bool has_cubin;
	struct process *process; /* the first it was sampled in, and where */
	__u32 device, context;
	struct stalls_tally tally;
	struct stalls_line *hottest; /* NULL: no line is known */
};

/* What is no sample of a known instruction. */
struct stalls_rest {
	__u64 non_user, dropped, other;
};

struct stalls_view {
	struct stalls_kernel **kernels; /* most samples first, like the lines */
	size_t kernel_count;
	struct stalls_line *lines;
	size_t line_count;
	struct stalls_rest rest;
	__u64 samples; /* all, without the rest */
	__u64 missed;  /* that would have needed more memory than one recording is given */
};

int stalls_open(struct stalls **ret, bool mangled);
void stalls_free(struct stalls *s);
int stalls_event(struct stalls *s, const struct event *e);
/* After the last event: sorts, and finds the lines. 0 or -ENOMEM. */
struct cubins;
int stalls_finish(struct stalls *s, const struct cubins *cubins);
const struct stalls_view *stalls_view(const struct stalls *s);
/* "long_scoreboard" */
const char *stalls_reason(const struct stalls *s, unsigned int reason);

/* Each kernel, at any time. */
void stalls_each_kernel(const struct stalls *s,
			void (*each)(void *arg, const struct stalls_kernel *kernel), void *arg);

/* Each sampled instruction of a kernel, by place: the frames, and what it waited for. */
void stalls_each(const struct stalls *s, const struct cubins *cubins,
		 void (*each)(void *arg, const struct stalls_kernel *kernel,
			      const struct cubin_frame *frames, unsigned int frame_count,
			      unsigned int reason, __u64 samples),
		 void *arg);

/* "long_scoreboard 83 %, wait 9 %": the most frequent, in `text` of `bytes`. */
void stalls_words(const struct stalls *s, const struct stalls_tally *tally, char *text,
		  size_t bytes);

#endif
