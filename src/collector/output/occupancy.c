/* SPDX-License-Identifier: Apache-2.0 */
/* The rules and granularities are those of the CUDA programming guide's compute capabilities. */
#include "src/collector/output/occupancy.h"

#include "cuprobe/abi.h"

#define REGISTER_UNIT 256 /* registers are given to warps in these */

unsigned __int128 kernel_blocks(const struct cuprobe_kernel *k)
{
	return (unsigned __int128)((__u64)k->grid[0] * k->grid[1]) * k->grid[2];
}

__u64 kernel_block_threads(const struct cuprobe_kernel *k)
{
	return (__u64)k->block[0] * k->block[1] * k->block[2];
}

static __u64 round_up(__u64 value, __u64 unit)
{
	return (value + unit - 1) / unit * unit;
}

static __u64 least(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* Warps live on one of the multiprocessor's parts, each with its share of the registers. */
static __u64 blocks_by_registers(const struct cuprobe_info_device *d, __u64 registers, __u64 warps)
{
	__u64 parts = d->compute_major == 6 && !d->compute_minor ? 2 : 4;
	__u64 per_warp = round_up(registers * d->warp_size, REGISTER_UNIT);

	if (!registers || !d->registers_per_multiprocessor)
		return ~0ull;
	if (d->registers_per_block && per_warp * round_up(warps, parts) > d->registers_per_block)
		return 0;
	return d->registers_per_multiprocessor / parts / per_warp * parts / warps;
}

static __u64 blocks_by_shared_memory(const struct cuprobe_info_device *d, __u64 bytes)
{
	__u64 unit = d->compute_major >= 8 ? 128 : 256;
	__u64 reserved = d->compute_major >= 8 ? 1024 : 0; /* by the driver, in each block */

	bytes = round_up(bytes + reserved, unit);
	if (!bytes || !d->shared_bytes_per_multiprocessor)
		return ~0ull;
	return d->shared_bytes_per_multiprocessor / bytes;
}

static __u64 resident_blocks(const struct cuprobe_info_device *d, const struct cuprobe_kernel *k,
			     __u64 warps)
{
	__u64 blocks = d->max_warps_per_multiprocessor / warps;

	if (d->max_blocks_per_multiprocessor)
		blocks = least(blocks, d->max_blocks_per_multiprocessor);
	blocks = least(blocks, blocks_by_registers(d, k->registers_per_thread, warps));
	return least(blocks, blocks_by_shared_memory(d, (__u64)k->static_shared_bytes +
								k->dynamic_shared_bytes));
}

int occupancy_percent(const struct cuprobe_info_device *d, const struct cuprobe_kernel *k)
{
	__u64 threads = kernel_block_threads(k), most_threads, resident;
	unsigned __int128 blocks = kernel_blocks(k), all_threads;

	if (!d || !d->warp_size || !d->multiprocessors || !d->max_warps_per_multiprocessor ||
	    !threads || threads > 65536)
		return -1;
	most_threads = (__u64)d->max_warps_per_multiprocessor * d->warp_size;
	resident = resident_blocks(d, k, round_up(threads, d->warp_size) / d->warp_size);
	if (blocks >= (unsigned __int128)resident * d->multiprocessors)
		return (int)((resident * threads * 100 + most_threads / 2) / most_threads);
	all_threads = (unsigned __int128)most_threads * d->multiprocessors;
	return (int)((blocks * threads * 100 + all_threads / 2) / all_threads);
}
