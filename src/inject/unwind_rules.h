/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that have been needed, for all threads: looked up without a lock, and learned from the
 * modules' .eh_frame once. They are forgotten when a module is unloaded.
 */
#ifndef CUPROBE_INJECT_UNWIND_RULES_H
#define CUPROBE_INJECT_UNWIND_RULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <linux/types.h>

#include "src/inject/unwind_rule.h"

#define CUPROBE_RULES_WAYS 4 /* rules with one hash: one cache line */
#define CUPROBE_RULES_SETS_LOG 12

/*
 * Written by whoever holds the loader's lock, read by any thread: the address is 0 while the rule
 * changes, and a reader looks at it before and after.
 */
struct cuprobe_rule_slot {
	_Atomic __u64 address, rule;
};

extern struct cuprobe_rule_slot cuprobe_rules[1 << CUPROBE_RULES_SETS_LOG][CUPROBE_RULES_WAYS];

/* A number that changes whenever rules were forgotten. */
extern atomic_uint cuprobe_rules_generation;

/* How many modules had been unloaded at the last look: addresses mean something else since then. */
extern _Atomic __u64 cuprobe_rules_unloads;

/* Learns the rule for an address. Takes the loader's lock. */
struct cuprobe_rule cuprobe_rules_learn(__u64 address);

/* Looks whether modules came or went, and then forgets what may be wrong. Takes the same lock. */
void cuprobe_rules_check(void);

static inline struct cuprobe_rule_slot *cuprobe_rules_set(__u64 address)
{
	return cuprobe_rules[address * 0x9e3779b97f4a7c15ull >> (64 - CUPROBE_RULES_SETS_LOG)];
}

/* False when the rule is not known yet. */
static inline bool cuprobe_rules_get(__u64 address, struct cuprobe_rule *ret)
{
	struct cuprobe_rule_slot *slot = cuprobe_rules_set(address);

	for (int way = 0; way < CUPROBE_RULES_WAYS; way++, slot++) {
		__u64 word;

		if (atomic_load_explicit(&slot->address, memory_order_acquire) != address)
			continue;
		word = atomic_load_explicit(&slot->rule, memory_order_acquire);
		memcpy(ret, &word, sizeof(*ret));
		return atomic_load_explicit(&slot->address, memory_order_relaxed) == address;
	}
	return false;
}

#endif
