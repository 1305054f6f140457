/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPROBE_COLLECTOR_OUTPUT_OCCUPANCY_H
#define CUPROBE_COLLECTOR_OUTPUT_OCCUPANCY_H

#include <linux/types.h>

struct cuprobe_info_device;
struct cuprobe_kernel;

/*
 * Estimated share of a multiprocessor's threads that a kernel keeps busy, in percent, from its
 * registers, shared memory and block size by the rules of NVIDIA's occupancy calculator, and from
 * the number of its blocks. -1 when the device does not tell enough.
 */
int occupancy_percent(const struct cuprobe_info_device *d, const struct cuprobe_kernel *k);

/* Kernels have up to 2^31 * 65535 * 65535 blocks. */
unsigned __int128 kernel_blocks(const struct cuprobe_kernel *k);
__u64 kernel_block_threads(const struct cuprobe_kernel *k);

#endif
