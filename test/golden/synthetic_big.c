/* SPDX-License-Identifier: Apache-2.0 */
/* A training loop, as long as wished: for benchmarks of exports, and for bounded memory. */
#include <string.h>

#include "src/collector/capture.h"
#include "test/golden/synthetic.h"

#define BIG_START_NS 1000000000000ull
#define BIG_STEP_NS 6000ull /* from launch to launch */
#define BIG_NAMES 40
#define BIG_BATCH 128

struct big {
	struct synthetic process;
	__u32 kernel_names[BIG_NAMES], launch, copy, synchronize;
	__u64 events, step;
	struct cuprobe_kernel kernels[BIG_BATCH];
	struct cuprobe_api apis[BIG_BATCH];
	struct cuprobe_memcpy copies[BIG_BATCH];
	struct cuprobe_memset memsets[BIG_BATCH];
	struct cuprobe_sync syncs[BIG_BATCH];
	unsigned int counts[CUPROBE_PROBE_COUNT];
};

static __u64 step_ns(const struct big *b)
{
	return BIG_START_NS + b->step * BIG_STEP_NS;
}

static void big_flush(struct big *b, enum cuprobe_probe_id probe, const void *records, size_t size)
{
	if (b->counts[probe])
		synthetic_fire(&b->process, probe, records, size, b->counts[probe],
			       step_ns(b) + 1000000);
	b->counts[probe] = 0;
}

/* The next free record of a kind, after firing those before when they fill a batch. */
#define BIG_NEXT(b, kind, array)                                                                   \
	({                                                                                         \
		if ((b)->counts[CUPROBE_PROBE_##kind] == BIG_BATCH)                                \
			big_flush(b, CUPROBE_PROBE_##kind, (b)->array, sizeof((b)->array[0]));     \
		(b)->events++;                                                                     \
		&(b)->array[(b)->counts[CUPROBE_PROBE_##kind]++];                                  \
	})

static void big_api(struct big *b, __u32 name, __u32 cbid, __u64 start_ns, __u64 end_ns)
{
	*BIG_NEXT(b, api, apis) = (struct cuprobe_api){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.thread = b->process.pid,
		.correlation = (__u32)b->step + 1,
		.cbid = cbid,
		.name = name,
		.domain = CUPROBE_API_RUNTIME,
	};
}

static void big_kernel(struct big *b)
{
	__u64 at = step_ns(b);

	big_api(b, b->launch, 211, at, at + 2000);
	*BIG_NEXT(b, kernel, kernels) = (struct cuprobe_kernel){
		.start_ns = at + 3000,
		.end_ns = at + 3000 + 1500 + b->step % 7 * 200,
		.grid_id = b->step,
		.context = 1,
		.stream = 7,
		.correlation = (__u32)b->step + 1,
		.name = b->kernel_names[b->step * 2654435761u % BIG_NAMES],
		.grid = {132, 1, 1},
		.block = {256, 1, 1},
		.registers_per_thread = 64,
		.priority = CUPROBE_NO_PRIORITY,
	};
}

static void big_copy(struct big *b)
{
	__u64 at = step_ns(b);

	big_api(b, b->copy, 41, at, at + 1500);
	*BIG_NEXT(b, memcpy, copies) = (struct cuprobe_memcpy){
		.start_ns = at + 2500,
		.end_ns = at + 5500,
		.bytes = 65536,
		.copy_count = 1,
		.context = 1,
		.stream = 13,
		.correlation = (__u32)b->step + 1,
		.src_device = CUPROBE_NO_ID,
		.dst_device = CUPROBE_NO_ID,
		.copy_kind = 1,
		.src_kind = 2,
		.dst_kind = 3,
		.flags = CUPROBE_FLAG_ASYNC,
	};
}

static void big_synchronize(struct big *b)
{
	__u64 at = step_ns(b);

	*BIG_NEXT(b, memset, memsets) = (struct cuprobe_memset){
		.start_ns = at + 100,
		.end_ns = at + 900,
		.bytes = 4096,
		.context = 1,
		.stream = 7,
		.correlation = (__u32)b->step + 1,
		.memory_kind = 3,
	};
	big_api(b, b->synchronize, 131, at + 1000, at + 5000);
	*BIG_NEXT(b, sync, syncs) = (struct cuprobe_sync){
		.start_ns = at + 1100,
		.end_ns = at + 4900,
		.context = 1,
		.stream = 7,
		.correlation = (__u32)b->step + 1,
		.event = CUPROBE_NO_ID,
		.kind = CUPROBE_SYNC_STREAM_SYNCHRONIZE,
	};
}

static void big_names(struct big *b)
{
	char name[64] = "_Z13big_kernel_00ILi128EEvPKfPfi";

	for (int i = 0; i < BIG_NAMES; i++) {
		name[15] = (char)('0' + i / 10);
		name[16] = (char)('0' + i % 10);
		b->kernel_names[i] = synthetic_string(&b->process, name);
	}
	b->launch = synthetic_string(&b->process, "cudaLaunchKernel_v7000");
	b->copy = synthetic_string(&b->process, "cudaMemcpyAsync_v3020");
	b->synchronize = synthetic_string(&b->process, "cudaStreamSynchronize_v3020");
}

int synthetic_big(const struct synthetic_target *target, __u64 events)
{
	static struct big b;

	memset(&b, 0, sizeof(b));
	b.process = (struct synthetic){
		.pid = 1000, .start_ns = 5000000000ull, .now_ns = BIG_START_NS, .target = *target};
	big_names(&b);
	for (; b.events < events && !b.process.err; b.step++) {
		if (b.step % 64 == 63)
			big_synchronize(&b);
		else if (b.step % 16 == 15)
			big_copy(&b);
		else
			big_kernel(&b);
	}
	big_flush(&b, CUPROBE_PROBE_kernel, b.kernels, sizeof(b.kernels[0]));
	big_flush(&b, CUPROBE_PROBE_api, b.apis, sizeof(b.apis[0]));
	big_flush(&b, CUPROBE_PROBE_memcpy, b.copies, sizeof(b.copies[0]));
	big_flush(&b, CUPROBE_PROBE_memset, b.memsets, sizeof(b.memsets[0]));
	big_flush(&b, CUPROBE_PROBE_sync, b.syncs, sizeof(b.syncs[0]));
	return b.process.err;
}

void synthetic_big_info(struct session_info *info, __u64 events)
{
	*info = (struct session_info){
		.start_ns = BIG_START_NS,
		.end_ns = BIG_START_NS + (events / 2 + 1000) * BIG_STEP_NS,
		.realtime_offset_ns = 1700000000000000000ull,
		.host = "synthetic",
		.kernel = "synthetic",
		.command = "make_capture big",
		.probes = (1u << CUPROBE_PROBE_COUNT) - 1,
	};
}
