// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copies each batch whole into a ring buffer, and counts what it cannot. There are two of them: a
 * small one, which as a rule is all that is used, and a large one for when the reader is late. A
 * ring is written from end to end however little of it is pending: a small one stays in the caches.
 * One program serves all probes; it comes in three forms, of which the newest that the kernel takes
 * is loaded:
 *
 *	batch_dynptr	exact size (bpf_probe_read_user_dynptr, 6.16)
 *	batch_sleepable	size classes (sleepable uprobes, 6.0)
 *	batch_atomic	size classes, and memory that is not resident is lost (5.15)
 *
 * Memory that is not resident is brought in while no ring space is held: a reservation that
 * sleeps would keep everything behind it from the reader, and a process can make any read of its
 * memory sleep for as long as it likes.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "cuprobe/transport.h"
#include "ebpf/programs.h"

#define WAKE_BYTES (1 << 20) /* pending before the reader is woken; it also looks by itself */
#define PAGE_BYTES 4096
#define LOSS_ENTRIES 16384

/* The little that is read of it; CO-RE finds the fields in the running kernel's BTF. */
struct task_struct {
	struct task_struct *group_leader;
	__u64 start_boottime;
} __attribute__((preserve_access_index));

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} front SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} batches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOSS_ENTRIES);
	__type(key, struct cuprobe_loss_key);
	__type(value, struct cuprobe_loss);
} losses SEC(".maps");

/* By probe: of processes that found no room in `losses`. */
struct cuprobe_loss other_losses[CUPROBE_PROBE_COUNT];

extern int bpf_probe_read_user_dynptr(struct bpf_dynptr *to, __u32 offset, __u32 bytes,
				      const void *from) __ksym __weak;

struct batch {
	struct cuprobe_batch_header header;
	const void *data;
};

static __always_inline __u64 argument(void *ctx, __u64 cookie, unsigned int n)
{
	__u64 value = 0;

	bpf_probe_read_kernel(
		&value, sizeof(value),
		(char *)ctx + 8 * (CUPROBE_COOKIE_SLOT(cookie, n) & (CUPROBE_COOKIE_SLOTS - 1)));
	return value;
}

static __always_inline void batch_init(struct batch *b, void *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u64 id = bpf_get_current_pid_tgid();

	__builtin_memset(b, 0, sizeof(*b));
	b->header.time_ns = bpf_ktime_get_ns();
	b->header.process_start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	b->header.pid = id >> 32;
	b->header.tid = id;
	b->header.probe = CUPROBE_COOKIE_PROBE(cookie);
	b->data = (const void *)argument(ctx, cookie, 0);
	b->header.bytes = argument(ctx, cookie, 1);
	b->header.count = argument(ctx, cookie, 2);
	b->header.seq = argument(ctx, cookie, 3);
}

static __always_inline bool batch_valid(const struct batch *b)
{
	const struct cuprobe_batch_header *h = &b->header;

	return h->bytes && h->bytes <= CUPROBE_BATCH_BYTES && h->count && h->count <= h->bytes;
}

static __always_inline struct cuprobe_loss *loss_of(const struct batch *b)
{
	struct cuprobe_loss_key key = {
		.process_start_ns = b->header.process_start_ns,
		.pid = b->header.pid,
		.probe = b->header.probe,
	};
	struct cuprobe_loss *loss = bpf_map_lookup_elem(&losses, &key);

	if (!loss) {
		struct cuprobe_loss none = {};

		bpf_map_update_elem(&losses, &key, &none, BPF_NOEXIST);
		loss = bpf_map_lookup_elem(&losses, &key);
	}
	if (!loss && key.probe < CUPROBE_PROBE_COUNT)
		loss = &other_losses[key.probe];
	return loss;
}

static __always_inline void count_full(const struct batch *b)
{
	struct cuprobe_loss *loss = loss_of(b);

	if (!loss)
		return;
	__sync_fetch_and_add(&loss->batches, 1);
	__sync_fetch_and_add(&loss->records, b->header.count);
}

static __always_inline void count_bad(const struct batch *b)
{
	struct cuprobe_loss *loss = loss_of(b);

	if (!loss)
		return;
	__sync_fetch_and_add(&loss->bad_batches, 1);
	/* A count that cannot be is not added up. */
	if (batch_valid(b))
		__sync_fetch_and_add(&loss->bad_records, b->header.count);
}

static __always_inline __u64 wake_flag(void *ring)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= WAKE_BYTES ? BPF_RB_FORCE_WAKEUP
									: BPF_RB_NO_WAKEUP;
}

/*
 * The reader empties `front` before `batches`, so what it has not read in `batches` must be older
 * than what goes into `front`.
 */
static __always_inline bool front_is_next(void)
{
	return !bpf_ringbuf_query(&batches, BPF_RB_AVAIL_DATA);
}

/* Makes the pages of the batch resident; they may be gone again at once. */
static __always_inline bool touch(const struct batch *b)
{
	__u64 at = (__u64)b->data, end = at + b->header.bytes;

	for (int i = 0; i <= CUPROBE_BATCH_BYTES / PAGE_BYTES; i++) {
		char byte;

		if (at >= end)
			break;
		if (bpf_copy_from_user(&byte, sizeof(byte), (const void *)at))
			return false;
		at = (at & ~(__u64)(PAGE_BYTES - 1)) + PAGE_BYTES;
	}
	return true;
}

/* 0, -ENOSPC when the ring is full, -EFAULT when memory is not resident, or not there. */
static __always_inline int send_exact_to(void *ring, const struct batch *b)
{
	__u32 bytes = b->header.bytes;
	__u32 room = (bytes + CUPROBE_RING_ALIGN - 1) & ~(CUPROBE_RING_ALIGN - 1);
	struct bpf_dynptr to;
	int err;

	if (bpf_ringbuf_reserve_dynptr(ring, sizeof(struct cuprobe_ring_batch) + room, 0, &to)) {
		bpf_ringbuf_discard_dynptr(&to, BPF_RB_NO_WAKEUP);
		return -ENOSPC;
	}
	bpf_dynptr_write(&to, offsetof(struct cuprobe_ring_batch, header), (void *)&b->header,
			 sizeof(b->header), 0);
	err = bpf_probe_read_user_dynptr(&to, sizeof(struct cuprobe_ring_batch), bytes, b->data);
	if (err)
		bpf_ringbuf_discard_dynptr(&to, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_submit_dynptr(&to, wake_flag(ring));
	return err;
}

static __always_inline int send_exact(const struct batch *b)
{
	int err = front_is_next() ? send_exact_to(&front, b) : -ENOSPC;

	return err == -ENOSPC ? send_exact_to(&batches, b) : err;
}

static __always_inline int send_class_to(void *ring, const struct batch *b, const __u32 class_bytes)
{
	struct cuprobe_ring_batch *to;
	__u32 bytes = b->header.bytes;

	to = bpf_ringbuf_reserve(ring, sizeof(*to) + class_bytes, 0);
	if (!to)
		return -ENOSPC;
	to->header = b->header;
	/* Keeps the compiler from proving the bound away that the verifier must see. */
	asm volatile("" : "+r"(bytes));
	if (bytes > class_bytes || bpf_probe_read_user(to + 1, bytes, b->data)) {
		bpf_ringbuf_discard(to, BPF_RB_NO_WAKEUP);
		return -EFAULT;
	}
	bpf_ringbuf_submit(to, wake_flag(ring));
	return 0;
}

static __always_inline int send_class(const struct batch *b, const __u32 class_bytes)
{
	int err = front_is_next() ? send_class_to(&front, b, class_bytes) : -ENOSPC;

	return err == -ENOSPC ? send_class_to(&batches, b, class_bytes) : err;
}

static __always_inline int send_by_class(const struct batch *b)
{
	__u32 bytes = b->header.bytes;

	if (bytes <= 1024)
		return send_class(b, 1024);
	if (bytes <= 4096)
		return send_class(b, 4096);
	if (bytes <= 8192)
		return send_class(b, 8192);
	if (bytes <= 16384)
		return send_class(b, 16384);
	return send_class(b, CUPROBE_BATCH_BYTES);
}

static __always_inline void count(const struct batch *b, int err)
{
	if (err == -ENOSPC)
		count_full(b);
	else if (err)
		count_bad(b);
}

SEC("uprobe.s")
int batch_dynptr(void *ctx)
{
	struct batch b;
	int err = -EINVAL;

	batch_init(&b, ctx);
	if (batch_valid(&b))
		err = send_exact(&b);
	if (err == -EFAULT && touch(&b))
		err = send_exact(&b);
	count(&b, err);
	return 0;
}

SEC("uprobe.s")
int batch_sleepable(void *ctx)
{
	struct batch b;
	int err = -EINVAL;

	batch_init(&b, ctx);
	if (batch_valid(&b))
		err = send_by_class(&b);
	if (err == -EFAULT && touch(&b))
		err = send_by_class(&b);
	count(&b, err);
	return 0;
}

SEC("uprobe")
int batch_atomic(void *ctx)
{
	struct batch b;
	int err = -EINVAL;

	batch_init(&b, ctx);
	if (batch_valid(&b))
		err = send_by_class(&b);
	count(&b, err);
	return 0;
}
