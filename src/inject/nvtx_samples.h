/* SPDX-License-Identifier: Apache-2.0 */
/* The functions by which NVTX clients give values of counters, while somebody listens. */
#ifndef CUPROBE_INJECT_NVTX_SAMPLES_H
#define CUPROBE_INJECT_NVTX_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

struct nvtx_counter_batch;
struct nvtx_domain;

void cuprobe_nvtx_sample_int64(struct nvtx_domain *d, uint64_t counter, int64_t value);
void cuprobe_nvtx_sample_float64(struct nvtx_domain *d, uint64_t counter, double value);
void cuprobe_nvtx_sample(struct nvtx_domain *d, uint64_t counter, const void *sample, size_t bytes);
void cuprobe_nvtx_sample_no_value(struct nvtx_domain *d, uint64_t counter, uint8_t reason);
void cuprobe_nvtx_sample_batch(struct nvtx_domain *d, const struct nvtx_counter_batch *batch);

#endif
