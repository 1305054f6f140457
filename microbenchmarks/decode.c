/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many records a second go through the decoder and the model, and on into each output.
 *
 *	decode [--records 1000000] [--reps 5] [SINK...]
 *
 * The records are those of a program that launches kernels: for each kernel a call, and some
 *copies, memsets and waits. Making them is not in the time; opening and closing the output is. The
 *highest resident size is printed at the end: it does not grow with --records.
 */
#include "src/collector/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "cuprobe/transport.h"
#include "src/collector/capture.h"
#include "src/collector/model.h"
#include "src/collector/sink.h"

#define REPS_MOST 64
#define KERNELS 800 /* in a block */
#define COPIES 40
#define WAITS 16
#define KERNEL_NAMES 200
#define API_NAME (KERNEL_NAMES + 1)
#define BLOCK_NS 4000000u
#define PROBES /* that are recorded: an output may have less to do without the others */           \
	(1u << CUPROBE_PROBE_api | 1u << CUPROBE_PROBE_kernel | 1u << CUPROBE_PROBE_memcpy |       \
	 1u << CUPROBE_PROBE_memset | 1u << CUPROBE_PROBE_sync | 1u << CUPROBE_PROBE_string |      \
	 1u << CUPROBE_PROBE_info)

static union {
	struct cuprobe_api api[KERNELS];
	struct cuprobe_kernel kernel[KERNELS];
	struct cuprobe_memcpy memcpy[COPIES];
	struct cuprobe_memset memset[COPIES];
	struct cuprobe_sync sync[WAITS];
	struct cuprobe_string string;
	struct cuprobe_info info;
} room;

struct run {
	struct model *model;
	const struct event_sink *sink; /* NULL: decode only */
	__u64 seq[CUPROBE_PROBE_COUNT];
	__u64 records, busy_ns, now_ns;
	int err;
};

/* Hands over `count` records of `size` bytes from `room`, in batches. */
static void feed(struct run *run, unsigned int probe, size_t size, __u32 count)
{
	__u32 most = (__u32)(CUPROBE_BATCH_BYTES / size);
	const char *data = (const char *)&room;

	for (__u32 n; count && !run->err; count -= n, data += n * size) {
		struct cuprobe_batch_header h = {.time_ns = run->now_ns + 2 * BLOCK_NS,
						 .process_start_ns = 1,
						 .seq = run->seq[probe],
						 .pid = 4242,
						 .tid = 4243,
						 .probe = (__u16)probe};
		__u64 start = bench_clock_ns(CLOCK_MONOTONIC);

		n = count < most ? count : most;
		h.count = n;
		h.bytes = n * (__u32)size;
		run->err = decode_batch(run->model, &h, data, run->sink);
		run->busy_ns += bench_clock_ns(CLOCK_MONOTONIC) - start;
		run->seq[probe] += n;
		run->records += n;
	}
}

static void feed_string(struct run *run, __u32 id, const char *text)
{
	struct cuprobe_string *s = &room.string;

	memset(s, 0, sizeof(*s));
	s->id = id;
	s->bytes = s->total_bytes = (__u32)strlen(text);
	memcpy(s->text, text, s->bytes);
	feed(run, CUPROBE_PROBE_string, sizeof(*s), 1);
}

static void feed_definitions(struct run *run)
{
	char name[128];

	for (__u32 i = 0; i < KERNEL_NAMES; i++) {
		snprintf(name, sizeof(name), "_ZN2at6native13kernel_number%03uILi%uEEEvPfS2_m", i,
			 i);
		feed_string(run, i + 1, name);
	}
	feed_string(run, API_NAME, "cudaLaunchKernel_v7000");
	memset(&room, 0, sizeof(room));
	room.info.type = CUPROBE_INFO_DEVICE;
	feed(run, CUPROBE_PROBE_info, sizeof(room.info), 1);
	memset(&room, 0, sizeof(room));
	room.info.type = CUPROBE_INFO_CONTEXT;
	room.info.context = (struct cuprobe_info_context){.id = 1, .null_stream = 7};
	room.info.context.parent = CUPROBE_NO_ID;
	feed(run, CUPROBE_PROBE_info, sizeof(room.info), 1);
}

static void feed_launches(struct run *run, __u32 correlation)
{
	memset(&room, 0, sizeof(room));
	for (__u32 i = 0; i < KERNELS; i++)
		room.api[i] = (struct cuprobe_api){.start_ns = run->now_ns + i * 4000,
						   .end_ns = run->now_ns + i * 4000 + 3000,
						   .thread = 4242,
						   .correlation = correlation + i,
						   .cbid = 211,
						   .name = API_NAME,
						   .domain = CUPROBE_API_RUNTIME};
	feed(run, CUPROBE_PROBE_api, sizeof(room.api[0]), KERNELS);
	memset(&room, 0, sizeof(room));
	for (__u32 i = 0; i < KERNELS; i++)
		room.kernel[i] = (struct cuprobe_kernel){.start_ns = run->now_ns + i * 4000 + 3500,
							 .end_ns = run->now_ns + i * 4000 + 6500,
							 .context = 1,
							 .stream = 7,
							 .correlation = correlation + i,
							 .name = i % KERNEL_NAMES + 1,
							 .grid = {i + 1, 1, 1},
							 .block = {128, 1, 1},
							 .registers_per_thread = 32};
	feed(run, CUPROBE_PROBE_kernel, sizeof(room.kernel[0]), KERNELS);
}

static void feed_rest(struct run *run, __u32 correlation)
{
	memset(&room, 0, sizeof(room));
	for (__u32 i = 0; i < COPIES; i++)
		room.memcpy[i] = (struct cuprobe_memcpy){.start_ns = run->now_ns + i * 9000,
							 .end_ns = run->now_ns + i * 9000 + 5000,
							 .bytes = 1u << 20,
							 .copy_count = 1,
							 .context = 1,
							 .stream = 8,
							 .correlation = correlation + i,
							 .copy_kind = 1,
							 .src_kind = 2,
							 .dst_kind = 3};
	feed(run, CUPROBE_PROBE_memcpy, sizeof(room.memcpy[0]), COPIES);
	memset(&room, 0, sizeof(room));
	for (__u32 i = 0; i < COPIES; i++)
		room.memset[i] = (struct cuprobe_memset){.start_ns = run->now_ns + i * 9000,
							 .end_ns = run->now_ns + i * 9000 + 1000,
							 .bytes = 4096,
							 .context = 1,
							 .stream = 9,
							 .correlation = correlation + COPIES + i,
							 .memory_kind = 3};
	feed(run, CUPROBE_PROBE_memset, sizeof(room.memset[0]), COPIES);
	memset(&room, 0, sizeof(room));
	for (__u32 i = 0; i < WAITS; i++)
		room.sync[i] = (struct cuprobe_sync){.start_ns = run->now_ns + i * 20000,
						     .end_ns = run->now_ns + i * 20000 + 10000,
						     .context = 1,
						     .stream = 7,
						     .correlation = correlation + 2 * COPIES + i,
						     .event = CUPROBE_NO_ID,
						     .kind = CUPROBE_SYNC_STREAM_SYNCHRONIZE};
	feed(run, CUPROBE_PROBE_sync, sizeof(room.sync[0]), WAITS);
}

static int feed_all(struct run *run, __u64 records)
{
	__u32 correlation = 1;

	run->now_ns = 1000000000000u;
	feed_definitions(run);
	while (!run->err && run->records < records) {
		feed_launches(run, correlation);
		correlation += KERNELS;
		feed_rest(run, correlation);
		correlation += 2 * COPIES + WAITS;
		run->now_ns += BLOCK_NS;
	}
	return run->err;
}

static int sink_event(void *arg, const struct event *e)
{
	void **pair = arg; /* ops, sink */

	return ((const struct sink_ops *)pair[0])->event(pair[1], e);
}

/* A record that the decoder refused would make it look fast. */
static bool all_decoded(const struct run *run)
{
	const struct process *p = model_processes(run->model);
	__u64 delivered = 0;

	for (unsigned int i = 0; p && i < CUPROBE_PROBE_COUNT; i++)
		delivered += p->ledgers[i].delivered;
	return delivered == run->records;
}

/* Records a second, one time through; `ops` NULL: decode only. */
static int measure(const struct sink_ops *ops, __u64 records, const char *path, double *ret)
{
	struct session_info info = {.start_ns = 1, .host = "bench", .probes = PROBES};
	struct sink_opts opts = {.path = path, .info = &info};
	struct run run = {0};
	struct sink *sink = NULL;
	struct event_sink to = {sink_event, (void *[]){(void *)ops, NULL}};
	__u64 start;
	int err = model_open(&run.model);

	if (err)
		return err;
	opts.model = run.model;
	start = bench_clock_ns(CLOCK_MONOTONIC);
	if (ops)
		err = ops->open(&sink, &opts);
	run.busy_ns = bench_clock_ns(CLOCK_MONOTONIC) - start;
	((void **)to.arg)[1] = sink;
	run.sink = ops ? &to : NULL;
	if (!err)
		err = feed_all(&run, records);
	start = bench_clock_ns(CLOCK_MONOTONIC);
	if (sink) {
		int close_err = ops->close(sink, !err);

		err = err ? err : close_err;
	}
	run.busy_ns += bench_clock_ns(CLOCK_MONOTONIC) - start;
	if (!err && !all_decoded(&run))
		err = -EINVAL;
	model_free(run.model);
	*ret = (double)run.records * 1e9 / (double)run.busy_ns;
	return err;
}

static int measure_all(const struct sink_ops *ops, __u64 records, size_t reps)
{
	char path[] = "/tmp/cuprobe-decode-XXXXXX", name[64];
	int fd = mkstemp(path), err = 0;
	double rate[REPS_MOST];

	if (fd < 0)
		return -errno;
	close(fd);
	for (size_t i = 0; !err && i < reps; i++) {
		unlink(path);
		err = measure(ops, records, path, &rate[i]);
	}
	unlink(path);
	snprintf(name, sizeof(name), "decode%s%s", ops ? " + " : "", ops ? ops->name : "");
	if (err)
		fprintf(stderr, "decode: %s: %s\n", name, strerror(-err));
	else
		bench_print(name, "records/s", bench_stat(rate, reps));
	return err;
}

static int wanted(int argc, char **argv, const char *name)
{
	int named = 0;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			i++;
		else if (!strcmp(argv[i], name))
			return 1;
		else
			named = 1;
	}
	return !named;
}

int main(int argc, char **argv)
{
	__u64 records = (__u64)bench_option(argc, argv, "--records", 1000000);
	size_t reps = (size_t)bench_option(argc, argv, "--reps", 5);
	struct rusage usage;
	int err;

	if (reps < 1 || reps > REPS_MOST)
		return 2;
	err = measure_all(NULL, records, reps);
	for (unsigned int i = 0; !err && sink_at(i); i++) {
		if (wanted(argc, argv, sink_at(i)->name))
			err = measure_all(sink_at(i), records, reps);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("highest resident size: %ld KiB\n", usage.ru_maxrss);
	return err != 0;
}
