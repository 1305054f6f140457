/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/output/flows.h"

#include <errno.h>
#include <stdlib.h>

/* Correlation ids count up, so the low bits of an id are its place until they come round. */
struct flow_slot {
	struct flow_call call;
	enum {
		SLOT_FREE,
		SLOT_HELD,    /* a driver's call, not emitted yet */
		SLOT_EMITTED, /* a runtime's call */
	} state;
};

struct flows {
	void (*emit)(void *arg, const struct flow_call *call, bool inner);
	void *arg;
	struct flow_slot slots[FLOWS_HELD];
};

int flows_open(struct flows **ret,
	       void (*emit)(void *arg, const struct flow_call *call, bool inner), void *arg)
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

void flows_add(struct flows *f, const struct flow_call *call)
{
	struct flow_slot *slot = flow_slot(f, call->id);
	bool same = slot->state != SLOT_FREE && slot->call.id == call->id;
	bool runtime = call->api.domain == CUPROBE_API_RUNTIME;

	/* Two driver calls share an id only as parts of one of the runtime's. */
	if (same && !runtime) {
		f->emit(f->arg, call, true);
		return;
	}
	if (slot->state == SLOT_HELD)
		f->emit(f->arg, &slot->call, same);
	slot->call = *call;
	slot->state = runtime ? SLOT_EMITTED : SLOT_HELD;
	if (runtime)
		f->emit(f->arg, call, false);
}

void flows_finish(struct flows *f)
{
	for (int i = 0; i < FLOWS_HELD; i++) {
		if (f->slots[i].state == SLOT_HELD)
			f->emit(f->arg, &f->slots[i].call, false);
		f->slots[i].state = SLOT_FREE;
	}
}
