/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of NVTX ranges: one row for each name, domain and kind, with the time on the CPU and
 * the work on the GPU inside. Memory grows with the number of rows.
 */
#ifndef CUPROBE_COLLECTOR_NVTX_REPORT_H
#define CUPROBE_COLLECTOR_NVTX_REPORT_H

#include "src/collector/event.h"

struct nvtx_report;
struct summary_opts;

int nvtx_report_open(struct nvtx_report **ret);
void nvtx_report_free(struct nvtx_report *r);
/* For struct event_sink, with the report as the argument. */
int nvtx_report_event(void *report, const struct event *e);
/* Once, after the last event; ranges that are open end at `end_ns`. */
int nvtx_report_finish(struct nvtx_report *r, __u64 end_ns);
/* The table, and what could not be told. */
int nvtx_report_print(struct nvtx_report *r, const struct summary_opts *opts);

#endif
