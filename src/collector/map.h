/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from 64-bit numbers to pointers; nothing is ever taken out one by one. */
#ifndef CUPROBE_COLLECTOR_MAP_H
#define CUPROBE_COLLECTOR_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct map_slot {
	__u64 key;
	void *value; /* NULL: free slot */
};

/* Zeroed is empty. */
struct map {
	struct map_slot *slots;
	size_t count;
	unsigned int bits; /* log2 of the number of slots */
};

/* A hash with one more number in it, to be a key. */
static inline __u64 map_mix(__u64 hash, __u64 number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* NULL when there is none. */
void *map_find(const struct map *m, __u64 key);
/*
 * For what a hash of it does not quite tell apart: the value that `is` the wanted one. Those of one
 * hash have it and the numbers after it as keys. With NULL, `*key` is the one to insert it under.
 */
void *map_search(const struct map *m, __u64 *key, bool (*is)(const void *value, const void *wanted),
		 const void *wanted);
/* `key` must not be there yet and `value` not be NULL. 0 or -ENOMEM. */
int map_insert(struct map *m, __u64 key, void *value);
/* Forgets all; `release`, which may be NULL, is called with each value. */
void map_clear(struct map *m, void (*release)(void *value));
/* Each value, in no order. */
void map_each(const struct map *m, void (*each)(void *arg, void *value), void *arg);

#endif
