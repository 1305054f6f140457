/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that NVTX clients call while somebody listens. They stay valid forever: a thread
 * may have loaded a slot just before it was emptied.
 */
#ifndef CUPROBE_INJECT_NVTX_EVENTS_H
#define CUPROBE_INJECT_NVTX_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

struct nvtx_attributes;
struct nvtx_domain;
struct nvtx_event_batch;
struct nvtx_payload;
struct nvtx_sync;

void cuprobe_nvtx_mark_ex(const struct nvtx_attributes *a);
void cuprobe_nvtx_mark_a(const char *message);
void cuprobe_nvtx_mark_w(const wchar_t *message);
uint64_t cuprobe_nvtx_start_ex(const struct nvtx_attributes *a);
uint64_t cuprobe_nvtx_start_a(const char *message);
uint64_t cuprobe_nvtx_start_w(const wchar_t *message);
void cuprobe_nvtx_end(uint64_t range);
int cuprobe_nvtx_push_ex(const struct nvtx_attributes *a);
int cuprobe_nvtx_push_a(const char *message);
int cuprobe_nvtx_push_w(const wchar_t *message);
int cuprobe_nvtx_pop(void);

void cuprobe_nvtx_domain_mark_ex(struct nvtx_domain *d, const struct nvtx_attributes *a);
uint64_t cuprobe_nvtx_domain_start_ex(struct nvtx_domain *d, const struct nvtx_attributes *a);
void cuprobe_nvtx_domain_end(struct nvtx_domain *d, uint64_t range);
int cuprobe_nvtx_domain_push_ex(struct nvtx_domain *d, const struct nvtx_attributes *a);
int cuprobe_nvtx_domain_pop(struct nvtx_domain *d);

void cuprobe_nvtx_sync_acquire(struct nvtx_sync *object);
void cuprobe_nvtx_sync_acquired(struct nvtx_sync *object);
void cuprobe_nvtx_sync_failed(struct nvtx_sync *object);
void cuprobe_nvtx_sync_release(struct nvtx_sync *object);

void cuprobe_nvtx_payload_mark(struct nvtx_domain *d, const struct nvtx_payload *p, size_t count);
int cuprobe_nvtx_payload_push(struct nvtx_domain *d, const struct nvtx_payload *p, size_t count);
int cuprobe_nvtx_payload_pop(struct nvtx_domain *d, const struct nvtx_payload *p, size_t count);
uint64_t cuprobe_nvtx_payload_start(struct nvtx_domain *d, const struct nvtx_payload *p,
				    size_t count);
void cuprobe_nvtx_payload_end(struct nvtx_domain *d, uint64_t range, const struct nvtx_payload *p,
			      size_t count);
/* Events that are over, whose payloads say when they were. */
void cuprobe_nvtx_submit(struct nvtx_domain *d, const struct nvtx_payload *p, size_t count);
void cuprobe_nvtx_submit_batch(struct nvtx_domain *d, const struct nvtx_event_batch *batch);

#endif
