/* SPDX-License-Identifier: Apache-2.0 */
#include "microbenchmarks/shm_ring.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "microbenchmarks/fire.h"

struct shm_ring *shm_ring_open(void)
{
	struct shm_ring *ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (ring == MAP_FAILED)
		return NULL;
	memset(ring, 0, sizeof(*ring));
	return ring;
}

void shm_ring_write(struct shm_ring *ring, __u64 first, __u32 count)
{
	__u64 head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	__u64 tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	if (head + count - tail > SHM_RING_RECORDS) {
		ring->lost += count;
		return;
	}
	for (__u64 i = first; i < first + count; i++)
		ring->records[head++ % SHM_RING_RECORDS] = fire_record(i);
	atomic_store_explicit(&ring->head, head, memory_order_release);
}

__u64 shm_ring_read(struct shm_ring *ring, __u64 *sum)
{
	__u64 tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	__u64 head = atomic_load_explicit(&ring->head, memory_order_acquire);

	for (__u64 i = tail; i < head; i++)
		*sum += ring->records[i % SHM_RING_RECORDS].start_ns;
	atomic_store_explicit(&ring->tail, head, memory_order_release);
	return head - tail;
}
