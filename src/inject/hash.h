/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes: fast, and good enough for what a thread has walked over to be taken for the same. */
#ifndef CUPROBE_INJECT_HASH_H
#define CUPROBE_INJECT_HASH_H

#include <linux/types.h>

static inline __u64 cuprobe_hash_mix(__u64 hash, __u64 number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

/* For one more of a sequence: only a product and a sum wait for the hash of those before. */
static inline __u64 cuprobe_hash_append(__u64 hash, __u64 mixed)
{
	return hash * 0xd6e8feb86659fd93ull + mixed;
}

#endif
