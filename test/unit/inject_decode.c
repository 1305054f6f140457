/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI records of several versions through the decoder, with a CUPTI that only steps. */
#include "test/unit/outlet_fake.h"

#include <cupti.h>
#include <stdbool.h>

#include "src/inject/batch.h"
#include "src/inject/clock.h"
#include "src/inject/cupti_api.h"
#include "src/inject/cupti_decode.h"
#include "src/inject/cupti_layout.h"
#include "src/inject/info.h"

/* A buffer under construction, 8-byte aligned, and where its records begin. */
static __u64 memory[8192];
static size_t used, begins[256], begun;

static void *record_put(CUpti_ActivityKind kind, size_t bytes)
{
	__u8 *record = (__u8 *)memory + used;

	memset(record, 0, bytes);
	memcpy(record, &kind, sizeof(__u32));
	begins[begun++] = used;
	used += bytes;
	return record;
}

static CUptiResult CUPTIAPI next_record(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	size_t index = 0;

	(void)valid;
	assert_ptr_equal(buffer, memory);
	while (*record && begins[index] != (size_t)((__u8 *)*record - buffer))
		index++;
	index += *record != NULL;
	if (index == begun)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(void *)(buffer + begins[index]);
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI callback_name(CUpti_CallbackDomain domain, uint32_t cbid,
					  const char **name)
{
	*name = domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == 211 ? "cudaLaunchKernel_v7000"
								     : NULL;
	return CUPTI_SUCCESS;
}

static void decode(void)
{
	cuprobe_decode_buffer((__u8 *)memory, used, true);
	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++)
		cuprobe_batch_fire(probe);
	used = begun = 0;
	fake_ledgers_balance();
}

static void version_set(__u32 version)
{
	cuprobe_cupti_version = version;
}

#define LAST(name)                                                                                 \
	((const struct cuprobe_##name *)fake_record(CUPROBE_PROBE_##name,                          \
						    fake[CUPROBE_PROBE_##name].count - 1))

/* A kernel record with all that the oldest struct has; the times are now. */
static void *kernel_put(size_t bytes)
{
	CUpti_ActivityKernel5 *k = record_put(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, bytes);

	k->start = cuprobe_clock_now();
	k->end = k->start + 1000;
	k->completed = k->end;
	k->deviceId = 1;
	k->contextId = 2;
	k->streamId = 3;
	k->correlationId = 4;
	k->gridX = 5, k->gridY = 6, k->gridZ = 7;
	k->blockX = 8, k->blockY = 9, k->blockZ = 10;
	k->registersPerThread = 11;
	k->staticSharedMemory = 12;
	k->dynamicSharedMemory = 13;
	k->localMemoryPerThread = 14;
	k->localMemoryTotal = 15;
	k->gridId = 16;
	k->name = "_Z3addPf";
	k->launchType = 1;
	k->sharedMemoryExecuted = 17;
	k->graphNodeId = 18;
	k->graphId = 19;
	return k;
}

static void kernel_is(const struct cuprobe_kernel *k)
{
	const __u32 expected[] = {1, 2, 3, 4, 19}, dims[] = {5, 6, 7, 8, 9, 10};

	assert_memory_equal(&k->device, expected, sizeof(expected));
	assert_memory_equal(k->grid, dims, sizeof(dims));
	assert_int_equal(k->end_ns - k->start_ns, 1000);
	assert_int_equal(k->completed_ns, k->end_ns);
	assert_int_equal(k->queued_ns, 0);
	assert_int_equal(k->registers_per_thread, 11);
	assert_int_equal(k->static_shared_bytes, 12);
	assert_int_equal(k->dynamic_shared_bytes, 13);
	assert_int_equal(k->local_bytes_per_thread, 14);
	assert_int_equal(k->grid_id, 16);
	assert_int_equal(k->executed_shared_bytes, 17);
	assert_int_equal(k->graph_node_id, 18);
	assert_int_equal(k->launch_type, 1);
	assert_int_not_equal(k->name, 0);
}

static void reads_kernels_of_every_version(void **state)
{
	const struct {
		__u32 version, bytes;
	} all[] = {{13, 160}, {15, 168}, {17, 176}, {18, 200}, {22, 208}, {28, 208}, {130001, 216}};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		__u8 *record;

		version_set(all[i].version);
		record = kernel_put(all[i].bytes);
		memset(record + 160, 0x11, all[i].bytes - 160);
		kernel_put(all[i].bytes); /* what follows is not taken for a field */
		decode();
		kernel_is(LAST(kernel));
		kernel_is(LAST(kernel) - 1);
		assert_int_equal(LAST(kernel)[-1].channel,
				 all[i].bytes >= 176 ? 0x11111111 : CUPROBE_NO_ID);
		assert_int_equal(LAST(kernel)[-1].cluster[1], all[i].bytes >= 200 ? 0x11111111 : 0);
		assert_int_equal(LAST(kernel)[-1].local_memory_total_bytes,
				 all[i].bytes >= 200 ? 0x1111111111111111 : 15);
		assert_int_equal(LAST(kernel)[-1].device_launched, all[i].bytes >= 216 ? 0x11 : 0);
	}
}

static void reads_copies_with_and_without_a_count(void **state)
{
	CUpti_ActivityMemcpy5 *copy;

	(void)state;
	for (__u32 bytes = 88; bytes <= 96; bytes += 8) {
		version_set(bytes == 88 ? 22 : 26);
		copy = record_put(CUPTI_ACTIVITY_KIND_MEMCPY, bytes);
		copy->start = cuprobe_clock_now();
		copy->end = copy->start + 5;
		copy->bytes = 4096;
		copy->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
		copy->srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
		copy->dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
		copy->flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
		copy->channelID = 6;
		if (bytes == 96)
			((__u64 *)copy)[11] = 3;
		((__u8 *)copy)[84] = 1; /* padding before CUDA 13 */
		decode();
		assert_int_equal(LAST(memcpy)->bytes, 4096);
		assert_int_equal(LAST(memcpy)->copy_count, bytes == 96 ? 3 : 1);
		assert_int_equal(LAST(memcpy)->channel, 6);
		assert_int_equal(LAST(memcpy)->flags, CUPROBE_FLAG_ASYNC);
		assert_int_equal(LAST(memcpy)->src_device, CUPROBE_NO_ID);
		assert_int_equal(LAST(memcpy)->device_launched, 0);
	}
}

static void reads_peer_copies(void **state)
{
	CUpti_ActivityMemcpyPtoP4 *copy;

	(void)state;
	version_set(22);
	copy = record_put(CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(*copy));
	copy->start = copy->end = cuprobe_clock_now();
	copy->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	copy->srcDeviceId = 1, copy->srcContextId = 2;
	copy->dstDeviceId = 3, copy->dstContextId = 4;
	copy->correlationId = 5;
	decode();
	assert_int_equal(LAST(memcpy)->src_device, 1);
	assert_int_equal(LAST(memcpy)->dst_context, 4);
	assert_int_equal(LAST(memcpy)->correlation, 5);
	assert_int_equal(LAST(memcpy)->copy_kind, 10);
}

static void reads_api_calls_with_their_names(void **state)
{
	CUpti_ActivityAPI *api;

	(void)state;
	version_set(22);
	api = record_put(CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(*api));
	api->start = api->end = cuprobe_clock_now();
	api->cbid = 211;
	api->threadId = 77;
	api->returnValue = 2;
	decode();
	assert_int_equal(LAST(api)->domain, CUPROBE_API_RUNTIME);
	assert_int_equal(LAST(api)->thread, 77);
	assert_int_equal(LAST(api)->return_value, 2);
	assert_int_not_equal(LAST(api)->name, 0);
	assert_int_equal(LAST(string)->id, LAST(api)->name);
	assert_string_equal(LAST(string)->text, "cudaLaunchKernel_v7000");
}

static void finds_the_device_of_a_synchronisation(void **state)
{
	CUpti_ActivitySynchronization *sync;
	CUpti_ActivityContext *context;

	(void)state;
	version_set(18);
	context = record_put(CUPTI_ACTIVITY_KIND_CONTEXT, sizeof(*context));
	context->contextId = 40;
	context->deviceId = 6;
	context->nullStreamId = 7;
	sync = record_put(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(*sync));
	sync->start = sync->end = cuprobe_clock_now();
	sync->contextId = 40;
	sync->streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
	sync->type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
	decode();
	assert_int_equal(LAST(sync)->device, 6);
	assert_int_equal(LAST(sync)->stream, CUPROBE_NO_ID);
	assert_int_equal(LAST(sync)->event_sync_id, 0);
	assert_int_equal(LAST(info)->context.null_stream, 7);
	assert_int_equal(LAST(info)->context.parent, CUPROBE_NO_ID);
}

static void knows_a_kernels_priority_from_its_stream(void **state)
{
	CUpti_ActivityStream *stream;

	(void)state;
	version_set(22);
	kernel_put(208);
	decode();
	assert_int_equal(LAST(kernel)->priority, CUPROBE_NO_PRIORITY);
	stream = record_put(CUPTI_ACTIVITY_KIND_STREAM, sizeof(*stream));
	stream->contextId = 2;
	stream->streamId = 3;
	stream->priority = (uint32_t)-5;
	kernel_put(208);
	decode();
	assert_int_equal(LAST(kernel)->priority, -5);
	stream = record_put(CUPTI_ACTIVITY_KIND_STREAM, sizeof(*stream));
	stream->contextId = 2;
	stream->streamId = 3;
	kernel_put(208);
	decode();
	assert_int_equal(LAST(kernel)->priority, 0);
}

static void puts_impossible_times_into_the_ledger_only(void **state)
{
	__u64 now = cuprobe_clock_now(), invalid = cuprobe_ledger[CUPROBE_PROBE_kernel].invalid;
	const __u64 times[][2] = {
		{0, 0},
		{now, now - 1},
		{1ull << 63, 1ull << 63},
		{now, 1ull << 62},
		{0, now},
		{now + 3600000000000, now + 3600000000001},
	};
	const size_t count = sizeof(times) / sizeof(times[0]);
	size_t before = fake[CUPROBE_PROBE_kernel].count;

	(void)state;
	version_set(22);
	for (size_t i = 0; i < count; i++) {
		CUpti_ActivityKernel5 *kernel = kernel_put(208);

		kernel->start = times[i][0];
		kernel->end = times[i][1];
	}
	decode();
	assert_int_equal(fake[CUPROBE_PROBE_kernel].count, before);
	assert_int_equal(cuprobe_ledger[CUPROBE_PROBE_kernel].invalid, invalid + count);
}

static void discards_what_nobody_wants(void **state)
{
	__u64 discarded = cuprobe_ledger[CUPROBE_PROBE_kernel].discarded;

	(void)state;
	version_set(22);
	fake[CUPROBE_PROBE_kernel].consumers = 0;
	kernel_put(208);
	decode();
	fake[CUPROBE_PROBE_kernel].consumers = 1;
	assert_int_equal(cuprobe_ledger[CUPROBE_PROBE_kernel].discarded, discarded + 1);
}

static void goes_on_after_a_kind_it_does_not_know(void **state)
{
	size_t before = fake[CUPROBE_PROBE_kernel].count;
	__u64 unknown = cuprobe_ledger_unknown;

	(void)state;
	version_set(22);
	record_put(CUPTI_ACTIVITY_KIND_JIT, 48);
	kernel_put(208);
	record_put(4711, 8);
	kernel_put(208);
	decode();
	assert_int_equal(fake[CUPROBE_PROBE_kernel].count, before + 2);
	assert_int_equal(cuprobe_ledger_unknown, unknown + 2);
}

static CUptiResult CUPTIAPI next_record_fails(uint8_t *buffer, size_t valid,
					      CUpti_Activity **record)
{
	return *record ? CUPTI_ERROR_INVALID_KIND : next_record(buffer, valid, record);
}

static void counts_what_cupti_cannot_read(void **state)
{
	size_t before = fake[CUPROBE_PROBE_kernel].count;
	__u64 unknown = cuprobe_ledger_unknown;

	(void)state;
	version_set(22);
	kernel_put(208);
	kernel_put(208);
	cuprobe_cupti.ActivityGetNextRecord = next_record_fails;
	decode();
	cuprobe_cupti.ActivityGetNextRecord = next_record;
	assert_int_equal(fake[CUPROBE_PROBE_kernel].count, before + 1);
	assert_int_equal(cuprobe_ledger_unknown, unknown + 1);
}

static void never_reads_past_the_valid_part(void **state)
{
	size_t before = fake[CUPROBE_PROBE_kernel].count;

	(void)state;
	version_set(22);
	kernel_put(208);
	used -= 8;
	decode();
	assert_int_equal(fake[CUPROBE_PROBE_kernel].count, before);
}

static void walks_on_its_own_when_cupti_is_gone(void **state)
{
	size_t before = fake[CUPROBE_PROBE_kernel].count;

	(void)state;
	version_set(22);
	kernel_put(208);
	record_put(CUPTI_ACTIVITY_KIND_CONTEXT, 24);
	kernel_put(208);
	cuprobe_cupti.ActivityGetNextRecord = NULL;
	cuprobe_decode_buffer((__u8 *)memory, used, false);
	cuprobe_cupti.ActivityGetNextRecord = next_record;
	used = begun = 0;
	decode();
	assert_int_equal(fake[CUPROBE_PROBE_kernel].count, before + 2);
}

static void counts_thrown_away_records_by_probe(void **state)
{
	__u64 kernels = cuprobe_ledger[CUPROBE_PROBE_kernel].lost;

	(void)state;
	version_set(22);
	kernel_put(208);
	kernel_put(208);
	cuprobe_decode_lose((__u8 *)memory, used);
	used = begun = 0;
	assert_int_equal(cuprobe_ledger[CUPROBE_PROBE_kernel].lost, kernels + 2);
	fake_ledgers_balance();
}

static void moves_times_by_the_measured_offset(void **state)
{
	CUpti_ActivityKernel5 *kernel;
	__u64 start;

	(void)state;
	version_set(22);
	cuprobe_clock_offset_ns = -1000000000000;
	kernel = kernel_put(208);
	start = kernel->start;
	kernel->start += 1000000000000;
	kernel->end += 1000000000000;
	kernel->completed = 0;
	decode();
	cuprobe_clock_offset_ns = 0;
	assert_int_equal(LAST(kernel)->start_ns, start);
	assert_int_equal(LAST(kernel)->completed_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_kernels_of_every_version),
		cmocka_unit_test(reads_copies_with_and_without_a_count),
		cmocka_unit_test(reads_peer_copies),
		cmocka_unit_test(reads_api_calls_with_their_names),
		cmocka_unit_test(finds_the_device_of_a_synchronisation),
		cmocka_unit_test(knows_a_kernels_priority_from_its_stream),
		cmocka_unit_test(puts_impossible_times_into_the_ledger_only),
		cmocka_unit_test(discards_what_nobody_wants),
		cmocka_unit_test(goes_on_after_a_kind_it_does_not_know),
		cmocka_unit_test(counts_what_cupti_cannot_read),
		cmocka_unit_test(never_reads_past_the_valid_part),
		cmocka_unit_test(walks_on_its_own_when_cupti_is_gone),
		cmocka_unit_test(counts_thrown_away_records_by_probe),
		cmocka_unit_test(moves_times_by_the_measured_offset),
	};

	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++)
		fake_attach(probe);
	cuprobe_cupti.ActivityGetNextRecord = next_record;
	cuprobe_cupti.GetCallbackName = callback_name;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
