/* SPDX-License-Identifier: Apache-2.0 */
#include "src/inject/direct_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3; some systems insist on it */
#endif

#define ENTRY_BYTES (BPF_RINGBUF_HDR_SZ + sizeof(struct cuprobe_ring_batch))
#define ROUND_UP(bytes) (((bytes) + CUPROBE_RING_ALIGN - 1) & ~(__u64)(CUPROBE_RING_ALIGN - 1))

/* Enlarging a file above the limit would send the process a signal. */
static bool limit_allows(__u64 bytes)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= bytes;
}

static int memory_create(void)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd;

	if (!limit_allows(sizeof(struct cuprobe_direct_memory)))
		return -EFBIG;
	fd = memfd_create("cuprobe", flags | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("cuprobe", flags);
	return fd < 0 ? -errno : fd;
}

/* Of its size for good: the other side could make each access to it a SIGBUS else. */
static int memory_seal(int fd)
{
	if (ftruncate(fd, sizeof(struct cuprobe_direct_memory)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	return 0;
}

int cuprobe_direct_ring_open(struct cuprobe_direct_ring *ret)
{
	int fd = memory_create(), err;
	void *memory;

	if (fd < 0)
		return fd;
	err = memory_seal(fd);
	if (err)
		goto fail;
	memory = mmap(NULL, sizeof(*ret->memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		err = -errno;
		goto fail;
	}
	madvise(memory, sizeof(*ret->memory), MADV_DONTFORK);
	*ret = (struct cuprobe_direct_ring){.memory = memory};
	return fd;
fail:
	close(fd);
	return err;
}

void cuprobe_direct_ring_close(struct cuprobe_direct_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, sizeof(*ring->memory));
	ring->memory = NULL;
}

/* One of the two rings. */
struct part {
	__u64 *read, *written; /* in the memory */
	__u64 *position;       /* our own `written` */
	__u8 *data;
	__u64 bytes;
};

/* Pairs with the collector's release when it has read what lies there. */
static __u64 part_pending(const struct part *p)
{
	return *p->position - __atomic_load_n(p->read, __ATOMIC_ACQUIRE);
}

/* The head of what lies at our position: `bytes` bytes, the head included. */
static void *part_head(const struct part *p, __u64 bytes, __u32 flags)
{
	__u8 *at = p->data + (*p->position & (p->bytes - 1));
	__u32 word = (__u32)(bytes - BPF_RINGBUF_HDR_SZ) | flags;

	memcpy(at, &word, sizeof(word));
	return at;
}

static bool part_put(const struct part *p, const struct cuprobe_batch_header *header,
		     const void *data, bool *ret_wake)
{
	__u64 bytes = ENTRY_BYTES + ROUND_UP(header->bytes), pending = part_pending(p);
	__u64 to_end = p->bytes - (*p->position & (p->bytes - 1));
	__u64 skipped = bytes > to_end ? to_end : 0;
	__u8 *at;

	if (pending > p->bytes || skipped + bytes > p->bytes - pending)
		return false;
	if (skipped)
		part_head(p, skipped, BPF_RINGBUF_DISCARD_BIT);
	*p->position += skipped;
	at = part_head(p, bytes, 0);
	memcpy(at + ENTRY_BYTES - sizeof(*header), header, sizeof(*header));
	memcpy(at + ENTRY_BYTES, data, header->bytes);
	*p->position += bytes;
	/* Pairs with the collector's acquire: what lies below is whole. */
	__atomic_store_n(p->written, *p->position, __ATOMIC_RELEASE);
	*ret_wake = pending < CUPROBE_DIRECT_WAKE_BYTES &&
		    pending + skipped + bytes >= CUPROBE_DIRECT_WAKE_BYTES;
	return true;
}

static void count_lost(struct cuprobe_loss *lost, __u32 records)
{
	__atomic_store_n(&lost->batches, lost->batches + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&lost->records, lost->records + records, __ATOMIC_RELAXED);
}

bool cuprobe_direct_ring_put(struct cuprobe_direct_ring *ring,
			     const struct cuprobe_batch_header *header, const void *data)
{
	struct cuprobe_direct_memory *m = ring->memory;
	const struct part front = {&m->front_read, &m->front_written, &ring->front_written,
				   m->front, sizeof(m->front)};
	const struct part batches = {&m->batches_read, &m->batches_written, &ring->batches_written,
				     m->batches, sizeof(m->batches)};
	bool wake = false;

	if (!part_pending(&batches) && part_put(&front, header, data, &wake))
		return wake;
	if (!part_put(&batches, header, data, &wake))
		count_lost(&m->lost[header->probe], header->count);
	return wake;
}
