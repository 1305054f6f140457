/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets and sizes in cupti_layout against the structs of the CUPTI headers at hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cupti.h>

#include "src/inject/cupti_layout.h"

/* IN(struct) makes an X for the lists, which holds each field against that struct. */
#define CHECK(type, member, field, offset)                                                         \
	_Static_assert(offsetof(type, member) == (offset), "offset of " #member);                  \
	_Static_assert(sizeof(((type *)0)->member) >= sizeof(field), "size of " #member);

#define IN_KERNEL5(n, m, t, o) CHECK(CUpti_ActivityKernel5, m, t, o)
#define IN_KERNEL7(n, m, t, o) CHECK(CUpti_ActivityKernel7, m, t, o)
CUPROBE_KERNEL_FIELDS(IN_KERNEL5)
CUPROBE_KERNEL_FIELDS(IN_KERNEL7)
CUPROBE_KERNEL7_FIELDS(IN_KERNEL7)
#if CUPTI_API_VERSION >= 18
#define IN_KERNEL8(n, m, t, o) CHECK(CUpti_ActivityKernel8, m, t, o)
CUPROBE_KERNEL_FIELDS(IN_KERNEL8)
CUPROBE_KERNEL7_FIELDS(IN_KERNEL8)
CUPROBE_KERNEL8_FIELDS(IN_KERNEL8)
#endif
#if CUPTI_API_VERSION >= 20
#define IN_KERNEL9(n, m, t, o) CHECK(CUpti_ActivityKernel9, m, t, o)
CUPROBE_KERNEL_FIELDS(IN_KERNEL9)
CUPROBE_KERNEL7_FIELDS(IN_KERNEL9)
CUPROBE_KERNEL8_FIELDS(IN_KERNEL9)
#endif

#define IN_MEMCPY4(n, m, t, o) CHECK(CUpti_ActivityMemcpy4, m, t, o)
#define IN_MEMCPY5(n, m, t, o) CHECK(CUpti_ActivityMemcpy5, m, t, o)
CUPROBE_MEMCPY_FIELDS(IN_MEMCPY4)
CUPROBE_MEMCPY_FIELDS(IN_MEMCPY5)
CUPROBE_MEMCPY5_FIELDS(IN_MEMCPY5)
#define IN_PEER3(n, m, t, o) CHECK(CUpti_ActivityMemcpyPtoP3, m, t, o)
#define IN_PEER4(n, m, t, o) CHECK(CUpti_ActivityMemcpyPtoP4, m, t, o)
CUPROBE_PEER_FIELDS(IN_PEER3)
CUPROBE_PEER_FIELDS(IN_PEER4)
CUPROBE_PEER4_FIELDS(IN_PEER4)
#define IN_MEMSET3(n, m, t, o) CHECK(CUpti_ActivityMemset3, m, t, o)
#define IN_MEMSET4(n, m, t, o) CHECK(CUpti_ActivityMemset4, m, t, o)
CUPROBE_MEMSET_FIELDS(IN_MEMSET3)
CUPROBE_MEMSET_FIELDS(IN_MEMSET4)
CUPROBE_MEMSET4_FIELDS(IN_MEMSET4)
#define IN_MEMORY2(n, m, t, o) CHECK(CUpti_ActivityMemory2, m, t, o)
#define IN_MEMORY3(n, m, t, o) CHECK(CUpti_ActivityMemory3, m, t, o)
CUPROBE_MEMORY_FIELDS(IN_MEMORY2)
CUPROBE_MEMORY_FIELDS(IN_MEMORY3)
CUPROBE_MEMORY3_FIELDS(IN_MEMORY3)
#define IN_POOL(n, m, t, o) CHECK(CUpti_ActivityMemoryPool, m, t, o)
#define IN_POOL2(n, m, t, o) CHECK(CUpti_ActivityMemoryPool2, m, t, o)
CUPROBE_POOL_FIELDS(IN_POOL)
CUPROBE_POOL_FIELDS(IN_POOL2)
CUPROBE_POOL2_FIELDS(IN_POOL2)
#define IN_SYNC(n, m, t, o) CHECK(CUpti_ActivitySynchronization, m, t, o)
CUPROBE_SYNC_FIELDS(IN_SYNC)
#define IN_EVENT(n, m, t, o) CHECK(CUpti_ActivityCudaEvent, m, t, o)
CUPROBE_EVENT_FIELDS(IN_EVENT)
#define IN_API(n, m, t, o) CHECK(CUpti_ActivityAPI, m, t, o)
CUPROBE_API_FIELDS(IN_API)
#define IN_UNIFIED2(n, m, t, o) CHECK(CUpti_ActivityUnifiedMemoryCounter2, m, t, o)
CUPROBE_UNIFIED_FIELDS(IN_UNIFIED2)
#define IN_OVERHEAD(n, m, t, o) CHECK(CUpti_ActivityOverhead, m, t, o)
CUPROBE_OVERHEAD_FIELDS(IN_OVERHEAD)
#define IN_GRAPH(n, m, t, o) CHECK(CUpti_ActivityGraphTrace, m, t, o)
CUPROBE_GRAPH_FIELDS(IN_GRAPH)
#define IN_STREAM(n, m, t, o) CHECK(CUpti_ActivityStream, m, t, o)
CUPROBE_STREAM_FIELDS(IN_STREAM)
#define IN_CONTEXT(n, m, t, o) CHECK(CUpti_ActivityContext, m, t, o)
CUPROBE_CONTEXT_FIELDS(IN_CONTEXT)
#define IN_DEVICE3(n, m, t, o) CHECK_LOOSE(CUpti_ActivityDevice3, m, t, o)
#define IN_DEVICE4(n, m, t, o) CHECK_LOOSE(CUpti_ActivityDevice4, m, t, o)
#define CHECK_LOOSE(type, member, field, offset)                                                   \
	_Static_assert(offsetof(type, member) == (offset), "offset of " #member);
CUPROBE_DEVICE_FIELDS(IN_DEVICE3)
CUPROBE_DEVICE_FIELDS(IN_DEVICE4)

#if CUPTI_API_VERSION >= 21
#define IN_OVERHEAD2(n, m, t, o) CHECK(CUpti_ActivityOverhead2, m, t, o)
CUPROBE_OVERHEAD_FIELDS(IN_OVERHEAD2)
CUPROBE_OVERHEAD2_FIELDS(IN_OVERHEAD2)
#define IN_GRAPH2(n, m, t, o) CHECK(CUpti_ActivityGraphTrace2, m, t, o)
CUPROBE_GRAPH_FIELDS(IN_GRAPH2)
CUPROBE_GRAPH2_FIELDS(IN_GRAPH2)
#endif
#if CUPTI_API_VERSION >= 22
#define IN_OVERHEAD3(n, m, t, o) CHECK(CUpti_ActivityOverhead3, m, t, o)
CUPROBE_OVERHEAD_FIELDS(IN_OVERHEAD3)
CUPROBE_OVERHEAD2_FIELDS(IN_OVERHEAD3)
CUPROBE_OVERHEAD3_FIELDS(IN_OVERHEAD3)
#define IN_CONTEXT2(n, m, t, o) CHECK(CUpti_ActivityContext2, m, t, o)
CUPROBE_CONTEXT_FIELDS(IN_CONTEXT2)
CUPROBE_CONTEXT2_FIELDS(IN_CONTEXT2)
#define IN_DEVICE5(n, m, t, o) CHECK_LOOSE(CUpti_ActivityDevice5, m, t, o)
CUPROBE_DEVICE_FIELDS(IN_DEVICE5)
#endif
#if CUPTI_API_VERSION >= 26
#define IN_MEMCPY6(n, m, t, o) CHECK(CUpti_ActivityMemcpy6, m, t, o)
CUPROBE_MEMCPY_FIELDS(IN_MEMCPY6)
CUPROBE_MEMCPY5_FIELDS(IN_MEMCPY6)
CUPROBE_MEMCPY6_FIELDS(IN_MEMCPY6)
#define IN_MEMORY4(n, m, t, o) CHECK(CUpti_ActivityMemory4, m, t, o)
CUPROBE_MEMORY_FIELDS(IN_MEMORY4)
CUPROBE_MEMORY3_FIELDS(IN_MEMORY4)
CUPROBE_MEMORY4_FIELDS(IN_MEMORY4)
#define IN_SYNC2(n, m, t, o) CHECK(CUpti_ActivitySynchronization2, m, t, o)
CUPROBE_SYNC_FIELDS(IN_SYNC2)
CUPROBE_SYNC2_FIELDS(IN_SYNC2)
#define IN_EVENT2(n, m, t, o) CHECK(CUpti_ActivityCudaEvent2, m, t, o)
CUPROBE_EVENT_FIELDS(IN_EVENT2)
CUPROBE_EVENT2_FIELDS(IN_EVENT2)
#define IN_UNIFIED3(n, m, t, o) CHECK(CUpti_ActivityUnifiedMemoryCounter3, m, t, o)
CUPROBE_UNIFIED_FIELDS(IN_UNIFIED3)
#define IN_CONTEXT3(n, m, t, o) CHECK(CUpti_ActivityContext3, m, t, o)
CUPROBE_CONTEXT_FIELDS(IN_CONTEXT3)
CUPROBE_CONTEXT2_FIELDS(IN_CONTEXT3)
#endif
#if CUPTI_API_VERSION >= 130000
#define IN_KERNEL10(n, m, t, o) CHECK(CUpti_ActivityKernel10, m, t, o)
CUPROBE_KERNEL_FIELDS(IN_KERNEL10)
CUPROBE_KERNEL7_FIELDS(IN_KERNEL10)
CUPROBE_KERNEL8_FIELDS(IN_KERNEL10)
CUPROBE_KERNEL10_FIELDS(IN_KERNEL10)
CUPROBE_MEMCPY6_13_FIELDS(IN_MEMCPY6)
#define IN_POOL3(n, m, t, o) CHECK(CUpti_ActivityMemoryPool3, m, t, o)
CUPROBE_POOL_FIELDS(IN_POOL3)
CUPROBE_POOL2_FIELDS(IN_POOL3)
#endif

/* The newest struct of each record in this header is what its version writes. */
static const struct cuprobe_layout here = {
	.api = sizeof(CUpti_ActivityAPI),
	.stream = sizeof(CUpti_ActivityStream),
	.memset = sizeof(CUpti_ActivityMemset4),
	.peer = sizeof(CUpti_ActivityMemcpyPtoP4),
#if CUPTI_API_VERSION >= 130000
	.kernel = sizeof(CUpti_ActivityKernel10),
	.pool = sizeof(CUpti_ActivityMemoryPool3),
#elif CUPTI_API_VERSION >= 20
	.kernel = sizeof(CUpti_ActivityKernel9),
	.pool = sizeof(CUpti_ActivityMemoryPool2),
#elif CUPTI_API_VERSION >= 18
	.kernel = sizeof(CUpti_ActivityKernel8),
	.pool = sizeof(CUpti_ActivityMemoryPool2),
#else
	.kernel = sizeof(CUpti_ActivityKernel7),
	.pool = sizeof(CUpti_ActivityMemoryPool2),
#endif
#if CUPTI_API_VERSION >= 26
	.memcpy = sizeof(CUpti_ActivityMemcpy6),
	.sync = sizeof(CUpti_ActivitySynchronization2),
	.event = sizeof(CUpti_ActivityCudaEvent2),
	.unified = sizeof(CUpti_ActivityUnifiedMemoryCounter3),
#else
	.memcpy = sizeof(CUpti_ActivityMemcpy5),
	.sync = sizeof(CUpti_ActivitySynchronization),
	.event = sizeof(CUpti_ActivityCudaEvent),
	.unified = sizeof(CUpti_ActivityUnifiedMemoryCounter2),
#endif
#if CUPTI_API_VERSION >= 24
	.memory = sizeof(CUpti_ActivityMemory4),
#else
	.memory = sizeof(CUpti_ActivityMemory3),
#endif
#if CUPTI_API_VERSION >= 23
	.context = sizeof(CUpti_ActivityContext3),
#elif CUPTI_API_VERSION >= 22
	.context = sizeof(CUpti_ActivityContext2),
#else
	.context = sizeof(CUpti_ActivityContext),
#endif
#if CUPTI_API_VERSION >= 22
	.overhead = sizeof(CUpti_ActivityOverhead3),
#elif CUPTI_API_VERSION >= 21
	.overhead = sizeof(CUpti_ActivityOverhead2),
#else
	.overhead = sizeof(CUpti_ActivityOverhead),
#endif
#if CUPTI_API_VERSION >= 21
	.graph = sizeof(CUpti_ActivityGraphTrace2),
#else
	.graph = sizeof(CUpti_ActivityGraphTrace),
#endif
#if CUPTI_API_VERSION >= 20
	.device = sizeof(CUpti_ActivityDevice5),
#else
	.device = sizeof(CUpti_ActivityDevice4),
#endif
};

static void knows_the_sizes_of_this_header(void **state)
{
	const struct cuprobe_layout *layout = cuprobe_layout_for(CUPTI_API_VERSION);

	(void)state;
#define SAME(record, base) assert_int_equal(layout->record, here.record);
	CUPROBE_LAYOUTS(SAME)
}

static void never_reads_less_than_the_oldest(void **state)
{
	const __u32 versions[] = {0,  13, 14, 15, 16, 17, 18,	  19,	  20,	  21,
				  22, 23, 24, 26, 27, 28, 130000, 130001, 140000, ~0u};

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		const struct cuprobe_layout *layout = cuprobe_layout_for(versions[i]);

#define AT_LEAST(record, base) assert_in_range(layout->record, base, 1024);
		CUPROBE_LAYOUTS(AT_LEAST)
		assert_true(layout->since <= versions[i]);
	}
}

static void reads_a_field_that_is_not_there_as_unknown(void **state)
{
	__u8 record[216];

	(void)state;
	memset(record, 0xff, sizeof(record));
	assert_int_equal(cuprobe_kernel_cluster_x(record, 176, 3), 3);
	assert_int_equal(cuprobe_kernel_cluster_x(record, 200, 3), 0xffffffff);
	assert_int_equal(cuprobe_kernel_device_launched(record, 208, 0), 0);
	assert_int_equal(cuprobe_kernel_device_launched(record, 216, 0), 0xff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_sizes_of_this_header),
		cmocka_unit_test(never_reads_less_than_the_oldest),
		cmocka_unit_test(reads_a_field_that_is_not_there_as_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
