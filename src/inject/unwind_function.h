/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function's entry in a module's .eh_frame. The information may be damaged: no read leaves the
 * module's segments.
 */
#ifndef CUPROBE_INJECT_UNWIND_FUNCTION_H
#define CUPROBE_INJECT_UNWIND_FUNCTION_H

#include <link.h>
#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/unwind_bytes.h"

/* What the entry says, with what the common entry that it refers to says. */
struct cuprobe_function {
	__u64 begin, end;
	__u64 code_align;
	__s64 data_align;
	__u8 encoding; /* of addresses */
	bool has_data, is_signal;
	struct cuprobe_bytes common, program; /* call frame instructions */
};

/* The function that the address lies in; false when the module has no sound entry for it. */
bool cuprobe_function_find(struct cuprobe_function *ret, const struct dl_phdr_info *module,
			   __u64 address);

/* An address, as entries have it. */
__u64 cuprobe_function_address(struct cuprobe_bytes *b, __u8 encoding);

#endif
