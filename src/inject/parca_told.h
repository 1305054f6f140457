/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What consumers of the provider parcagpu are told when it happens, and again when they come:
 * errors and cubins. Pump thread.
 */
#ifndef CUPROBE_INJECT_PARCA_TOLD_H
#define CUPROBE_INJECT_PARCA_TOLD_H

struct cuprobe_module;
struct cuprobe_status_message;

/* Fires `error` for errors and warnings. */
void cuprobe_parca_error(const struct cuprobe_status_message *message);
void cuprobe_parca_errors_replay(void);

/* The first module with that cubin was loaded; the last one was unloaded. */
void cuprobe_parca_cubin_loaded(const struct cuprobe_module *module);
void cuprobe_parca_cubin_unloaded(const struct cuprobe_module *module);
void cuprobe_parca_cubins_replay(void);

#endif
