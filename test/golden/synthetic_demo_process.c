/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of the demo are: command lines, devices, names of calls, stacks and what is
 * at their addresses, state.
 */
#include <stdio.h>
#include <string.h>

#include "test/golden/synthetic_demo.h"

const char synthetic_demo_first[] = "{\"pid\":1000,\"start_ns\":5000000000,"
				    "\"command\":\"./train \\\"--x\\\" --epochs 3\","
				    "\"executable\":\"/opt/demo/train\"}";
const char synthetic_demo_second[] = "{\"pid\":2000,\"start_ns\":6000000000,"
				     "\"command\":\"./train --rank 1\","
				     "\"threads\":[[2001,70001],[2000,2000]]}";

/* What the addresses of demo_stack() mean. */
const char synthetic_demo_symbols[] =
	"{\"pid\":1000,\"start_ns\":5000000000,\"image\":0,\"modules\":["
	"{\"start\":4198400,\"end\":4202496,\"offset\":4096,\"path\":\"/opt/demo/train\","
	"\"build_id\":\"0123456789abcdef0123456789abcdef01234567\"},"
	"{\"start\":139637976727552,\"end\":139637976735744,\"offset\":0,"
	"\"path\":\"/usr/lib/libcudart.so.13\",\"build_id\":\"\"},"
	"{\"start\":139637977776128,\"end\":139637977800704,\"offset\":8192,"
	"\"path\":\"/usr/lib/libnet.so\",\"build_id\":\"feed\"},"
	"{\"jit\":1,\"path\":\"/tmp/perf-1000.map\"}],"
	"\"symbols\":["
	"{\"pc\":4198401,\"module\":0,\"lines\":[{\"line\":0,\"function\":\"_start\"}]},"
	"{\"pc\":4198402,\"module\":0,\"lines\":["
	"{\"line\":7,\"function\":\"main\",\"file\":\"/opt/demo/main.c\"}]},"
	"{\"pc\":4198403,\"module\":0,\"lines\":["
	"{\"line\":9,\"function\":\"recurse\",\"file\":\"/opt/demo/main.c\"}]},"
	"{\"pc\":139637976731648,\"module\":1,\"lines\":["
	"{\"line\":0,\"function\":\"cudart_internal\"}]},"
	"{\"pc\":139637977780224,\"module\":2,\"lines\":["
	"{\"line\":3,\"function\":\"_ZN3net6insideEi\",\"file\":\"/opt/demo/net.h\"},"
	"{\"line\":8,\"function\":\"_ZN3net7forwardIfEEvPT_\","
	"\"file\":\"/opt/demo/net.cc\"}]},"
	"{\"pc\":139637977784320,\"module\":2,\"lines\":["
	"{\"line\":8,\"function\":\"_ZN3net7forwardIDF16_EEvPT_\","
	"\"file\":\"/opt/demo/net.cc\"}]},"
	"{\"pc\":139637977788416,\"module\":2,\"lines\":[]},"
	"{\"pc\":139637980921856,\"module\":3,\"lines\":["
	"{\"line\":0,\"function\":\"py::train.py:train\"}]}]}";

static void demo_device(struct demo *d, __u32 id)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_DEVICE};

	memset(info.device.uuid, (int)(0xa0 + id), sizeof(info.device.uuid));
	info.device.id = id;
	info.device.name = synthetic_string(&d->process, "Demo GPU \"80GB\"");
	info.device.memory_bytes = 80ull << 30;
	info.device.memory_bandwidth_bytes_per_s = 3350000000000ull;
	info.device.compute_major = 9;
	info.device.multiprocessors = 132;
	info.device.warp_size = 32;
	info.device.clock_khz = 1980000;
	info.device.l2_bytes = 50 << 20;
	info.device.max_threads_per_block = 1024;
	info.device.max_warps_per_multiprocessor = 64;
	info.device.max_blocks_per_multiprocessor = 32;
	info.device.registers_per_block = 65536;
	info.device.registers_per_multiprocessor = 65536;
	info.device.shared_bytes_per_block = 49152;
	info.device.shared_bytes_per_multiprocessor = 233472;
	FIRE(d, info, &info);
}

static void demo_context(struct demo *d, __u32 id, __u32 device)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_CONTEXT};

	info.context.id = id;
	info.context.device = device;
	info.context.null_stream = 7;
	info.context.parent = CUPROBE_NO_ID;
	FIRE(d, info, &info);
	info = (struct cuprobe_info){.type = CUPROBE_INFO_STREAM};
	info.stream.id = 7;
	info.stream.context = id;
	info.stream.flags = 3;
	FIRE(d, info, &info);
	info.stream.id = 13;
	info.stream.flags = 2;
	info.stream.priority = -5;
	FIRE(d, info, &info);
}

static void demo_names(struct demo *d)
{
	struct synthetic *s = &d->process;

	d->launch = synthetic_string(s, "cudaLaunchKernel_v7000");
	d->driver_launch = synthetic_string(s, "cuLaunchKernel");
	d->copy = synthetic_string(s, "cudaMemcpyAsync_ptsz_v7000");
	d->set = synthetic_string(s, "cudaMemsetAsync_v3020");
	d->synchronize = synthetic_string(s, "cudaStreamSynchronize_v3020");
	d->graph_launch = synthetic_string(s, "cudaGraphLaunch_v10000");
	d->allocate = synthetic_string(s, "cuMemAlloc_v2");
}

void demo_info(struct demo *d, __u32 rank)
{
	struct cuprobe_info info = {.type = CUPROBE_INFO_PROCESS};

	info.process = (struct cuprobe_info_process){
		.abi_version = CUPROBE_ABI_VERSION,
		.pid = d->process.pid,
		.cupti_version = 130000,
		.driver_version = 13000,
		.runtime_version = 13000,
		.clock = CUPROBE_CLOCK_CALLBACK,
		.executable = synthetic_string(&d->process, "/opt/demo/train"),
		.library_version = synthetic_string(&d->process, "demo"),
		.rank = rank,
		.world_size = 2,
	};
	FIRE(d, info, &info);
	for (__u32 i = 0; i < 2; i++) {
		demo_device(d, i);
		demo_context(d, i + 1, i);
	}
	demo_names(d);
}

void demo_stack(struct demo *d, __u32 id, __u64 leaf)
{
	__u32 forward = synthetic_string(&d->process, "Model.forward");
	__u32 train = synthetic_string(&d->process, "train; or \\not");
	__u32 file = synthetic_string(&d->process, "/opt/demo/models/net.py");
	const struct cuprobe_frame frames[] = {
		{.pc = 0x7f0000001000, .kind = CUPROBE_FRAME_NATIVE},
		{.pc = leaf, .kind = CUPROBE_FRAME_NATIVE},
		{.pc = 0x7f0000103000, .kind = CUPROBE_FRAME_NATIVE},
		{.function = forward, .file = file, .line = 17, .kind = CUPROBE_FRAME_PYTHON},
		{.function = train, .file = file, .line = 42, .kind = CUPROBE_FRAME_PYTHON},
		{.pc = 0x7f0000300000, .kind = CUPROBE_FRAME_POINTER},
		{.pc = 0x7f0000400000, .kind = CUPROBE_FRAME_NATIVE},
		{.pc = 0x401003, .kind = CUPROBE_FRAME_NATIVE},
		{.pc = 0x401003, .kind = CUPROBE_FRAME_NATIVE},
		{.pc = 0x401003, .kind = CUPROBE_FRAME_NATIVE},
		{.pc = 0x401002, .kind = CUPROBE_FRAME_NATIVE},
		{.pc = 0x401001, .kind = CUPROBE_FRAME_NATIVE},
	};
	struct cuprobe_stack pieces[] = {
		{.id = id, .frames = 12, .first = 0, .count = 10},
		{.id = id, .frames = 12, .first = 10, .count = 2},
	};

	memcpy(pieces[0].frame, frames, 10 * sizeof(frames[0]));
	memcpy(pieces[1].frame, frames + 10, 2 * sizeof(frames[0]));
	synthetic_fire(&d->process, CUPROBE_PROBE_stack, pieces, sizeof(pieces[0]), 2,
		       DEMO_FIRED_NS);
}

void demo_sampling(struct demo *d)
{
	static const char *const reasons[] = {"barrier", "long_scoreboard", "selected", "wait"};
	struct cuprobe_info info = {.type = CUPROBE_INFO_PC_SAMPLING};
	char name[96];

	info.pc_sampling = (struct cuprobe_info_pc_sampling){
		.hardware_buffer_bytes = 32 << 20,
		.context = 1,
		.period_log2 = 20,
		.mode = CUPROBE_PC_CONTINUOUS,
	};
	FIRE(d, info, &info);
	for (__u32 i = 0; i < 4; i++) {
		info = (struct cuprobe_info){.type = CUPROBE_INFO_STALL_REASON};
		snprintf(name, sizeof(name), "smsp__pcsamp_warps_issue_stalled_%s", reasons[i]);
		info.stall_reason.index = i;
		info.stall_reason.name = synthetic_string(&d->process, name);
		FIRE(d, info, &info);
	}
}

void demo_status(struct demo *d)
{
	struct cuprobe_status status = {.time_ns = d->at_ns, .type = CUPROBE_STATUS_STATE};

	status.state.state = CUPROBE_STATE_ACTIVE;
	status.state.active_probes = (1u << CUPROBE_PROBE_COUNT) - 1;
	FIRE(d, status, &status);
	status = (struct cuprobe_status){.time_ns = d->at_ns, .type = CUPROBE_STATUS_MESSAGE};
	status.message.severity = 2;
	status.message.code = 35;
	status.message.text = synthetic_string(&d->process, "UNIFIED_MEMORY_COUNTER is refused");
	status.message.remedy = synthetic_string(&d->process, "run with a newer driver");
	FIRE(d, status, &status);
	for (__u32 probe = 0; probe < CUPROBE_PROBE_COUNT; probe++) {
		status =
			(struct cuprobe_status){.time_ns = d->at_ns, .type = CUPROBE_STATUS_LEDGER};
		status.ledger.probe = probe;
		status.ledger.fired = d->process.seq[probe];
		status.ledger.discarded = probe == CUPROBE_PROBE_api ? 2 : 0;
		status.ledger.lost = probe == CUPROBE_PROBE_memcpy ? 1 : 0;
		status.ledger.produced =
			status.ledger.fired + status.ledger.discarded + status.ledger.lost;
		FIRE(d, status, &status);
	}
}
