/* SPDX-License-Identifier: Apache-2.0 */
/* The functions by which NVTX clients define what nvtx_names.h keeps. They may be called any time.
 */
#ifndef CUPROBE_INJECT_NVTX_DEFINE_H
#define CUPROBE_INJECT_NVTX_DEFINE_H

#include <stdint.h>
#include <wchar.h>

struct nvtx_counter_attributes;
struct nvtx_domain;
struct nvtx_enum_attributes;
struct nvtx_resource;
struct nvtx_resource_attributes;
struct nvtx_schema_attributes;
struct nvtx_string;
struct nvtx_sync;
struct nvtx_sync_attributes;

struct nvtx_domain *cuprobe_nvtx_domain_create_a(const char *name);
struct nvtx_domain *cuprobe_nvtx_domain_create_w(const wchar_t *name);
struct nvtx_string *cuprobe_nvtx_register_a(struct nvtx_domain *d, const char *text);
struct nvtx_string *cuprobe_nvtx_register_w(struct nvtx_domain *d, const wchar_t *text);
void cuprobe_nvtx_category_a(uint32_t category, const char *name);
void cuprobe_nvtx_category_w(uint32_t category, const wchar_t *name);
void cuprobe_nvtx_domain_category_a(struct nvtx_domain *d, uint32_t category, const char *name);
void cuprobe_nvtx_domain_category_w(struct nvtx_domain *d, uint32_t category, const wchar_t *name);
void cuprobe_nvtx_thread_a(uint32_t thread, const char *name);
void cuprobe_nvtx_thread_w(uint32_t thread, const wchar_t *name);
struct nvtx_resource *cuprobe_nvtx_resource(struct nvtx_domain *d,
					    const struct nvtx_resource_attributes *a);
struct nvtx_sync *cuprobe_nvtx_sync(struct nvtx_domain *d, const struct nvtx_sync_attributes *a);

/* Those of the CUDA runtime's objects are the same: device ordinals and driver handles. */
void cuprobe_nvtx_device_a(int device, const char *name);
void cuprobe_nvtx_device_w(int device, const wchar_t *name);
void cuprobe_nvtx_context_a(void *context, const char *name);
void cuprobe_nvtx_context_w(void *context, const wchar_t *name);
void cuprobe_nvtx_stream_a(void *stream, const char *name);
void cuprobe_nvtx_stream_w(void *stream, const wchar_t *name);
void cuprobe_nvtx_event_a(void *event, const char *name);
void cuprobe_nvtx_event_w(void *event, const wchar_t *name);
/* Objects that no record speaks of: OpenCL's. */
void cuprobe_nvtx_other_a(void *other, const char *name);
void cuprobe_nvtx_other_w(void *other, const wchar_t *name);

uint64_t cuprobe_nvtx_schema(struct nvtx_domain *d, const struct nvtx_schema_attributes *a);
uint64_t cuprobe_nvtx_enum(struct nvtx_domain *d, const struct nvtx_enum_attributes *a);
uint64_t cuprobe_nvtx_counter(struct nvtx_domain *d, const struct nvtx_counter_attributes *a);
/* Always 1: a client asks once, when it starts, and would be deaf to a later consumer. */
uint8_t cuprobe_nvtx_domain_enabled(struct nvtx_domain *d);

#endif
