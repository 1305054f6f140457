// SPDX-License-Identifier: Apache-2.0
#include "src/collector/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "src/collector/procs.h"

#define BUFFER_PAGES 16 /* a power of two; a record takes some 150 bytes */

struct buffer {
	int fd;
	struct perf_event_mmap_page *page; /* the data follows it */
};

struct watch {
	size_t page_bytes;
	unsigned int count;
	struct buffer buffers[];
};

/* What a PERF_RECORD_MMAP and a PERF_RECORD_LOST begin with. */
struct record {
	struct perf_event_header header;
	__u32 pid, tid;
	__u64 address, bytes, offset;
	char path[];
};

static int buffer_open(struct buffer *ret, int cpu, size_t page_bytes)
{
	/* No wake-ups: a compile job maps thousands of files a second. */
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.mmap = 1,
		.watermark = 1,
		.wakeup_watermark = ~0U,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	void *page;
	int err;

	if (fd < 0)
		return -errno;
	page = mmap(NULL, (1 + BUFFER_PAGES) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		    (int)fd, 0);
	if (page == MAP_FAILED) {
		err = -errno;
		close((int)fd);
		return err;
	}
	*ret = (struct buffer){(int)fd, page};
	return 0;
}

int watch_open(struct watch **ret)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct watch *w = calloc(1, sizeof(*w) + (size_t)cpus * sizeof(w->buffers[0]));
	int err = 0;

	if (!w)
		return -ENOMEM;
	w->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	for (int cpu = 0; cpu < cpus; cpu++) {
		err = buffer_open(&w->buffers[w->count], cpu, w->page_bytes);
		if (err == -ENODEV) /* the processor is offline */
			continue;
		if (err)
			goto fail;
		w->count++;
	}
	*ret = w;
	return 0;
fail:
	watch_free(w);
	return err;
}

/* Copies a record that may wrap around the end of the buffer; what does not fit is cut. */
static void record_copy(void *to, size_t size, const char *data, size_t data_bytes, __u64 at)
{
	size_t start = (size_t)at & (data_bytes - 1), first = data_bytes - start;

	if (first > size)
		first = size;
	memcpy(to, data + start, first);
	memcpy((char *)to + first, data, size - first);
}

static bool buffer_read(struct buffer *b, size_t page_bytes, void (*each)(void *arg, pid_t pid),
			void *arg)
{
	bool missed = false;
	const char *data = (const char *)b->page + page_bytes;
	/* Pairs with the kernel's store of data_head after the record. */
	__u64 head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
	__u64 at = b->page->data_tail;
	union {
		struct record r;
		char bytes[sizeof(struct record) + PATH_MAX];
	} u;

	while (at < head) {
		struct perf_event_header header;
		size_t bytes;

		record_copy(&header, sizeof(header), data, BUFFER_PAGES * page_bytes, at);
		bytes = header.size < sizeof(u) - 1 ? header.size : sizeof(u) - 1;
		record_copy(&u, bytes, data, BUFFER_PAGES * page_bytes, at);
		u.bytes[bytes] = '\0';
		if (header.type == PERF_RECORD_LOST)
			missed = true;
		if (header.type == PERF_RECORD_MMAP && bytes > sizeof(u.r) &&
		    library_named(u.r.path))
			each(arg, (pid_t)u.r.pid);
		at += header.size;
	}
	/* Pairs with the kernel's load of data_tail before it writes there. */
	__atomic_store_n(&b->page->data_tail, head, __ATOMIC_RELEASE);
	return missed;
}

bool watch_read(struct watch *w, void (*each)(void *arg, pid_t pid), void *arg)
{
	bool missed = false;

	for (unsigned int i = 0; i < w->count; i++)
		missed |= buffer_read(&w->buffers[i], w->page_bytes, each, arg);
	return missed;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	for (unsigned int i = 0; i < w->count; i++) {
		munmap(w->buffers[i].page, (1 + BUFFER_PAGES) * w->page_bytes);
		close(w->buffers[i].fd);
	}
	free(w);
}
