/* SPDX-License-Identifier: Apache-2.0 */
/* Where CPython is in this process: libpython, or the program that has it inside. */
#ifndef CUPROBE_INJECT_PYTHON_FIND_H
#define CUPROBE_INJECT_PYTHON_FIND_H

#include <stdbool.h>

#include <linux/types.h>

#include "src/inject/python_pieces.h"

#define PYTHON_PIECES 4 /* of the evaluation loop */

/* What the interpreter exports. The functions take no lock and allocate nothing. */
struct python_interpreter {
	const char *runtime; /* _PyRuntime */
	const char *code_type, *text_type, *bytes_type;
	const char *(*version)(void);	       /* Py_GetVersion */
	const char *(*thread)(void);	       /* PyGILState_GetThisThreadState */
	int (*is_finalizing)(void);	       /* _Py_IsFinalizing, from 3.13 on Py_IsFinalizing */
	const char *(*main_interpreter)(void); /* PyInterpreterState_Main */
	const char *(*threads)(const char *interpreter); /* PyInterpreterState_ThreadHead */
	struct python_piece evaluation[PYTHON_PIECES];	 /* _PyEval_EvalFrameDefault */
};

/* False while there is none. Waits for the loader's lock: for the library's own threads. */
bool cuprobe_python_find(struct python_interpreter *ret);

/* How often objects have been loaded: find() has no news while that stays. */
__u64 cuprobe_python_objects(void);

#endif
