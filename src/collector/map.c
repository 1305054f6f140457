/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full, so that a search for what is not there ends soon. */
#include "src/collector/map.h"

#include <errno.h>
#include <stdlib.h>

#define MAP_LEAST_BITS 4

static size_t map_home(const struct map *m, __u64 key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15ull) >> (64 - m->bits));
}

static struct map_slot *map_slot(const struct map *m, __u64 key)
{
	size_t mask = ((size_t)1 << m->bits) - 1;
	size_t i = map_home(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

void *map_find(const struct map *m, __u64 key)
{
	return m->slots ? map_slot(m, key)->value : NULL;
}

void *map_search(const struct map *m, __u64 *key, bool (*is)(const void *value, const void *wanted),
		 const void *wanted)
{
	void *value;

	while ((value = map_find(m, *key)) && !is(value, wanted))
		++*key;
	return value;
}

static int map_grow(struct map *m)
{
	struct map larger = {.bits = m->slots ? m->bits + 1 : MAP_LEAST_BITS, .count = m->count};

	larger.slots = calloc((size_t)1 << larger.bits, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; m->slots && i < (size_t)1 << m->bits; i++) {
		if (m->slots[i].value)
			*map_slot(&larger, m->slots[i].key) = m->slots[i];
	}
	free(m->slots);
	*m = larger;
	return 0;
}

int map_insert(struct map *m, __u64 key, void *value)
{
	struct map_slot *slot;

	if (!m->slots || m->count >= (size_t)1 << (m->bits - 1)) {
		int err = map_grow(m);

		if (err)
			return err;
	}
	slot = map_slot(m, key);
	slot->key = key;
	slot->value = value;
	m->count++;
	return 0;
}

void map_each(const struct map *m, void (*each)(void *arg, void *value), void *arg)
{
	for (size_t i = 0; m->slots && i < (size_t)1 << m->bits; i++) {
		if (m->slots[i].value)
			each(arg, m->slots[i].value);
	}
}

void map_clear(struct map *m, void (*release)(void *value))
{
	for (size_t i = 0; release && m->slots && i < (size_t)1 << m->bits; i++) {
		if (m->slots[i].value)
			release(m->slots[i].value);
	}
	free(m->slots);
	*m = (struct map){0};
}
