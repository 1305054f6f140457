/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/unwind_rules.h"

#include <link.h>

#include "src/inject/unwind_cfi.h"

struct cuprobe_rule_slot cuprobe_rules[1 << CUPROBE_RULES_SETS_LOG][CUPROBE_RULES_WAYS]
	__attribute__((aligned(64)));
atomic_uint cuprobe_rules_generation;
_Atomic __u64 cuprobe_rules_unloads;

/*
 * What follows, and writing rules, is done inside dl_iterate_phdr(): the loader's lock protects it.
 * Atomic, for it is a lock that tools cannot see.
 */
static _Atomic __u64 known_loads;
static atomic_uint next_victim;

struct question {
	__u64 address;
	struct cuprobe_rule rule;
};

static void slot_write(struct cuprobe_rule_slot *slot, __u64 address, struct cuprobe_rule rule)
{
	__u64 word;

	memcpy(&word, &rule, sizeof(word));
	atomic_store_explicit(&slot->address, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->rule, word, memory_order_release);
	atomic_store_explicit(&slot->address, address, memory_order_release);
}

static void rule_keep(const struct question *q)
{
	struct cuprobe_rule_slot *set = cuprobe_rules_set(q->address);
	unsigned int victim = atomic_fetch_add_explicit(&next_victim, 1, memory_order_relaxed);
	struct cuprobe_rule_slot *slot = &set[victim % CUPROBE_RULES_WAYS];

	for (int way = 0; way < CUPROBE_RULES_WAYS; way++) {
		if (!atomic_load_explicit(&set[way].address, memory_order_relaxed))
			slot = &set[way];
	}
	slot_write(slot, q->address, q->rule);
}

static bool slot_is_stale(const struct cuprobe_rule_slot *slot, bool unloaded)
{
	__u64 word = atomic_load_explicit(&slot->rule, memory_order_relaxed);
	struct cuprobe_rule rule;

	memcpy(&rule, &word, sizeof(rule));
	return atomic_load_explicit(&slot->address, memory_order_relaxed) &&
	       (unloaded || rule.kind == CUPROBE_RULE_CHAIN);
}

/* A module that was loaded may have rules where there were none. */
static void rules_forget(bool unloaded)
{
	struct cuprobe_rule_slot *slot = cuprobe_rules[0];

	for (size_t i = 0; i < sizeof(cuprobe_rules) / sizeof(*slot); i++) {
		if (slot_is_stale(&slot[i], unloaded))
			atomic_store_explicit(&slot[i].address, 0, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&cuprobe_rules_generation, 1, memory_order_release);
}

static void modules_look(const struct dl_phdr_info *module)
{
	__u64 unloads = atomic_load_explicit(&cuprobe_rules_unloads, memory_order_relaxed);

	if (module->dlpi_adds == atomic_load_explicit(&known_loads, memory_order_relaxed) &&
	    module->dlpi_subs == unloads)
		return;
	atomic_store_explicit(&known_loads, module->dlpi_adds, memory_order_relaxed);
	atomic_store_explicit(&cuprobe_rules_unloads, module->dlpi_subs, memory_order_relaxed);
	rules_forget(module->dlpi_subs != unloads);
}

static bool module_holds(const struct dl_phdr_info *module, __u64 address)
{
	for (unsigned int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    address - module->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

/* While this runs no module can be unloaded. */
static int module_ask(struct dl_phdr_info *module, size_t bytes, void *arg)
{
	struct question *q = arg;

	(void)bytes;
	modules_look(module);
	if (!module_holds(module, q->address))
		return 0;
	q->rule = cuprobe_cfi_rule(module, q->address);
	rule_keep(q);
	return 1;
}

static int no_module_keep(struct dl_phdr_info *module, size_t bytes, void *arg)
{
	(void)bytes;
	modules_look(module);
	rule_keep(arg);
	return 1;
}

struct cuprobe_rule cuprobe_rules_learn(__u64 address)
{
	struct question q = {.address = address, .rule = CUPROBE_RULE_UNKNOWN};

	if (!dl_iterate_phdr(module_ask, &q))
		dl_iterate_phdr(no_module_keep, &q);
	return q.rule;
}

static int first_module_look(struct dl_phdr_info *module, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	modules_look(module);
	return 1;
}

void cuprobe_rules_check(void)
{
	dl_iterate_phdr(first_module_look, NULL);
}
