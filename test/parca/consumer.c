// SPDX-License-Identifier: Apache-2.0
/*
 * A consumer of the provider parcagpu, for tests: what parca-agent would make of a library's
 *probes.
 *
 *	parca_consumer LIBRARY PROBE...
 *
 * A probe `cuprobe:NAME` is one of the native provider; what it fires is not looked at.
 *
 * Attaches to the probes in all processes that have or will have the library, prints what came
 * while it did, says "attached", and prints what comes, one a line, until it gets SIGTERM.
 */
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "test/parca/consumer.h"
#include "test/parca/consumer.skel.h"

static volatile sig_atomic_t ending;

static __u64 field(const struct event *e, unsigned int offset, unsigned int bytes)
{
	__u64 value = 0;

	memcpy(&value, e->record + offset, bytes);
	return value;
}

/* A text that could not be read, or is empty, is as good as none. */
static const char *text(const struct event *e)
{
	return e->text_bytes > 1 ? e->text : "UNREADABLE";
}

static void kernel_print(const struct event *e)
{
	printf("kernel %u %llu %llu %llu %llu %llu %llu %llu %s\n", e->pid, field(e, 92, 4),
	       field(e, 16, 8), field(e, 24, 8), field(e, 40, 4), field(e, 48, 4), field(e, 156, 4),
	       field(e, 144, 8), text(e));
}

/* Reads the cubin later, from here, as the agent does, and adds its bytes up. */
static void cubin_print(const struct event *e)
{
	size_t bytes = (size_t)e->values[2];
	__u8 *copy = malloc(bytes + 1);
	struct iovec to = {copy, bytes}, from = {(void *)e->values[1], bytes};
	__u64 sum = 0;
	ssize_t got;

	usleep(20000);
	got = process_vm_readv((pid_t)e->pid, &to, 1, &from, 1, 0);
	for (ssize_t i = 0; i < got; i++)
		sum += copy[i];
	printf("cubin %u %#llx %zu %llu%s\n", e->pid, e->values[0], bytes, sum,
	       got == (ssize_t)bytes ? "" : " UNREADABLE");
	free(copy);
}

/* A pop has no text. */
static void nvtx_print(const struct event *e)
{
	printf("nvtx %u %llu %llu kind %llu domain %llu color %#llx payload %#llx range %#llx "
	       "device %#llx %s\n",
	       e->pid, field(e, 0, 8), field(e, 8, 4), field(e, 20, 2), field(e, 16, 4),
	       field(e, 24, 4), field(e, 32, 8), field(e, 40, 8), field(e, 28, 4),
	       e->text_bytes == 1 ? "" : text(e));
}

static int event_print(void *unused, void *data, size_t bytes)
{
	const struct event *e = data;
	const __s64 *v = e->values;

	(void)unused;
	(void)bytes;
	switch ((enum event_type)e->type) {
	case EVENT_CORRELATION:
		printf("correlation %u %lld %lld %s\n", e->pid, v[0], v[1], text(e));
		break;
	case EVENT_EXECUTED:
		printf("executed %u %lld %lld %lld %lld %lld %lld %lld %s\n", e->pid, v[0], v[1],
		       v[2], v[3], v[4], v[5], v[6], text(e));
		break;
	case EVENT_BATCH:
		printf("batch %u %lld\n", e->pid, v[0]);
		break;
	case EVENT_KERNEL:
		kernel_print(e);
		break;
	case EVENT_CUBIN:
		cubin_print(e);
		break;
	case EVENT_UNLOADED:
		printf("unloaded %u %#llx\n", e->pid, v[0]);
		break;
	case EVENT_ERROR:
		printf("error %u %lld %.64s: %s\n", e->pid, v[0], e->record, text(e));
		break;
	case EVENT_NVTX:
		nvtx_print(e);
		break;
	case EVENT_NAME:
		printf("name %u %lld %lld %s\n", e->pid, v[0], v[1], text(e));
		break;
	case EVENT_CONFIG:
		printf("config %u %lld %lld %lld %lld\n", e->pid, v[0], v[1], v[2], v[3]);
		break;
	case EVENT_PC:
		printf("pc %u %llu %#llx %#llx %lld %lld %lld %s\n", e->pid, field(e, 56, 4),
		       field(e, 8, 8), field(e, 16, 8), v[0], v[1], v[2], text(e));
		break;
	case EVENT_REASONS:
		printf("reasons %u %lld\n", e->pid, v[0]);
		break;
	case EVENT_REASON:
		printf("reason %u %lld %s\n", e->pid, v[0], e->text);
		break;
	case EVENT_LOST:
		printf("lost %u %lld\n", e->pid, v[0]);
		break;
	case EVENT_BAD:
		printf("bad %u %lld\n", e->pid, v[0]);
		break;
	}
	return 0;
}

/* The program is called as the probe is. */
static int probe_attach(struct consumer *skeleton, const char *library, const char *probe)
{
	bool native = !strncmp(probe, "cuprobe:", 8);
	const char *name = native ? probe + 8 : probe;
	struct bpf_program *program;
	struct bpf_link *link;

	program = bpf_object__find_program_by_name(skeleton->obj, native ? "native" : name);
	link = program ? bpf_program__attach_usdt(program, -1, library,
						  native ? "cuprobe" : "parcagpu", name, NULL)
		       : NULL;
	if (link)
		return 0;
	fprintf(stderr, "parca_consumer: cannot attach to '%s'\n", probe);
	return -1;
}

static void end(int signal)
{
	(void)signal;
	ending = 1;
}

int main(int argc, char **argv)
{
	struct consumer *skeleton = argc > 2 ? consumer__open_and_load() : NULL;
	struct ring_buffer *ring;

	if (!skeleton)
		return 2;
	for (int i = 2; i < argc; i++) {
		if (probe_attach(skeleton, argv[1], argv[i]))
			return 1;
	}
	ring = ring_buffer__new(bpf_map__fd(skeleton->maps.events), event_print, NULL, NULL);
	if (!ring)
		return 1;
	signal(SIGTERM, end);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ring_buffer__consume(ring);
	puts("attached");
	while (!ending)
		ring_buffer__poll(ring, 100);
	ring_buffer__consume(ring);
	printf("missed %llu\n", skeleton->bss->missed);
	consumer__destroy(skeleton);
	return 0;
}
