/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules as CUPTI tells of them, with copies of their cubins: the driver's own may be gone by the
 * time a reader comes. A copy is shared by all modules of the same cubin, and stays for
 * CUPROBE_MODULE_KEPT_NS after the last of them was unloaded.
 */
#ifndef CUPROBE_INJECT_CUPTI_MODULE_H
#define CUPROBE_INJECT_CUPTI_MODULE_H

#include <cupti.h>
#include <stdbool.h>

#include <linux/types.h>

struct cuprobe_module;

/* Whether to take what callbacks tell. What was heard before is kept. Control thread. */
void cuprobe_module_apply(bool wanted);

/* On the application's thread that loads, unloads, or destroys a context. */
void cuprobe_module_callback(CUpti_CallbackId cbid, const CUpti_ResourceData *data);

/* The rest belongs to the pump: takes what callbacks have put down, and publishes it. */
void cuprobe_module_pump(__u64 now_ns);

/* Publishes what is loaded again, as for strings. */
void cuprobe_module_replay_begin(void);
bool cuprobe_module_replay(__u32 records);

/* Each that is loaded, oldest first, as it was published. */
void cuprobe_module_each(void (*each)(void *arg, const struct cuprobe_module *module), void *arg);

#endif
