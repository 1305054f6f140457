/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/python_splice.h"

struct spliced {
	struct cuprobe_frame *frames;
	__u32 count, most;
	const struct cuprobe_python_frame *next, *end; /* Python frames that have no place yet */
};

static void frame_put(struct spliced *s, const struct cuprobe_frame *frame)
{
	if (s->count < s->most)
		s->frames[s->count++] = *frame;
}

/* The frames of the loops up to this one. False when there are none. */
static bool loop_put(struct spliced *s, __u32 loop)
{
	const struct cuprobe_python_frame *first = s->next;

	for (; s->next < s->end && s->next->evaluation <= loop; s->next++) {
		frame_put(s, &(struct cuprobe_frame){
				     .function = cuprobe_python_string(s->next->function),
				     .file = cuprobe_python_string(s->next->file),
				     .line = s->next->line,
				     .kind = CUPROBE_FRAME_PYTHON});
	}
	return s->next != first;
}

/* `pc` is where a call returns to: behind the call, which may be the last of its piece. */
static bool is_loop(const struct cuprobe_frame *frame)
{
	return frame->kind != CUPROBE_FRAME_BROKEN && cuprobe_python_evaluates(frame->pc - 1);
}

__u32 cuprobe_python_splice(struct cuprobe_frame *ret, __u32 most,
			    const struct cuprobe_frame *native, __u32 native_count,
			    const struct cuprobe_python_frame *python, __u32 python_count)
{
	struct spliced s = {ret, 0, most, python, python + python_count};
	__u32 loop = 0;

	for (__u32 i = 0; i < native_count; i++) {
		if (!is_loop(&native[i]) || !loop_put(&s, loop++))
			frame_put(&s, &native[i]);
	}
	loop_put(&s, ~0u);
	return s.count;
}
