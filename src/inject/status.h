/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of the probe `status`: states, messages and the ledger. Everything here belongs to
 * the pump thread.
 */
#ifndef CUPROBE_INJECT_STATUS_H
#define CUPROBE_INJECT_STATUS_H

#include <stdbool.h>

#include <linux/types.h>

struct cuprobe_status_message;

/* Publishes what cuprobe_notice has, and keeps it. True when there was something. */
bool cuprobe_status_take_notices(void);

/* Each of the kept messages, oldest first. */
void cuprobe_status_each_message(void (*each)(const struct cuprobe_status_message *message));

/* Publishes the ledger of every probe. */
void cuprobe_status_ledgers(void);

/* Publishes the state and the kept messages again, as for strings. */
void cuprobe_status_replay_begin(void);
bool cuprobe_status_replay(__u32 records);

#endif
