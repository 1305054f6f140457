/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/pc_ring.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "cuprobe/abi.h"
#include "src/inject/ledger.h"
#include "src/inject/memory.h"
#include "src/inject/pump.h"

#define ITEMS 32768u
#define PATIENCE 50 /* times a millisecond */

/* Written before the first item is put, which `head` releases. */
static struct cuprobe_pc_item *items;
static atomic_uint head; /* of the next to put; released by it, acquired by the pump */
static atomic_uint tail; /* of the next to take; the other way round */

/* All of it at once: what samplings take over time is to be no growth. */
static bool memory_take(void)
{
	size_t capacity = 0;

	if (items)
		return true;
	items = cuprobe_memory_grow(NULL, &capacity, ITEMS * sizeof(*items));
	if (items)
		memset(items, 0, ITEMS * sizeof(*items));
	return items;
}

static bool wait_for_room(unsigned int at)
{
	const struct timespec step = {.tv_nsec = 1000000};

	for (int i = 0; i < PATIENCE; i++) {
		if (at - atomic_load_explicit(&tail, memory_order_acquire) < ITEMS)
			return true;
		cuprobe_pump_wake();
		nanosleep(&step, NULL);
	}
	return false;
}

void cuprobe_pc_ring_put(const struct cuprobe_pc_item *item)
{
	unsigned int at = atomic_load_explicit(&head, memory_order_relaxed);

	if (!memory_take() || !wait_for_room(at)) {
		if (item->item == CUPROBE_PC_ITEM_SAMPLE)
			cuprobe_ledger_lose(CUPROBE_PROBE_pc_sample, 1);
		return;
	}
	items[at % ITEMS] = *item;
	atomic_store_explicit(&head, at + 1, memory_order_release);
}

bool cuprobe_pc_ring_take(struct cuprobe_pc_item *ret)
{
	unsigned int at = atomic_load_explicit(&tail, memory_order_relaxed);

	if (at == atomic_load_explicit(&head, memory_order_acquire))
		return false;
	*ret = items[at % ITEMS];
	atomic_store_explicit(&tail, at + 1, memory_order_release);
	return true;
}
