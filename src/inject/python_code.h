/* SPDX-License-Identifier: Apache-2.0 */
/* What a code object of CPython tells of one place in it: function, file, line. With a cache. */
#ifndef CUPROBE_INJECT_PYTHON_CODE_H
#define CUPROBE_INJECT_PYTHON_CODE_H

#include <stdbool.h>

#include "src/inject/python_find.h"
#include "src/inject/python_layout.h"

struct python_source {
	__u32 function, file; /* numbers of texts; 0: not known */
	__u32 line;	      /* 0 not known */
	bool early;	      /* before the first instruction that shows in tracebacks */
};

/*
 * `place` is where in the code, in bytes. The code object must be that of a frame of the calling
 * thread, which keeps it and what it refers to alive. Any thread.
 */
void cuprobe_python_source(const struct python_interpreter *p, const struct python_layout *l,
			   const char *code, __s64 place, struct python_source *ret);

#endif
