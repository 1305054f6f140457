/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins are copied once, shared, and freed late; readers are told of each loading and unloading.
 */
#include "test/unit/outlet_fake.h"

#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_module.h"
#include "src/inject/env.h"

static CUptiResult CUPTIAPI context_id(CUcontext context, uint32_t *ret)
{
	*ret = (uint32_t)(uintptr_t)context;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI cubin_crc(CUpti_GetCubinCrcParams *params)
{
	params->cubinCrc = 1000 + *(const unsigned char *)params->cubin;
	return CUPTI_SUCCESS;
}

static int setup(void **state)
{
	(void)state;
	cuprobe_cupti.GetContextId = context_id;
	cuprobe_cupti.GetCubinCrc = cubin_crc;
	cuprobe_env.module_mb = 1;
	cuprobe_module_apply(true);
	fake_attach(CUPROBE_PROBE_module);
	return 0;
}

static void tell(CUpti_CallbackIdResource what, uintptr_t context, uint32_t id, const char *cubin,
		 size_t bytes)
{
	CUpti_ModuleResourceData module = {.moduleId = id, .cubinSize = bytes, .pCubin = cubin};
	CUpti_ResourceData data = {.context = (CUcontext)context, .resourceDescriptor = &module};

	cuprobe_module_callback(what, &data);
}

static void load(uintptr_t context, uint32_t id, const char *cubin)
{
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, context, id, cubin, strlen(cubin) + 1);
}

static void unload(uintptr_t context, uint32_t id)
{
	tell(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, context, id, NULL, 0);
}

/* The records since the last call, from `*ret_first` on. */
static size_t published(size_t *ret_first, __u64 now_ns)
{
	*ret_first = fake[CUPROBE_PROBE_module].count;
	cuprobe_module_pump(now_ns);
	cuprobe_batch_fire_aged(~0ull);
	return fake[CUPROBE_PROBE_module].count - *ret_first;
}

static const struct cuprobe_module *record(size_t index)
{
	return fake_record(CUPROBE_PROBE_module, index);
}

static void count_module(void *count, const struct cuprobe_module *module)
{
	(void)module;
	++*(unsigned int *)count;
}

static unsigned int loaded_count(void)
{
	unsigned int count = 0;

	cuprobe_module_each(count_module, &count);
	return count;
}

static void a_copy_is_shared_and_outlives_the_modules(void **state)
{
	char cubin[] = "a cubin";
	const char *copy;
	size_t at;

	(void)state;
	load(1, 7, cubin);
	load(2, 7, cubin);
	load(1, 8, "b cubin");
	cubin[0] = 'x'; /* what the driver does with its own is its own matter */
	assert_int_equal(published(&at, 0), 3);
	copy = (const char *)record(at)->address;
	assert_string_equal(copy, "a cubin");
	assert_int_equal(record(at)->op, CUPROBE_MODULE_LOADED);
	assert_int_equal(record(at)->crc, 1000 + 'a');
	assert_int_equal(record(at)->context, 1);
	assert_int_equal(record(at)->id, 7);
	assert_int_equal(record(at)->bytes, 8);
	assert_ptr_equal(record(at + 1)->address, copy);
	assert_ptr_not_equal(record(at + 2)->address, copy);

	unload(1, 7);
	unload(2, 7);
	assert_int_equal(published(&at, 0), 2);
	assert_int_equal(record(at)->op, CUPROBE_MODULE_UNLOADED);
	assert_int_equal(record(at)->crc, 1000 + 'a');
	assert_int_equal(published(&at, cuprobe_clock_now()), 0);
	assert_string_equal(copy, "a cubin"); /* ASan would not see an unmapped page, but crash */
	assert_int_equal(loaded_count(), 1);
	published(&at, cuprobe_clock_now() + CUPROBE_MODULE_KEPT_NS + 1);
	unload(1, 8);
	assert_int_equal(published(&at, 0), 1);
}

static void a_context_takes_its_modules_along(void **state)
{
	size_t at;

	(void)state;
	load(1, 1, "c");
	load(2, 1, "c");
	load(1, 2, "d");
	published(&at, 0);
	tell(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 1, 0, NULL, 0);
	assert_int_equal(published(&at, 0), 2);
	assert_int_equal(record(at)->context, 1);
	assert_int_equal(record(at + 1)->context, 1);
	assert_int_equal(loaded_count(), 1);
	unload(2, 1);
	assert_int_equal(published(&at, 0), 1);
}

static void newcomers_hear_of_what_is_loaded(void **state)
{
	size_t at;

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		load(3, i, "e");
	unload(3, 4);
	assert_int_equal(published(&at, 0), 11);
	cuprobe_module_replay_begin();
	assert_true(cuprobe_module_replay(5));
	unload(3, 0); /* one that was told already */
	cuprobe_module_pump(0);
	assert_false(cuprobe_module_replay(100));
	cuprobe_batch_fire_aged(~0ull);
	assert_int_equal(fake[CUPROBE_PROBE_module].count, at + 11 + 9 + 1);
	tell(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 3, 0, NULL, 0);
	published(&at, 0);
}

static void without_room_the_module_is_told_all_the_same(void **state)
{
	char *large = malloc(600 << 10);
	size_t at;

	(void)state;
	memset(large, 'f', 600 << 10);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, 4, 1, large, 600 << 10);
	large[0] = 'g';
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, 4, 2, large, 600 << 10);
	assert_int_equal(published(&at, 0), 2);
	assert_int_not_equal(record(at)->address, 0);
	assert_int_equal(record(at + 1)->address, 0);
	assert_int_equal(record(at + 1)->crc, 1000 + 'g');
	unload(4, 1);
	published(&at, 0);
	published(&at, cuprobe_clock_now() + CUPROBE_MODULE_KEPT_NS + 1);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, 4, 3, large, 600 << 10);
	assert_int_equal(published(&at, 0), 1);
	assert_int_not_equal(record(at)->address, 0);
	free(large);
	fake_ledgers_balance();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_is_shared_and_outlives_the_modules),
		cmocka_unit_test(a_context_takes_its_modules_along),
		cmocka_unit_test(newcomers_hear_of_what_is_loaded),
		cmocka_unit_test(without_room_the_module_is_told_all_the_same),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
