/* SPDX-License-Identifier: Apache-2.0 */
#include "src/collector/ring.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

/* The kernel's pages: our position, its position, the data twice. */
int ring_open(struct ring *r, int map_fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *read = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	void *written;

	if (read == MAP_FAILED)
		return -errno;
	written = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (written == MAP_FAILED) {
		int err = -errno;

		munmap(read, page);
		return err;
	}
	*r = (struct ring){read, written, (const char *)written + page, bytes, 2 * bytes, 0};
	return 0;
}

void ring_close(struct ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!r->bytes)
		return;
	munmap(r->read, page);
	munmap((void *)r->written, page + 2 * r->bytes);
	r->bytes = 0;
}

__u64 ring_end(const struct ring *r)
{
	/* Pairs with the kernel's release when it has made room for a sample. */
	return __atomic_load_n(r->written, __ATOMIC_ACQUIRE);
}

/* False of an entry that the kernel would not have written, but a process may have. */
static bool entry_is_possible(const struct ring *r, __u64 at, __u64 end, __u32 size)
{
	__u64 bytes = BPF_RINGBUF_HDR_SZ + (__u64)size;

	return end - at <= r->bytes && bytes <= end - at &&
	       (at & (r->bytes - 1)) + bytes <= r->mapped;
}

int ring_read(struct ring *r, __u64 end, int (*sample)(void *arg, const void *data, size_t size),
	      void *arg)
{
	__u64 at = r->position;
	bool stop = false;

	while (at < end && !stop) {
		const char *header = r->data + (at & (r->bytes - 1));
		/* Pairs with the kernel's exchange when the sample is whole. */
		__u32 word = __atomic_load_n((const __u32 *)(const void *)header, __ATOMIC_ACQUIRE);
		__u32 size = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (word & BPF_RINGBUF_BUSY_BIT)
			return 0;
		if (!entry_is_possible(r, at, end, size))
			return -EBADMSG;
		if (!(word & BPF_RINGBUF_DISCARD_BIT))
			stop = sample(arg, header + BPF_RINGBUF_HDR_SZ, size);
		at += (BPF_RINGBUF_HDR_SZ + (__u64)size + 7) & ~7ull;
		r->position = at;
		/* Pairs with the writer's acquire before it writes over what was read. */
		__atomic_store_n(r->read, at, __ATOMIC_RELEASE);
	}
	return !stop;
}

int rings_read(struct ring *front, struct ring *batches,
	       int (*sample)(void *arg, const void *data, size_t size), void *arg)
{
	__u64 end = ring_end(batches);
	int ret = ring_read(front, ring_end(front), sample, arg);

	return ret == 1 ? ring_read(batches, end, sample, arg) : ret;
}
