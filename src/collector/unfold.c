/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/unfold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/leaves.h"
#include "src/collector/model.h"
#include "src/collector/nvtx_names.h"
#include "src/collector/procs.h"
#include "src/collector/profile.h"
#include "src/collector/stacks.h"
#include "src/collector/symbols.h"

#define TEXT_LONGEST 4096
#define COMMAND_LONGEST 80
#define DEEPEST 1024 /* labels of a stack that are shown, from its leaf */
#define LEAVES 24    /* frames of CUDA's own, at most, under a call of it */

static const char *const by_names[] = {
	[UNFOLD_BY_KERNEL] = "kernel",	 [UNFOLD_BY_STREAM] = "stream",
	[UNFOLD_BY_DEVICE] = "device",	 [UNFOLD_BY_THREAD] = "thread",
	[UNFOLD_BY_PROCESS] = "process", [UNFOLD_BY_NVTX] = "nvtx",
};

int unfold_by_name(const char *name)
{
	for (int i = 0; i < (int)(sizeof(by_names) / sizeof(by_names[0])); i++) {
		if (!strcmp(by_names[i], name))
			return i;
	}
	return -EINVAL;
}

static int push(struct unfold *u, enum label_kind kind, const char *text, const char *detail)
{
	const struct label **larger, *label;
	int err = labels_get(&u->labels, kind, text, detail, &label);

	if (err)
		return err;
	if (u->count == u->room) {
		larger = realloc(u->path, (2 * u->room + 64) * sizeof(const struct label *));
		if (!larger)
			return -ENOMEM;
		u->path = larger;
		u->room = 2 * u->room + 64;
	}
	u->path[u->count++] = label;
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "dir/file.py" of a path: enough to tell files apart, and short. */
static const char *short_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	while (slash && slash > path && slash[-1] != '/')
		slash--;
	return slash && slash > path ? slash : path;
}

static int push_device(struct unfold *u, const struct work *w)
{
	const struct cuprobe_info_device *device = process_device(w->process, w->device);
	const char *name = device ? process_string(w->process, device->name, NULL) : NULL;
	char text[TEXT_LONGEST];

	snprintf(text, sizeof(text), "GPU %u%s%s%s", w->device, name ? " (" : "", name ? name : "",
		 name ? ")" : "");
	return push(u, LABEL_GROUP, text, NULL);
}

static int push_stream(struct unfold *u, const struct work *w)
{
	const char *name =
		process_object_name(w->process, CUPROBE_OBJECT_STREAM, w->context, w->stream);
	char text[TEXT_LONGEST];

	snprintf(text, sizeof(text), "GPU %u stream %u%s%s%s", w->device, w->stream,
		 name ? " (" : "", name ? name : "", name ? ")" : "");
	return push(u, LABEL_GROUP, text, NULL);
}

static int push_process(struct unfold *u, const struct process *p)
{
	char text[TEXT_LONGEST];

	snprintf(text, sizeof(text), "process %u%s%.*s", p->pid, p->command ? ": " : "",
		 COMMAND_LONGEST, p->command ? p->command : "");
	return push(u, LABEL_GROUP, text, p->command);
}

static int push_thread(struct unfold *u, const struct sample *s)
{
	struct process *p = s->work->process;
	const char *name;
	char text[TEXT_LONGEST];

	if (!s->origin.known)
		return push(u, LABEL_GROUP, "[a thread that is not known]", NULL);
	name = process_object_name(p, CUPROBE_OBJECT_THREAD, CUPROBE_NO_ID, s->origin.thread);
	snprintf(text, sizeof(text), "thread %u%s%s%s", process_thread(p, s->origin.thread),
		 name ? " (" : "", name ? name : "", name ? ")" : "");
	return push(u, LABEL_GROUP, text, NULL);
}

static int push_ranges(struct unfold *u, const struct range_path *range)
{
	int err = range->outer ? push_ranges(u, range->outer) : 0;

	return err ? err : push(u, LABEL_GROUP, range->name, "NVTX range");
}

static int push_group(struct unfold *u, const struct sample *s, enum unfold_by by)
{
	switch (by) {
	case UNFOLD_BY_STREAM:
		return push_stream(u, s->work);
	case UNFOLD_BY_DEVICE:
		return push_device(u, s->work);
	case UNFOLD_BY_THREAD:
		return push_thread(u, s);
	case UNFOLD_BY_PROCESS:
		return push_process(u, s->work->process);
	case UNFOLD_BY_NVTX:
		return s->range ? push_ranges(u, s->range)
				: push(u, LABEL_GROUP, "[no NVTX range]", NULL);
	default:
		return 0;
	}
}

static int push_python(struct unfold *u, const struct frame *f)
{
	const char *function = f->function ? f->function : "?", *file = f->file ? f->file : "";
	char text[TEXT_LONGEST], detail[TEXT_LONGEST];

	snprintf(detail, sizeof(detail), "%.3000s:%u", file, f->raw.line);
	if (!*file)
		return push(u, LABEL_PYTHON, function, NULL);
	snprintf(text, sizeof(text), "%.2000s (%.1000s:%u)", function, short_path(file),
		 f->raw.line);
	return push(u, LABEL_PYTHON, text, detail);
}

/* Where the code of a function without a name lies in its file. */
static int push_nameless(struct unfold *u, const struct frame *f)
{
	const struct symbol_module *m = f->symbol ? f->symbol->module : NULL;
	char text[TEXT_LONGEST];

	if (!m)
		return push(u, LABEL_NATIVE, "[unknown]",
			    "in no file that was mapped, or its process ended too soon to tell");
	snprintf(text, sizeof(text), "%.2000s+0x%llx", base_name(m->path),
		 f->raw.pc - m->start + m->offset);
	return push(u, LABEL_NATIVE, text, m->path);
}

static int push_native(struct unfold *u, const struct frame *f)
{
	const struct symbol *symbol = f->symbol;
	char detail[TEXT_LONGEST];
	int err = 0;

	if (!symbol || !symbol->count)
		return push_nameless(u, f);
	for (__u32 i = symbol->count; i > 0 && !err; i--) {
		const struct symbol_line *line = &symbol->lines[i - 1];
		enum label_kind kind = i < symbol->count ? LABEL_INLINED : LABEL_NATIVE;
		const char *module = symbol->module ? symbol->module->path : "";

		if (symbol->module && symbol->module->jit)
			kind = LABEL_JIT;
		if (*line->file)
			snprintf(detail, sizeof(detail), "%.2000s:%u, %.2000s", line->file,
				 line->line, base_name(module));
		else
			snprintf(detail, sizeof(detail), "%.4000s", module);
		err = push(u, kind, line->readable, detail);
	}
	return err;
}

static int push_frame(struct unfold *u, const struct frame *f)
{
	switch (f->raw.kind) {
	case CUPROBE_FRAME_PYTHON:
		return push_python(u, f);
	case CUPROBE_FRAME_NATIVE:
	case CUPROBE_FRAME_POINTER:
		return push_native(u, f);
	case CUPROBE_FRAME_BROKEN:
		return push(u, LABEL_GROUP, "[cut]",
			    "the stack goes on, but could not be followed");
	default:
		return push(u, LABEL_GROUP, "[of a newer library]", NULL);
	}
}

/* CUDA's own libraries, CUPTI and ours. */
static bool frame_is_cudas(const struct frame *f)
{
	const char *path = f->symbol && f->symbol->module ? f->symbol->module->path : "";

	return f->raw.kind != CUPROBE_FRAME_PYTHON && *path &&
	       (library_named(path) || cuda_driver_named(path) || cuda_runtime_named(path) ||
		!strncmp(base_name(path), "libcupti", 8));
}

/* In a program with the runtime linked into it, its call is known by its name. */
static bool frame_is_call(const struct frame *f, const char *api)
{
	const struct symbol *symbol = f->symbol;

	return symbol && symbol->count && !strcmp(symbol->lines[symbol->count - 1].function, api);
}

unsigned int unfold_first(const struct profile *p, const struct sample *s)
{
	const struct stack *stack = s->origin.stack;
	const char *api = profile_api_name(p, s);
	unsigned int first = 0;

	while (first < stack->frames && frame_is_cudas(stack->frame[first]))
		first++;
	for (unsigned int i = first; i < stack->frames && i < first + LEAVES; i++) {
		if (frame_is_call(stack->frame[i], api))
			return i + 1;
	}
	return first;
}

/* One behind the last frame from the leaf that is shown: inlined functions count, too. */
static unsigned int shown_end(const struct stack *stack, unsigned int first)
{
	unsigned int end = first, labels = 0;

	while (end < stack->frames && labels < DEEPEST) {
		const struct symbol *symbol = stack->frame[end++]->symbol;

		labels += symbol && symbol->count ? symbol->count : 1;
	}
	return end;
}

static int push_stack(struct unfold *u, const struct profile *p, const struct sample *s)
{
	const struct stack *stack = s->origin.stack;
	unsigned int first, end;
	int err = 0;

	if (!s->origin.known)
		return push(u, LABEL_GROUP, "[unattributed]", "its launch was not recorded");
	if (!stack)
		return push(u, LABEL_GROUP, "[unattributed]", NULL);
	if (!stack_is_defined(stack))
		return push(u, LABEL_GROUP, "[a stack that was not received]", NULL);
	first = unfold_first(p, s);
	end = shown_end(stack, first);
	if (end < stack->frames)
		err = push(u, LABEL_GROUP, "[deeper]", "the stack is too deep to be shown");
	for (unsigned int i = end; i > first && !err; i--) {
		const struct frame *f = stack->frame[i - 1];

		if (f->raw.kind != CUPROBE_FRAME_PYTHON || !profile_is_native(p))
			err = push_frame(u, f);
	}
	return err;
}

static void path_reverse(struct unfold *u, unsigned int from)
{
	for (unsigned int i = from, j = u->count; i + 1 < j; i++) {
		const struct label *label = u->path[i];

		u->path[i] = u->path[--j];
		u->path[j] = label;
	}
}

/* What PC samples tell of the inside of a kernel. */
static int push_leaf(struct unfold *u, const struct kernel_leaf *leaf)
{
	int err = 0;

	for (unsigned int i = 0; i < leaf->function_count && !err; i++)
		err = push(u, LABEL_GPU, leaf->functions[i], leaf->path);
	if (!err && leaf->place)
		err = push(u, LABEL_GPU, leaf->place, leaf->path);
	return err ? err : push(u, LABEL_GPU, leaf->reason, "what warps waited for, by PC samples");
}

int unfold_sample(struct unfold *u, const struct profile *p, const struct sample *s,
		  enum unfold_by by, bool reverse)
{
	unsigned int group, stack;
	int err;

	u->count = 0;
	err = push_group(u, s, by);
	group = u->count;
	if (!err)
		err = push_stack(u, p, s);
	stack = u->count;
	if (!err && s->origin.known)
		err = push(u, LABEL_API, profile_api_name(p, s), NULL);
	if (!err)
		err = push(u, LABEL_GPU, s->work->name, NULL);
	if (!err && s->leaf)
		err = push_leaf(u, s->leaf);
	u->tail = u->count - stack;
	if (!err && reverse)
		path_reverse(u, group);
	return err;
}

void unfold_free(struct unfold *u)
{
	labels_free(&u->labels);
	free(u->path);
	*u = (struct unfold){0};
}
