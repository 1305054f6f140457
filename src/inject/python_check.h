/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a layout fits the interpreter: tried on the frames of a living thread, through the
 * kernel, so that nothing faults if it does not.
 */
#ifndef CUPROBE_INJECT_PYTHON_CHECK_H
#define CUPROBE_INJECT_PYTHON_CHECK_H

#include "src/inject/python_find.h"
#include "src/inject/python_layout.h"

/*
 * 0 when the frames of the calling thread, or else of any thread, are what the layout says. -EAGAIN
 * when no thread has frames now, -EINVAL when they are something else, which may pass: other
 * threads run meanwhile. Other negative errnos where the kernel refuses. Not for application
 * threads' calls.
 */
int cuprobe_python_check(const struct python_interpreter *p, const struct python_layout *l);

#endif
