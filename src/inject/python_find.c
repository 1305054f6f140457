/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_find.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define PATH_BYTES 4096

struct mapped {
	__u64 objects;
	char path[PATH_BYTES]; /* of libpython; empty: none */
};

static int object_look(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct mapped *mapped = arg;
	const char *name = strrchr(object->dlpi_name, '/');

	(void)size;
	mapped->objects = object->dlpi_adds;
	if (!name || strncmp(name, "/libpython3.", strlen("/libpython3.")) ||
	    strlen(object->dlpi_name) >= PATH_BYTES)
		return 0;
	strcpy(mapped->path, object->dlpi_name);
	return 1;
}

__u64 cuprobe_python_objects(void)
{
	struct mapped mapped = {.path = ""};

	dl_iterate_phdr(object_look, &mapped);
	return mapped.objects;
}

static const void *symbol(void *object, const char *name)
{
	return dlsym(object, name);
}

static bool symbols_find(struct python_interpreter *p, void *object)
{
	p->runtime = symbol(object, "_PyRuntime");
	p->code_type = symbol(object, "PyCode_Type");
	p->text_type = symbol(object, "PyUnicode_Type");
	p->bytes_type = symbol(object, "PyBytes_Type");
	*(const void **)&p->version = symbol(object, "Py_GetVersion");
	*(const void **)&p->thread = symbol(object, "PyGILState_GetThisThreadState");
	*(const void **)&p->is_finalizing = symbol(object, "Py_IsFinalizing");
	if (!p->is_finalizing)
		*(const void **)&p->is_finalizing = symbol(object, "_Py_IsFinalizing");
	*(const void **)&p->main_interpreter = symbol(object, "PyInterpreterState_Main");
	*(const void **)&p->threads = symbol(object, "PyInterpreterState_ThreadHead");
	return p->runtime && p->code_type && p->text_type && p->bytes_type && p->version &&
	       p->thread && p->is_finalizing && p->main_interpreter && p->threads;
}

static void evaluation_find(struct python_interpreter *p, void *object)
{
	const char *start = symbol(object, "_PyEval_EvalFrameDefault");
	ElfW(Sym) *found = NULL;
	Dl_info info;

	if (start && dladdr1(start, &info, (void **)&found, RTLD_DL_SYMENT) && found)
		cuprobe_python_pieces(start, found->st_size, p->evaluation, PYTHON_PIECES);
}

/* Whatever has the interpreter stays mapped: its functions are called from now on. */
static void object_pin(const struct python_interpreter *p)
{
	Dl_info info;

	if (dladdr(p->runtime, &info) && info.dli_fname && strchr(info.dli_fname, '/'))
		(void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool cuprobe_python_find(struct python_interpreter *ret)
{
	struct python_interpreter p = {0};
	struct mapped mapped = {.path = ""};
	void *object = dlopen(NULL, RTLD_LAZY);

	if (!object || !symbols_find(&p, object)) {
		dl_iterate_phdr(object_look, &mapped);
		object = *mapped.path ? dlopen(mapped.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		if (!object || !symbols_find(&p, object))
			return false;
	}
	object_pin(&p);
	evaluation_find(&p, object);
	*ret = p;
	return true;
}
