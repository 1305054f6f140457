/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text crosses to consumers once, as the definition of an id; records carry the id. Texts are told
 * apart by their whole content. Everything here belongs to the pump thread.
 */
#ifndef CUPROBE_INJECT_STRINGS_H
#define CUPROBE_INJECT_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

/* The id of the text, 0 for NULL. A new text is defined through the probe if somebody listens. */
__u32 cuprobe_strings_id(const char *text);

/*
 * The same for text that CUPTI owns and that many records point to: the pointer is remembered, and
 * its text is compared again in each new period, because a pointer can come back with another text.
 */
__u32 cuprobe_strings_id_shared(const char *text);
void cuprobe_strings_period_begin(void);

/* The text of an id, all of it in memory, until the next one is asked for; "" for 0. */
const char *cuprobe_strings_text(__u32 id);

/* Begins to define everything again, for a new consumer. */
void cuprobe_strings_replay_begin(void);

/* Goes on with that for at most `records` records. True while more is left. */
bool cuprobe_strings_replay(__u32 records);

#endif
