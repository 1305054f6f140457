/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher [MODE...]: a program that launches three kernels from nested functions, and fires what
 *the library would fire of it: its own stack by glibc, Python frames in the middle, code without a
 *file. exit	ends at once after that, else waits until nobody wants it any more hurry	does
 *not wait between its first strings and its launches
 *	jit	writes a perf map for the code without a file
 */
#include "test/e2e/fire.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 64
#define KERNEL_NS 1000
#define FUNCTION_ID 1
#define FILE_ID 2
#define KERNEL_ID 3

static __typeof__(fire_wanted) *wanted;
static __typeof__(fire) *send;
static char *jit_code;
static char map_path[64]; /* "" none */
static __u32 correlation;

static void load(void)
{
	void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);

	if (!library) {
		fprintf(stderr, "launcher: %s\n", dlerror());
		exit(4);
	}
	*(void **)&wanted = dlsym(library, "fire_wanted");
	*(void **)&send = dlsym(library, "fire");
	if (!wanted || !send)
		exit(4);
}

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}

static void send_string(__u32 id, const char *text, __u64 seq)
{
	struct cuprobe_string s = {.id = id, .total_bytes = (__u32)strlen(text)};

	s.bytes = s.total_bytes;
	memcpy(s.text, text, s.bytes);
	send(CUPROBE_PROBE_string, &s, sizeof(s), 1, seq);
}

/* The leaf first: native frames, one of Python behind the third, one of no file at the end. */
static __u16 take_stack(struct cuprobe_frame *frames)
{
	void *pcs[FRAMES - 2];
	int count = backtrace(pcs, FRAMES - 2);
	__u16 n = 0;

	for (int i = 0; i < count; i++) {
		if (i == 3)
			frames[n++] = (struct cuprobe_frame){.function = FUNCTION_ID,
							     .file = FILE_ID,
							     .line = 42,
							     .kind = CUPROBE_FRAME_PYTHON};
		frames[n++] =
			(struct cuprobe_frame){.pc = (__u64)pcs[i], .kind = CUPROBE_FRAME_NATIVE};
	}
	frames[n++] =
		(struct cuprobe_frame){.pc = (__u64)jit_code + 16, .kind = CUPROBE_FRAME_POINTER};
	return n;
}

static void send_stack(__u32 id)
{
	static __u64 seq;
	struct cuprobe_frame frames[FRAMES];
	__u16 count = take_stack(frames);

	for (__u16 at = 0; at < count; at += CUPROBE_STACK_PIECE) {
		struct cuprobe_stack piece = {.id = id, .frames = count, .first = at};

		piece.count = count - at < CUPROBE_STACK_PIECE ? (__u32)(count - at)
							       : CUPROBE_STACK_PIECE;
		memcpy(piece.frame, frames + at, piece.count * sizeof(frames[0]));
		send(CUPROBE_PROBE_stack, &piece, sizeof(piece), 1, seq++);
	}
}

/* What the library's callback would do, and the GPU. */
__attribute__((noinline)) void cudaLaunchKernel(void);
__attribute__((noinline)) void cudaLaunchKernel(void)
{
	__u64 time_ns = now_ns(), seq = correlation++;
	struct cuprobe_launch launch = {
		.time_ns = time_ns,
		.correlation = correlation,
		.thread = (__u32)gettid(),
		.stack = correlation,
		.weight = CUPROBE_LAUNCH_WEIGHT_ONE,
		.domain_api = 211,
	};
	struct cuprobe_kernel kernel = {
		.start_ns = time_ns - KERNEL_NS,
		.end_ns = time_ns,
		.stream = 7,
		.correlation = correlation,
		.name = KERNEL_ID,
	};

	send_stack(correlation);
	send(CUPROBE_PROBE_launch, &launch, sizeof(launch), 1, seq);
	send(CUPROBE_PROBE_kernel, &kernel, sizeof(kernel), 1, seq);
}

/* Its caller has it inlined, and is not left behind by a jump. */
static inline __attribute__((always_inline)) void inlined_step(void)
{
	cudaLaunchKernel();
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void train_step(void)
{
	inlined_step();
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void train_epoch(void)
{
	for (int i = 0; i < 3; i++) {
		train_step();
		__asm__ volatile("" ::: "memory");
	}
}

static void write_map(void)
{
	FILE *map;

	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	map = fopen(map_path, "w");
	if (!map)
		exit(5);
	fprintf(map, "%lx 1000 made at run time\n", (unsigned long)jit_code);
	fclose(map);
}

static void await(bool value)
{
	while (wanted(CUPROBE_PROBE_launch) != value)
		usleep(1000);
}

int main(int argc, char **argv)
{
	bool leave = false, hurry = false;

	load();
	jit_code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 1; i < argc; i++) {
		leave |= !strcmp(argv[i], "exit");
		hurry |= !strcmp(argv[i], "hurry");
		if (!strcmp(argv[i], "jit"))
			write_map();
	}
	await(true);
	usleep(300000); /* a semaphore rises before the breakpoint is in place */
	send_string(FUNCTION_ID, "Model.forward", 0);
	send_string(FILE_ID, "/opt/models/net.py", 1);
	send_string(KERNEL_ID, "_Z4gemmPf", 2);
	if (!hurry)
		usleep(200000);
	train_epoch();
	if (!leave)
		await(false);
	unlink(map_path);
	return 0;
}
