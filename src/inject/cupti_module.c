/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/cupti_module.h"

#include <stdatomic.h>
#include <string.h>

#include "cuprobe/abi.h"
#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/cupti_api.h"
#include "src/inject/env.h"
#include "src/inject/guard.h"
#include "src/inject/ledger.h"
#include "src/inject/memory.h"
#include "src/inject/notice.h"
#include "src/inject/outlet.h"
#include "src/inject/parca_told.h"
#include "src/inject/pump.h"

/* What a callback puts down: the record, and for a loaded module the cubin behind it. */
struct news {
	struct news *next;
	size_t capacity; /* of the memory that this lies in */
	struct cuprobe_module record;
	__u32 modules; /* that share the copy; the rest is the pump's */
	__u64 gone_ns; /* when the last of them was unloaded */
	_Alignas(64) __u8 cubin[];
};

struct module {
	struct cuprobe_module record;
	struct news *copy; /* NULL: none was taken */
};

static atomic_bool on; /* somebody wants to know */

/* Newest first. Callbacks push (release), the pump takes all (acquire). */
static struct news *_Atomic pushed;
static _Atomic __u64 copied_bytes; /* of all copies there are; orders nothing */

/* The pump's: modules in the order in which they were loaded, and copies that nobody needs. */
static struct module *modules;
static size_t modules_capacity;
static __u32 module_count, replay_next;
static bool replaying;
static struct news *retired;

void cuprobe_module_apply(bool wanted)
{
	atomic_store_explicit(&on, wanted, memory_order_relaxed);
}

static __u32 context_number(CUcontext context)
{
	uint32_t id;

	if (cuprobe_cupti.GetContextId && cuprobe_cupti.GetContextId(context, &id) == CUPTI_SUCCESS)
		return id;
	return CUPROBE_NO_ID;
}

static __u64 cubin_crc(const CUpti_ModuleResourceData *module)
{
	CUpti_GetCubinCrcParams params = {
		.size = CUpti_GetCubinCrcParamsSize,
		.cubinSize = module->cubinSize,
		.cubin = module->pCubin,
	};

	if (!module->pCubin || !cuprobe_cupti.GetCubinCrc ||
	    cuprobe_cupti.GetCubinCrc(&params) != CUPTI_SUCCESS)
		return 0;
	return params.cubinCrc;
}

/* The bytes are counted before they are taken, so that threads together keep to the limit. */
static bool copy_fits(size_t bytes)
{
	__u64 limit = (__u64)cuprobe_env.module_mb << 20;

	if (atomic_fetch_add_explicit(&copied_bytes, bytes, memory_order_relaxed) + bytes <= limit)
		return true;
	atomic_fetch_sub_explicit(&copied_bytes, bytes, memory_order_relaxed);
	return false;
}

static void limit_report(void)
{
	static atomic_bool told;

	if (!atomic_exchange_explicit(&told, true, memory_order_relaxed))
		cuprobe_notice_message(CUPROBE_WARNING, 0, "give more with CUPROBE_MODULE_MB",
				       "no room for copies of more cubins: source lines of later "
				       "modules are not known");
}

/* Not a hot path: the driver has just loaded or compiled code. */
static void news_push(const struct cuprobe_module *record, const CUpti_ModuleResourceData *cubin)
{
	size_t bytes = cubin && cubin->pCubin ? cubin->cubinSize : 0, capacity = 0;
	struct news *news, *before;

	if (bytes && !copy_fits(bytes)) {
		limit_report();
		bytes = 0;
	}
	news = cuprobe_memory_grow(NULL, &capacity, sizeof(*news) + bytes);
	if (!news) {
		atomic_fetch_sub_explicit(&copied_bytes, bytes, memory_order_relaxed);
		cuprobe_ledger_lose(CUPROBE_PROBE_module, 1);
		return;
	}
	news->capacity = capacity;
	news->record = *record;
	news->record.address = bytes ? (__u64)news->cubin : 0;
	if (bytes)
		memcpy(news->cubin, cubin->pCubin, bytes);
	before = atomic_load_explicit(&pushed, memory_order_relaxed);
	do
		news->next = before;
	while (!atomic_compare_exchange_weak_explicit(&pushed, &before, news, memory_order_release,
						      memory_order_relaxed));
	cuprobe_pump_wake();
}

void cuprobe_module_callback(CUpti_CallbackId cbid, const CUpti_ResourceData *data)
{
	const CUpti_ModuleResourceData *module = data->resourceDescriptor;
	struct cuprobe_module record = {
		.time_ns = cuprobe_clock_now(),
		.id = CUPROBE_NO_ID,
		.op = CUPROBE_MODULE_UNLOADED,
	};

	if (!atomic_load_explicit(&on, memory_order_relaxed))
		return;
	record.context = context_number(data->context);
	if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
		news_push(&record, NULL); /* and with it all of its modules */
		return;
	}
	if ((cbid != CUPTI_CBID_RESOURCE_MODULE_LOADED &&
	     cbid != CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) ||
	    !module)
		return;
	record.id = module->moduleId;
	record.bytes = module->cubinSize;
	record.crc = cubin_crc(module);
	if (cbid == CUPTI_CBID_RESOURCE_MODULE_LOADED)
		record.op = CUPROBE_MODULE_LOADED;
	news_push(&record, record.op == CUPROBE_MODULE_LOADED ? module : NULL);
}

static void record_publish(const struct cuprobe_module *record)
{
	struct cuprobe_module *place;

	if (!cuprobe_outlet->consumers(CUPROBE_PROBE_module))
		return;
	place = cuprobe_batch_add(CUPROBE_PROBE_module);
	*place = *record;
}

static void news_free(struct news *news)
{
	if (news->record.address)
		atomic_fetch_sub_explicit(&copied_bytes, news->record.bytes, memory_order_relaxed);
	cuprobe_memory_free(news, news->capacity);
}

/* A copy of the same cubin that a module has already. */
static struct news *copy_find(const struct cuprobe_module *record)
{
	for (__u32 i = 0; i < module_count; i++) {
		if (modules[i].copy && modules[i].record.crc == record->crc &&
		    modules[i].record.bytes == record->bytes)
			return modules[i].copy;
	}
	return NULL;
}

static void module_loaded(struct news *news)
{
	struct news *copy = news->record.crc ? copy_find(&news->record) : NULL;
	struct module *grown = cuprobe_memory_grow(modules, &modules_capacity,
						   (module_count + 1) * sizeof(*modules));
	struct module *module;

	if (!grown) {
		cuprobe_ledger_lose(CUPROBE_PROBE_module, 1);
		news_free(news);
		return;
	}
	modules = grown;
	module = &modules[module_count++];
	module->record = news->record;
	if (copy || !news->record.address)
		news_free(news);
	else
		copy = news;
	module->copy = copy;
	module->record.address = copy ? copy->record.address : 0;
	if (copy && !copy->modules++)
		cuprobe_parca_cubin_loaded(&module->record);
	record_publish(&module->record);
}

static void copy_put(struct news *copy, __u64 now_ns)
{
	if (!copy || --copy->modules)
		return;
	cuprobe_parca_cubin_unloaded(&copy->record);
	copy->gone_ns = now_ns;
	copy->next = retired;
	retired = copy;
}

static void module_unloaded(const struct cuprobe_module *record)
{
	__u32 kept = 0;

	for (__u32 i = 0; i < module_count; i++) {
		struct module *module = &modules[i];

		if (module->record.context != record->context ||
		    (record->id != CUPROBE_NO_ID && module->record.id != record->id)) {
			modules[kept++] = *module;
			continue;
		}
		module->record.time_ns = record->time_ns;
		module->record.op = CUPROBE_MODULE_UNLOADED;
		record_publish(&module->record);
		copy_put(module->copy, record->time_ns);
		if (replay_next > kept)
			replay_next--;
	}
	module_count = kept;
}

static void retired_free(__u64 now_ns)
{
	struct news **place = &retired;

	while (*place) {
		struct news *copy = *place;

		if (now_ns < copy->gone_ns + CUPROBE_MODULE_KEPT_NS) {
			place = &copy->next;
			continue;
		}
		*place = copy->next;
		news_free(copy);
	}
}

static struct news *news_take(void)
{
	struct news *taken = atomic_exchange_explicit(&pushed, NULL, memory_order_acquire);
	struct news *in_order = NULL;

	while (taken) {
		struct news *next = taken->next;

		taken->next = in_order;
		in_order = taken;
		taken = next;
	}
	return in_order;
}

void cuprobe_module_pump(__u64 now_ns)
{
	struct news *news = news_take();
	bool any = news;

	while (news) {
		struct news *next = news->next;

		if (news->record.op == CUPROBE_MODULE_LOADED) {
			module_loaded(news);
		} else {
			module_unloaded(&news->record);
			news_free(news);
		}
		news = next;
	}
	if (any) /* a reader has to be quick to get the code of a program that ends soon */
		cuprobe_batch_fire(CUPROBE_PROBE_module);
	retired_free(now_ns);
}

void cuprobe_module_replay_begin(void)
{
	replay_next = 0;
	replaying = true;
}

bool cuprobe_module_replay(__u32 records)
{
	if (!replaying)
		return false;
	for (; records && replay_next < module_count; records--)
		record_publish(&modules[replay_next++].record);
	replaying = replay_next < module_count;
	return replaying;
}

void cuprobe_module_each(void (*each)(void *arg, const struct cuprobe_module *module), void *arg)
{
	for (__u32 i = 0; i < module_count; i++)
		each(arg, &modules[i].record);
}
