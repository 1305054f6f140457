/* SPDX-License-Identifier: Apache-2.0 */
/* The settings, read from the environment once. */
#ifndef CUPROBE_INJECT_ENV_H
#define CUPROBE_INJECT_ENV_H

#include <stdbool.h>

#include <linux/types.h>

enum cuprobe_pc_setting {
	CUPROBE_PC_SETTING_CONTINUOUS,
	CUPROBE_PC_SETTING_SERIALIZED,
};

enum cuprobe_release {
	CUPROBE_RELEASE_AUTO, /* finalise where CUPTI's version is known to be safe */
	CUPROBE_RELEASE_FINALIZE,
	CUPROBE_RELEASE_UNSUBSCRIBE,
};

#define CUPROBE_RATE_UNLIMITED 1000000000u /* and whatever is above it */
#define CUPROBE_RATE_UNSET 0xffffffffu

struct cuprobe_env {
	const char *log;	/* path or "stderr"; NULL: no log */
	const char *direct;	/* socket of a collector; NULL: none */
	const char *cupti_path; /* file or directory; NULL: search */
	__u32 log_level;	/* 1 errors, 2 warnings, 3 notes, 4 debug */
	__u32 release;		/* enum cuprobe_release */
	__u32 buffer_kb;	/* of one activity buffer */
	__u32 pool_mb;		/* of all activity buffers */
	__u32 module_mb;	/* of copies of cubins */
	__u32 flush_ms;		/* partly filled buffers are flushed that often */
	__u32 latency_timestamps;
	__u32 pc_mode;	     /* enum cuprobe_pc_setting */
	__u32 pc_period;     /* log2 of cycles; 0: as pc_rate asks for */
	__u32 pc_rate;	     /* samples a second of one GPU */
	__u32 pc_buffer_mb;  /* of CUPTI's, for each context */
	__u32 pc_window_ms;  /* serialized: sampled for so long ... */
	__u32 pc_every_ms;   /* ... once in so long */
	__u32 stack_budget;  /* percent of a launching thread's time */
	__u32 native_stacks; /* 1: without Python frames */

	__u32 disable;
	/* Launches a second of one thread that are told through parcagpu, in thousandths. */
	__u32 parca_rate, parca_graph_rate;
	__u32 parca_debug;
	/*
	 * Samples a second, in thousandths, for which parcagpu's consumers want PC sampling; 0 as
	 * many as the windows give, CUPROBE_RATE_UNSET not at all. With what period and buffer.
	 */
	__u32 parca_pc_rate, parca_pc_factor, parca_pc_buffer_mb;
	__u32 rank, world_size; /* CUPROBE_NO_ID when no launcher says */
};

extern struct cuprobe_env cuprobe_env;

/*
 * Reads the environment into cuprobe_env. `complain` is called for each unknown CUPROBE_ or
 * PARCAGPU_ name and each value that cannot be used; the default is kept. In a setuid program all
 * defaults are kept.
 */
void cuprobe_env_read(char *const *environment,
		      void (*complain)(const char *name, const char *value, const char *allowed));

#endif
