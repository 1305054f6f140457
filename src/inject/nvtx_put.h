/* SPDX-License-Identifier: Apache-2.0 */
/* How an event of any of NVTX's entry points comes into the buffer of its thread. */
#ifndef CUPROBE_INJECT_NVTX_PUT_H
#define CUPROBE_INJECT_NVTX_PUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include <linux/types.h>

#include "src/inject/guard.h"
#include "src/inject/nvtx_buffer.h"

#define NVTX_RENDERED_BYTES 2048 /* longest extended payload as text */
#define NVTX_MESSAGE_BYTES (CUPROBE_NVTX_TEXT_BYTES - NVTX_RENDERED_BYTES)

/* Not 0 while events are taken; another number each time. */
extern atomic_uint cuprobe_nvtx_session;

/* What an event is made of, wherever that came from. Texts are still the caller's. */
struct nvtx_source {
	__u8 kind;
	__u8 flags;
	__u8 payload_type;
	bool message_cut;
	__u32 domain;
	__u64 time_ns;		/* 0: now */
	__u64 begin_ns, end_ns; /* what an extended payload says of an event that is over */
	__u64 range;
	__u32 category, color;
	__u32 message_id;
	const char *message;   /* or NULL */
	const wchar_t *wide;   /* or NULL */
	size_t message_length; /* of `message` */
	size_t message_bytes;  /* of either, as UTF-8; the ellipsis included when it is cut */
	__u64 payload;
	const char *rendered; /* a payload that is text, or NULL */
	size_t rendered_bytes;
};

/* How many bytes the message takes; longer ones are cut. */
static inline void cuprobe_nvtx_source_text(struct nvtx_source *s, size_t bytes)
{
	s->message_cut = bytes > NVTX_MESSAGE_BYTES;
	s->message_bytes = s->message_cut ? NVTX_MESSAGE_BYTES : bytes;
}

/* Entered: the guard is held, errno kept, and the thread has its buffer. */
struct nvtx_entry {
	struct cuprobe_guard guard;
	struct nvtx_thread *thread;
};

/* False: return at once. Counts what is lost because of recursion, as from a signal handler. */
bool cuprobe_nvtx_enter(struct nvtx_entry *e);
void cuprobe_nvtx_leave(const struct nvtx_entry *e);
/* Puts the event down. `level`: of a push or pop. */
void cuprobe_nvtx_put(struct nvtx_entry *e, const struct nvtx_source *s, int level);

#endif
