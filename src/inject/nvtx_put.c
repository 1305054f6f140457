/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_put.h"

#include <string.h>

#include "src/inject/clock.h"
#include "src/inject/ledger.h"
#include "src/inject/nvtx_text.h"

atomic_uint cuprobe_nvtx_session;

bool cuprobe_nvtx_enter(struct nvtx_entry *e)
{
	unsigned int session = atomic_load_explicit(&cuprobe_nvtx_session, memory_order_acquire);

	if (!session)
		return false;
	if (!cuprobe_guard_enter(&e->guard)) {
		if (cuprobe_guard_alive())
			cuprobe_ledger_lose(CUPROBE_PROBE_nvtx, 1);
		return false;
	}
	e->thread = cuprobe_nvtx_thread(session);
	if (e->thread)
		return true;
	cuprobe_guard_leave(&e->guard);
	return false;
}

void cuprobe_nvtx_leave(const struct nvtx_entry *e)
{
	cuprobe_guard_leave(&e->guard);
}

static void message_put(struct nvtx_thread *t, struct nvtx_slot *slot, const struct nvtx_source *s)
{
	char *to = cuprobe_nvtx_slot_text(t, s->message_bytes, &slot->message_at);
	struct nvtx_text text = {.text = to, .room = s->message_bytes};

	slot->message_bytes = (__u16)s->message_bytes;
	if (s->message && !s->message_cut) {
		memcpy(to, s->message, s->message_bytes);
		return;
	}
	if (s->message_cut)
		cuprobe_nvtx_text_init(&text, to, s->message_bytes);
	if (s->message)
		cuprobe_nvtx_text_put(&text, s->message, s->message_length);
	else
		cuprobe_nvtx_text_wide(&text, s->wide);
	slot->message_bytes = (__u16)text.bytes;
}

static void rendered_put(struct nvtx_thread *t, struct nvtx_slot *slot, const struct nvtx_source *s)
{
	char *to = cuprobe_nvtx_slot_text(t, s->rendered_bytes, &slot->payload_at);

	memcpy(to, s->rendered, s->rendered_bytes);
	slot->payload_bytes = (__u16)s->rendered_bytes;
}

void cuprobe_nvtx_put(struct nvtx_entry *e, const struct nvtx_source *s, int level)
{
	struct nvtx_slot *slot = cuprobe_nvtx_slot(e->thread, s->message_bytes + s->rendered_bytes);

	if (!slot)
		return;
	if (s->message_bytes)
		message_put(e->thread, slot, s);
	if (s->rendered_bytes)
		rendered_put(e->thread, slot, s);
	slot->record.range = s->range;
	slot->record.payload = s->payload;
	slot->record.domain = s->domain;
	slot->record.message = s->message_id;
	slot->record.category = s->category;
	slot->record.color = s->color;
	slot->record.level = level;
	slot->record.kind = s->kind;
	slot->record.payload_type = s->payload_type;
	slot->record.flags = s->flags;
	slot->record.time_ns = s->time_ns ? s->time_ns : cuprobe_clock_now();
	cuprobe_nvtx_slot_publish(e->thread);
}
