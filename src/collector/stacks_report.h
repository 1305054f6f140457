/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks that most GPU time comes from, as text: `report --stacks`. */
#ifndef CUPROBE_COLLECTOR_STACKS_REPORT_H
#define CUPROBE_COLLECTOR_STACKS_REPORT_H

#include "src/collector/event.h"

struct profile_opts;
struct stacks_report;
struct summary_opts;

/* All return 0 or a negative errno. */
int stacks_report_open(struct stacks_report **ret, const struct profile_opts *opts);
void stacks_report_free(struct stacks_report *r);
int stacks_report_event(struct stacks_report *r, const struct event *e);
/* Once, after the last event. */
int stacks_report_print(struct stacks_report *r, const struct summary_opts *opts);

#endif
