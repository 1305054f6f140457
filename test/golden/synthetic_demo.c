/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo recording: small enough to read, and with one of everything that must not go wrong.
 * Its golden outputs lie beside it.
 */
#include <string.h>

#include "src/collector/capture.h"
#include "test/golden/synthetic_demo.h"

#define LONG_NAME_BYTES 5000

static void demo_api(struct demo *d, __u32 name, __u32 cbid, __u32 domain, __u64 duration_ns)
{
	struct cuprobe_api api = {
		.start_ns = d->at_ns,
		.end_ns = d->at_ns + duration_ns,
		.thread = d->process.pid + 1,
		.correlation = d->correlation,
		.cbid = cbid,
		.name = name,
		.domain = (__u8)domain,
	};

	FIRE(d, api, &api);
}

static struct cuprobe_kernel demo_kernel(struct demo *d, __u32 name, __u32 device,
					 __u64 duration_ns)
{
	return (struct cuprobe_kernel){
		.start_ns = d->at_ns + 5 * US,
		.end_ns = d->at_ns + 5 * US + duration_ns,
		.grid_id = d->correlation,
		.device = device,
		.context = device + 1,
		.stream = 7,
		.correlation = d->correlation,
		.name = name,
		.grid = {64, 2, 1},
		.block = {128, 1, 1},
		.registers_per_thread = 40,
		.static_shared_bytes = 1024,
		.dynamic_shared_bytes = 2048,
		.executed_shared_bytes = 32768,
		.channel = 3,
		.priority = 0,
	};
}

static void demo_call(struct demo *d, __u32 domain_api)
{
	struct cuprobe_launch launch = {
		.time_ns = d->at_ns + 1 * US,
		.correlation = d->correlation,
		.thread = d->process.pid + 1,
		.stack = d->stack,
		.weight = CUPROBE_LAUNCH_WEIGHT_ONE,
		.domain_api = domain_api,
	};

	FIRE(d, launch, &launch);
}

/* A launch and its kernel. */
static void demo_launch(struct demo *d, __u32 name, __u32 device, __u64 duration_ns)
{
	struct cuprobe_kernel kernel;

	d->correlation++;
	demo_call(d, 211);
	demo_api(d, d->launch, 211, CUPROBE_API_RUNTIME, 4 * US);
	demo_api(d, d->driver_launch, 307, CUPROBE_API_DRIVER, 3 * US);
	kernel = demo_kernel(d, name, device, duration_ns);
	FIRE(d, kernel, &kernel);
	d->at_ns += 20 * US;
}

static void demo_copy(struct demo *d, __u8 copy_kind, __u8 src_kind, __u8 dst_kind, __u64 bytes)
{
	struct cuprobe_memcpy copy = {
		.start_ns = d->at_ns + 3 * US,
		.end_ns = d->at_ns + 3 * US + bytes / 20,
		.bytes = bytes,
		.copy_count = 1,
		.context = 1,
		.stream = 13,
		.correlation = ++d->correlation,
		.src_device = copy_kind == 10 ? 0 : CUPROBE_NO_ID,
		.src_context = copy_kind == 10 ? 1 : CUPROBE_NO_ID,
		.dst_device = copy_kind == 10 ? 1 : CUPROBE_NO_ID,
		.dst_context = copy_kind == 10 ? 2 : CUPROBE_NO_ID,
		.copy_kind = copy_kind,
		.src_kind = src_kind,
		.dst_kind = dst_kind,
		.flags = CUPROBE_FLAG_ASYNC,
	};

	demo_call(d, 41);
	demo_api(d, d->copy, 41, CUPROBE_API_RUNTIME, 2 * US);
	FIRE(d, memcpy, &copy);
	d->at_ns += 10 * US;
}

static void demo_memset(struct demo *d)
{
	struct cuprobe_memset set = {
		.start_ns = d->at_ns + 2 * US,
		.end_ns = d->at_ns + 4 * US,
		.bytes = 1 << 20,
		.context = 1,
		.stream = 7,
		.correlation = ++d->correlation,
		.memory_kind = 3,
		.flags = CUPROBE_FLAG_ASYNC,
	};

	demo_api(d, d->set, 51, CUPROBE_API_RUNTIME, 1 * US);
	FIRE(d, memset, &set);
	d->at_ns += 10 * US;
}

static void demo_sync(struct demo *d, __u8 kind, __u32 stream, __u64 duration_ns)
{
	struct cuprobe_sync sync = {
		.start_ns = d->at_ns + 1 * US,
		.end_ns = d->at_ns + 1 * US + duration_ns,
		.context = 1,
		.stream = stream,
		.correlation = ++d->correlation,
		.event = CUPROBE_NO_ID,
		.kind = kind,
	};

	if (kind == CUPROBE_SYNC_EVENT_RECORD)
		sync.start_ns = sync.end_ns = 0;
	if (kind == CUPROBE_SYNC_EVENT_RECORD || kind == CUPROBE_SYNC_STREAM_WAIT_EVENT)
		sync.event = 5;
	demo_api(d, d->synchronize, 131, CUPROBE_API_RUNTIME, duration_ns + 2 * US);
	FIRE(d, sync, &sync);
	d->at_ns += duration_ns + 10 * US;
}

static void demo_graphs(struct demo *d)
{
	for (int i = 0; i < 3; i++) {
		struct cuprobe_graph graph = {
			.start_ns = d->at_ns + 4 * US,
			.end_ns = d->at_ns + (54 + (__u64)i) * US,
			.context = 1,
			.stream = 7,
			.correlation = ++d->correlation,
			.graph_id = 4,
			.exec_id = 9,
			.end_device = 0,
			.end_context = 1,
		};

		demo_call(d, 311);
		demo_api(d, d->graph_launch, 311, CUPROBE_API_RUNTIME, 3 * US);
		FIRE(d, graph, &graph);
		d->at_ns += 80 * US;
	}
}

/* Two kernels of one launch, in stream 13, and the second record comes first. */
static void demo_graph_nodes(struct demo *d, __u32 name)
{
	struct cuprobe_kernel nodes[2];

	d->correlation++;
	demo_api(d, d->graph_launch, 311, CUPROBE_API_RUNTIME, 3 * US);
	nodes[1] = demo_kernel(d, name, 0, 10 * US);
	nodes[1].stream = 13;
	nodes[1].graph_id = 6;
	nodes[1].graph_node_id = 0x600000001ull;
	nodes[0] = nodes[1];
	nodes[0].graph_node_id++;
	nodes[0].start_ns = nodes[1].end_ns + 1 * US;
	nodes[0].end_ns = nodes[0].start_ns + 12 * US;
	synthetic_fire(&d->process, CUPROBE_PROBE_kernel, nodes, sizeof(nodes[0]), 2,
		       DEMO_FIRED_NS);
	d->at_ns += 40 * US;
}

static void demo_memory(struct demo *d)
{
	struct cuprobe_memory memory = {
		.time_ns = d->at_ns,
		.address = 0x7f0000000000ull,
		.bytes = 64 << 20,
		.context = 1,
		.stream = CUPROBE_NO_ID,
		.correlation = ++d->correlation,
		.op = CUPROBE_MEMORY_ALLOC,
		.memory_kind = 3,
	};

	demo_api(d, d->allocate, 243, CUPROBE_API_DRIVER, 30 * US);
	FIRE(d, memory, &memory);
	d->at_ns += 40 * US;
	memory.address += memory.bytes;
	memory.bytes /= 2;
	memory.time_ns = d->at_ns;
	FIRE(d, memory, &memory);
	memory.op = CUPROBE_MEMORY_FREE;
	memory.time_ns += 5 * US;
	FIRE(d, memory, &memory);
	d->at_ns += 10 * US;
}

static void demo_rest(struct demo *d)
{
	struct cuprobe_unified_memory unified = {
		.start_ns = d->at_ns,
		.end_ns = d->at_ns + 12 * US,
		.value = 2 << 20,
		.address = 0x7e0000000000ull,
		.kind = 1,
		.src_device = CUPROBE_NO_ID,
	};
	struct cuprobe_overhead overhead = {
		.start_ns = d->at_ns,
		.end_ns = d->at_ns + 15 * US,
		.kind = 1 << 16,
		.object_kind = 2,
		.thread = d->process.pid + 1,
		.device = CUPROBE_NO_ID,
		.context = CUPROBE_NO_ID,
		.stream = CUPROBE_NO_ID,
	};

	FIRE(d, unified_memory, &unified);
	unified.kind = 4;
	unified.value = 3;
	FIRE(d, unified_memory, &unified);
	FIRE(d, overhead, &overhead);
	d->at_ns += 20 * US;
}

static void demo_sample(struct demo *d, const char *function, __u64 pc, __u32 stall, __u64 samples)
{
	struct cuprobe_pc_sample sample = {
		.time_ns = d->at_ns,
		.crc = strstr(function, "vectorAdd") ? 0xdead : SYNTHETIC_CUBIN_CRC,
		.pc_offset = pc,
		.samples = samples,
		.function = synthetic_string(&d->process, function),
		.function_index = 21,
		.stall = stall,
		.context = 1,
	};

	FIRE(d, pc_sample, &sample);
}

/* Of the kernels in test/cubin, and of code that nobody knows. */
static void demo_samples(struct demo *d)
{
	struct cuprobe_module module = {
		.time_ns = d->at_ns,
		.crc = SYNTHETIC_CUBIN_CRC,
		.bytes = 24448,
		.address = 0x7f1000000000,
		.context = 1,
		.id = 3,
		.op = CUPROBE_MODULE_LOADED,
	};
	struct cuprobe_pc_sample rest = {.time_ns = d->at_ns, .context = 1};

	FIRE(d, module, &module);
	demo_sampling(d);
	demo_sample(d, "gather", 0x1a0, 1, 700);
	demo_sample(d, "gather", 0x1b0, 1, 40);
	demo_sample(d, "gather", 0x1a0, 2, 5);
	demo_sample(d, "_Z7computePfi", 0x2d0, 3, 150);
	demo_sample(d, "_Z7computePfi", 0x20, 2, 50);
	demo_sample(d, "_Z6reduceILi1024EEvPfPKfi", 0x500, 0, 90);
	demo_sample(d, "_Z10notInCubinv", 0x40, 3, 15);
	demo_sample(d, "_Z9vectorAddPKfS0_Pfi", 0x40, 3, 60);
	demo_sample(d, "_Z9vectorAddPKfS0_Pfi", 0x80, 1, 20);
	rest.kind = CUPROBE_PC_NON_USER;
	rest.samples = 30;
	FIRE(d, pc_sample, &rest);
	rest.kind = CUPROBE_PC_DROPPED;
	rest.samples = 7;
	FIRE(d, pc_sample, &rest);
	module.op = CUPROBE_MODULE_UNLOADED;
	module.time_ns += 5 * US;
	FIRE(d, module, &module);
}

static void demo_range(struct demo *d, const char *message)
{
	struct cuprobe_nvtx nvtx = {
		.time_ns = d->at_ns,
		.thread = d->process.pid + 1,
		.message = synthetic_string(&d->process, message),
		.color = 0xff00ff00,
		.kind = CUPROBE_NVTX_PUSH,
		.flags = CUPROBE_NVTX_FLAG_COLOR,
	};

	FIRE(d, nvtx, &nvtx);
	nvtx.time_ns += 200 * US;
	nvtx.kind = CUPROBE_NVTX_POP;
	FIRE(d, nvtx, &nvtx);
}

/* What the decoder must keep out: end before start, no times, the far future, a broken batch. */
static void demo_junk(struct demo *d, __u32 name)
{
	struct cuprobe_kernel junk[3];

	junk[0] = junk[1] = junk[2] = demo_kernel(d, name, 0, 0);
	junk[0].end_ns = junk[0].start_ns - 1;
	junk[1].start_ns = junk[1].end_ns = 0;
	junk[2].end_ns = 1ull << 63;
	synthetic_fire(&d->process, CUPROBE_PROBE_kernel, junk, sizeof(junk[0]), 3, DEMO_FIRED_NS);
	synthetic_fire(&d->process, CUPROBE_PROBE_memset, junk, 12, 1, DEMO_FIRED_NS);
	d->process.seq[CUPROBE_PROBE_memset]--;
}

static void demo_hostile_names(struct demo *d)
{
	static const char *const names[] = {
		"quote \" backslash \\ newline \n escape \033[31m byte \x01 end",
		"bad utf-8 \xff\xc3( and good: \xc3\xa9\xe2\x82\xac",
		"semi;colon and <angle> &amp; %s {lambda()#1}",
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		"_ZZ4mainENKUlvE_clEv",
		"_Znot_a_mangled_name",
	};
	static char name[LONG_NAME_BYTES + 1];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		demo_launch(d, synthetic_string(&d->process, names[i]), 0, 1 * US);
	memset(name, 'n', LONG_NAME_BYTES);
	memcpy(name, "long_", 5);
	demo_launch(d, synthetic_string(&d->process, name), 0, 1 * US);
	name[LONG_NAME_BYTES - 1] = 'x';
	demo_launch(d, synthetic_string(&d->process, name), 0, 1 * US);
	demo_launch(d, 0, 0, 1 * US);
	demo_launch(d, 4000000000u, 0, 1 * US); /* never defined */
}

static int demo_first(const struct synthetic_target *target)
{
	struct demo d = {.process = {.pid = 1000,
				     .start_ns = 5000000000ull,
				     .now_ns = DEMO_START_NS,
				     .target = *target},
			 .at_ns = DEMO_START_NS + 100 * US};
	__u32 add, gemm;

	demo_info(&d, 0);
	add = synthetic_string(&d.process, "_Z9vectorAddPKfS0_Pfi");
	gemm = synthetic_string(&d.process, "_Z4gemmI6__halfLi128ELi64EEvPKT_S3_PS1_iii");
	demo_range(&d, "step \"0\"");
	demo_memory(&d);
	demo_memset(&d);
	demo_copy(&d, 1, 2, 3, 4 << 20);
	demo_stack(&d, 1, 0x7f0000101000);
	demo_stack(&d, 2, 0x7f0000102000);
	d.stack = 1;
	for (__u64 i = 0; i < 10; i++)
		demo_launch(&d, add, 0, (8 + i) * US);
	d.stack = 2;
	for (__u64 i = 0; i < 5; i++)
		demo_launch(&d, gemm, (__u32)i % 2, (12 + 2 * i) * US);
	demo_graphs(&d);
	demo_graph_nodes(&d, gemm);
	d.stack = 3; /* never defined */
	demo_copy(&d, 2, 3, 1, 1 << 20);
	d.stack = 0;
	demo_copy(&d, 10, 3, 3, 2 << 20);
	demo_sync(&d, CUPROBE_SYNC_STREAM_SYNCHRONIZE, 7, 150 * US);
	demo_sync(&d, CUPROBE_SYNC_EVENT_RECORD, 7, 0);
	demo_sync(&d, CUPROBE_SYNC_STREAM_WAIT_EVENT, 13, 1 * US);
	demo_sync(&d, CUPROBE_SYNC_CONTEXT_SYNCHRONIZE, CUPROBE_NO_ID, 90 * US);
	demo_rest(&d);
	demo_samples(&d);
	demo_hostile_names(&d);
	demo_junk(&d, add);
	demo_status(&d);
	return d.process.err;
}

/* The same ids of devices, contexts, streams and correlations; a gap; then another program. */
static int demo_second(const struct synthetic_target *target)
{
	struct demo d = {.process = {.pid = 2000,
				     .start_ns = 6000000000ull,
				     .now_ns = DEMO_START_NS,
				     .target = *target},
			 .at_ns = DEMO_START_NS + 150 * US};
	__u32 name;

	demo_info(&d, 1);
	name = synthetic_string(&d.process, "_Z9vectorAddPKfS0_Pfi");
	for (int i = 0; i < 4; i++)
		demo_launch(&d, name, 0, 6 * US);
	d.process.seq[CUPROBE_PROBE_kernel] += 5; /* fired, and not delivered */
	demo_launch(&d, name, 0, 6 * US);
	demo_status(&d);
	memset(d.process.seq, 0, sizeof(d.process.seq));
	d.process.next_string = 0;
	demo_info(&d, 1);
	name = synthetic_string(&d.process, "_Z12afterTheExecv");
	demo_launch(&d, name, 1, 9 * US);
	demo_status(&d);
	return d.process.err;
}

int synthetic_demo(const struct synthetic_target *target)
{
	int err = demo_first(target);

	return err ? err : demo_second(target);
}

void synthetic_demo_info(struct session_info *info)
{
	*info = (struct session_info){
		.start_ns = DEMO_START_NS,
		.end_ns = DEMO_END_NS,
		.realtime_offset_ns = 1700000000000000000ull,
		.host = "demo-host",
		.kernel = "6.1.0",
		.command = "cuprobe record -- ./train \"--x\"",
		.probes = (1u << CUPROBE_PROBE_COUNT) - 1,
	};
}
