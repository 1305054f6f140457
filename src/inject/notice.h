/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library has to say about itself, handed from the control thread to the pump, which alone
 * fires probes. Messages are kept, so that a consumer that comes later learns why nothing arrives.
 */
#ifndef CUPROBE_INJECT_NOTICE_H
#define CUPROBE_INJECT_NOTICE_H

#include <stdbool.h>

#include "cuprobe/abi.h"
#include "src/inject/log.h"

#define CUPROBE_NOTICES 64u
#define CUPROBE_NOTICE_TEXT 320

struct cuprobe_notice {
	__u64 time_ns;
	__u32 type;  /* CUPROBE_STATUS_STATE or CUPROBE_STATUS_MESSAGE */
	__u32 state; /* enum cuprobe_state */
	__u32 active_probes;
	__u32 severity; /* enum cuprobe_severity */
	__s32 code;
	const char *remedy;		/* a literal, or NULL */
	char text[CUPROBE_NOTICE_TEXT]; /* the message, or the detail of a state; may be empty */
};

/* Says that something did not work, in the log and through `status`. `remedy` lives forever. */
void cuprobe_notice_message(enum cuprobe_severity severity, int code, const char *remedy,
			    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Says that the library is in a new state. */
void cuprobe_notice_state(enum cuprobe_state state, __u32 active_probes, const char *detail);

/* The next notice, oldest first; false when there is none. For the pump. */
bool cuprobe_notice_take(struct cuprobe_notice *ret);

#endif
