/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directives that tell the simulator what to do otherwise than a healthy driver would. libcuda
 * reads them and obeys those about calls, the clock and the subscription; libcupti those about
 * records and buffers.
 */
#ifndef CUPROBE_MOCK_SCRIPT_H
#define CUPROBE_MOCK_SCRIPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_MAX_ARGS 24

struct script_arg {
	const char *key, *value; /* of key=value; a bare word has the key "" */
};

struct script_line {
	struct script_line *next;
	const char *verb;
	struct script_arg args[SCRIPT_MAX_ARGS];
	unsigned int arg_count;
	char *place;	       /* for messages: file:line */
	_Atomic uint64_t seen; /* how often the moment came that it is about */
};

#endif
