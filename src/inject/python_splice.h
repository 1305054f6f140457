/* SPDX-License-Identifier: Apache-2.0 */
/* Python frames in the native stack that they were seen with, where the interpreter ran them. */
#ifndef CUPROBE_INJECT_PYTHON_SPLICE_H
#define CUPROBE_INJECT_PYTHON_SPLICE_H

#include "cuprobe/abi.h"
#include "src/inject/python.h"

/*
 * Writes at most `most` frames, the innermost first, and returns how many. `native` are frames as
 * they are to be written, but each evaluation loop among them gives way to the Python frames that
 * it runs; one that runs none that shows stays. Python frames whose loop is not there, because the
 * native stack could not be followed so far, come after it. Pump thread.
 */
__u32 cuprobe_python_splice(struct cuprobe_frame *ret, __u32 most,
			    const struct cuprobe_frame *native, __u32 native_count,
			    const struct cuprobe_python_frame *python, __u32 python_count);

#endif
