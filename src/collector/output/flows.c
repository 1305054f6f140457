/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/flows.h"

#include <errno.h>
#include <stdlib.h>

/* Correlation ids count up, so the low bits of an id are its place until they come round. */
struct flow_slot {
	struct flow_start start;
	enum {
		SLOT_FREE,
		SLOT_HELD,    /* a driver's start, not written yet */
		SLOT_WRITTEN, /* a runtime's start */
	} state;
};

struct flows {
	void (*emit)(void *arg, const struct flow_start *start);
	void *arg;
	struct flow_slot slots[FLOWS_HELD];
};

int flows_open(struct flows **ret, void (*emit)(void *arg, const struct flow_start *start),
	       void *arg)
{
	struct flows *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->emit = emit;
	f->arg = arg;
	*ret = f;
	return 0;
}

void flows_free(struct flows *f)
{
	free(f);
}

static struct flow_slot *flow_slot(struct flows *f, __u64 id)
{
	__u64 process_number = id >> 32;

	return &f->slots[(id + process_number * 40503) % FLOWS_HELD];
}

void flows_add(struct flows *f, const struct flow_start *start, bool from_runtime)
{
	struct flow_slot *slot = flow_slot(f, start->id);
	bool same = slot->state != SLOT_FREE && slot->start.id == start->id;

	/* One driver call after another within one runtime call: the first is the one. */
	if (same && (slot->state == SLOT_WRITTEN || !from_runtime))
		return;
	if (!same && slot->state == SLOT_HELD)
		f->emit(f->arg, &slot->start);
	slot->start = *start;
	slot->state = from_runtime ? SLOT_WRITTEN : SLOT_HELD;
	if (from_runtime)
		f->emit(f->arg, start);
}

void flows_finish(struct flows *f)
{
	for (int i = 0; i < FLOWS_HELD; i++) {
		if (f->slots[i].state == SLOT_HELD)
			f->emit(f->arg, &f->slots[i].start);
		f->slots[i].state = SLOT_FREE;
	}
}
