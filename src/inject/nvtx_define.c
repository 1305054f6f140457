/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/nvtx_define.h"

#include <stddef.h>
#include <string.h>

#include "src/inject/guard.h"
#include "src/inject/nvtx_abi.h"
#include "src/inject/nvtx_counters.h"
#include "src/inject/nvtx_cuda.h"
#include "src/inject/nvtx_names.h"
#include "src/inject/nvtx_schema.h"
#include "src/inject/nvtx_text.h"

#define NAME_BYTES 4096 /* longest wide name; longer ones are cut */

/* A name as UTF-8. `room` holds wide ones. */
struct name {
	const char *text;
	size_t bytes;
	char room[NAME_BYTES];
};

static bool name_ascii(struct name *n, const char *text)
{
	if (!text)
		return false;
	n->text = text;
	n->bytes = strlen(text);
	return true;
}

static bool name_wide(struct name *n, const wchar_t *text)
{
	struct nvtx_text t;

	if (!text)
		return false;
	cuprobe_nvtx_text_init(&t, n->room, sizeof(n->room));
	cuprobe_nvtx_text_wide(&t, text);
	n->text = n->room;
	n->bytes = t.bytes;
	return true;
}

static struct nvtx_domain *domain_create(const struct name *n)
{
	struct cuprobe_guard guard;
	__u32 id;

	if (!cuprobe_guard_enter(&guard))
		return NULL;
	id = cuprobe_nvtx_name_domain(n->text, n->bytes);
	cuprobe_guard_leave(&guard);
	return id ? cuprobe_nvtx_handle(NVTX_DOMAIN_TAG, id) : NULL;
}

struct nvtx_domain *cuprobe_nvtx_domain_create_a(const char *name)
{
	struct name n;

	return name_ascii(&n, name) ? domain_create(&n) : NULL;
}

struct nvtx_domain *cuprobe_nvtx_domain_create_w(const wchar_t *name)
{
	struct name n;

	return name_wide(&n, name) ? domain_create(&n) : NULL;
}

static struct nvtx_string *string_register(const struct name *n)
{
	struct cuprobe_guard guard;
	__u32 id;

	if (!cuprobe_guard_enter(&guard))
		return NULL;
	id = cuprobe_nvtx_name_string(n->text, n->bytes);
	cuprobe_guard_leave(&guard);
	return id ? cuprobe_nvtx_handle(NVTX_STRING_TAG, id) : NULL;
}

struct nvtx_string *cuprobe_nvtx_register_a(struct nvtx_domain *d, const char *text)
{
	struct name n;

	(void)d;
	return name_ascii(&n, text) ? string_register(&n) : NULL;
}

struct nvtx_string *cuprobe_nvtx_register_w(struct nvtx_domain *d, const wchar_t *text)
{
	struct name n;

	(void)d;
	return name_wide(&n, text) ? string_register(&n) : NULL;
}

static void category_name(struct nvtx_domain *d, uint32_t category, const struct name *n)
{
	struct cuprobe_guard guard;

	if (!cuprobe_guard_enter(&guard))
		return;
	cuprobe_nvtx_name_category(cuprobe_nvtx_domain(d), category, n->text, n->bytes);
	cuprobe_guard_leave(&guard);
}

void cuprobe_nvtx_domain_category_a(struct nvtx_domain *d, uint32_t category, const char *name)
{
	struct name n;

	if (name_ascii(&n, name))
		category_name(d, category, &n);
}

void cuprobe_nvtx_domain_category_w(struct nvtx_domain *d, uint32_t category, const wchar_t *name)
{
	struct name n;

	if (name_wide(&n, name))
		category_name(d, category, &n);
}

void cuprobe_nvtx_category_a(uint32_t category, const char *name)
{
	cuprobe_nvtx_domain_category_a(NULL, category, name);
}

void cuprobe_nvtx_category_w(uint32_t category, const wchar_t *name)
{
	cuprobe_nvtx_domain_category_w(NULL, category, name);
}

static void object_name(__u32 object, __u64 handle, const struct name *n)
{
	struct cuprobe_info_name info = {
		.handle = handle,
		.object = object,
		.id = CUPROBE_NO_ID,
		.context = CUPROBE_NO_ID,
	};
	struct cuprobe_guard guard;

	if (!cuprobe_guard_enter(&guard))
		return;
	if (object == CUPROBE_OBJECT_THREAD || object == CUPROBE_OBJECT_DEVICE)
		info.id = (__u32)handle;
	else if (object == CUPROBE_OBJECT_CONTEXT)
		info.id = cuprobe_nvtx_cuda_context((void *)handle);
	else if (object == CUPROBE_OBJECT_STREAM)
		info.id = cuprobe_nvtx_cuda_stream((void *)handle, &info.context);
	cuprobe_nvtx_name_object(info, n->text, n->bytes);
	cuprobe_guard_leave(&guard);
}

#define DEFINE_NAMING(noun, type, object)                                                          \
	void cuprobe_nvtx_##noun##_a(type noun, const char *name)                                  \
	{                                                                                          \
		struct name n;                                                                     \
                                                                                                   \
		if (name_ascii(&n, name))                                                          \
			object_name(object, (__u64)noun, &n);                                      \
	}                                                                                          \
	void cuprobe_nvtx_##noun##_w(type noun, const wchar_t *name)                               \
	{                                                                                          \
		struct name n;                                                                     \
                                                                                                   \
		if (name_wide(&n, name))                                                           \
			object_name(object, (__u64)noun, &n);                                      \
	}
DEFINE_NAMING(thread, uint32_t, CUPROBE_OBJECT_THREAD)
DEFINE_NAMING(device, int, CUPROBE_OBJECT_DEVICE)
DEFINE_NAMING(context, void *, CUPROBE_OBJECT_CONTEXT)
DEFINE_NAMING(stream, void *, CUPROBE_OBJECT_STREAM)
DEFINE_NAMING(event, void *, CUPROBE_OBJECT_EVENT)
DEFINE_NAMING(other, void *, CUPROBE_OBJECT_OTHER)

static __u32 resource_object(int32_t type)
{
	switch (type) {
	case NVTX_RESOURCE_THREAD_NATIVE:
		return CUPROBE_OBJECT_THREAD;
	case NVTX_RESOURCE_CUDA_DEVICE:
	case NVTX_RESOURCE_CUDART_DEVICE:
		return CUPROBE_OBJECT_DEVICE;
	case NVTX_RESOURCE_CUDA_CONTEXT:
		return CUPROBE_OBJECT_CONTEXT;
	case NVTX_RESOURCE_CUDA_STREAM:
	case NVTX_RESOURCE_CUDART_STREAM:
		return CUPROBE_OBJECT_STREAM;
	case NVTX_RESOURCE_CUDA_EVENT:
	case NVTX_RESOURCE_CUDART_EVENT:
		return CUPROBE_OBJECT_EVENT;
	default:
		return CUPROBE_OBJECT_OTHER;
	}
}

/* False where the attributes have none. */
static bool name_message(struct name *n, int32_t type, union nvtx_message message)
{
	switch (type) {
	case NVTX_MESSAGE_ASCII:
		return name_ascii(n, message.ascii);
	case NVTX_MESSAGE_WIDE:
		return name_wide(n, message.wide);
	case NVTX_MESSAGE_REGISTERED:
		n->text = n->room;
		n->bytes = cuprobe_nvtx_name_copy(cuprobe_nvtx_registered(message.registered),
						  n->room, sizeof(n->room));
		return n->bytes;
	default:
		return false;
	}
}

struct nvtx_resource *cuprobe_nvtx_resource(struct nvtx_domain *d,
					    const struct nvtx_resource_attributes *a)
{
	struct name n;

	(void)d;
	if (!a || a->bytes < sizeof(*a))
		return NULL;
	if (name_message(&n, a->message_type, a->message))
		object_name(resource_object(a->identifier_type), a->identifier, &n);
	return cuprobe_nvtx_handle(NVTX_RESOURCE_TAG, (__u32)a->identifier);
}

struct nvtx_sync *cuprobe_nvtx_sync(struct nvtx_domain *d, const struct nvtx_sync_attributes *a)
{
	struct cuprobe_guard guard;
	struct name n;
	__u32 id = 0;

	if (!cuprobe_guard_enter(&guard))
		return NULL;
	if (a && a->bytes >= sizeof(*a) && name_message(&n, a->message_type, a->message))
		id = cuprobe_nvtx_name_string(n.text, n.bytes);
	cuprobe_guard_leave(&guard);
	return cuprobe_nvtx_sync_handle(cuprobe_nvtx_domain(d), id);
}

uint64_t cuprobe_nvtx_schema(struct nvtx_domain *d, const struct nvtx_schema_attributes *a)
{
	struct cuprobe_guard guard;
	uint64_t id;

	if (!cuprobe_guard_enter(&guard))
		return 0;
	id = cuprobe_nvtx_schema_add(cuprobe_nvtx_domain(d), a);
	cuprobe_guard_leave(&guard);
	return id;
}

uint64_t cuprobe_nvtx_enum(struct nvtx_domain *d, const struct nvtx_enum_attributes *a)
{
	struct cuprobe_guard guard;
	uint64_t id;

	if (!cuprobe_guard_enter(&guard))
		return 0;
	id = cuprobe_nvtx_schema_add_enum(cuprobe_nvtx_domain(d), a);
	cuprobe_guard_leave(&guard);
	return id;
}

uint64_t cuprobe_nvtx_counter(struct nvtx_domain *d, const struct nvtx_counter_attributes *a)
{
	struct cuprobe_guard guard;
	uint64_t id;

	if (!cuprobe_guard_enter(&guard))
		return 0;
	id = cuprobe_nvtx_counter_add(cuprobe_nvtx_domain(d), a);
	cuprobe_guard_leave(&guard);
	return id;
}

uint8_t cuprobe_nvtx_domain_enabled(struct nvtx_domain *d)
{
	(void)d;
	return cuprobe_guard_alive();
}
